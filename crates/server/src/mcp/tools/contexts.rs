//! `context-manage`: the life of a context.

use rmcp::model::{CallToolResult, Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use throughline_engine::engine::{ContextPatch, NewContext, StartingPoint};
use throughline_engine::error::{Error, Result};
use throughline_engine::id::AgentName;
use throughline_engine::preset::{PersonaDraft, review};
use throughline_engine::session::LoadedSession;

use super::{Call, answered, define};
use crate::persona_view::{ContextView, ReviewView};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    Create,
    CreateFromPreset,
    List,
    Get,
    Update,
    Delete,
}

/// What to do with a context.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Arguments {
    /// What to do.
    action: Action,
    /// The context; needed for get, update and delete.
    context_id: Option<String>,
    /// Its name, 1-200 characters; needed for create.
    name: Option<String>,
    /// The prompt that makes the persona; needed for create.
    system_prompt: Option<String>,
    /// The persona's character in a sentence.
    personality: Option<String>,
    /// 0.0-1.0; 0.7 unless said otherwise.
    temperature: Option<f64>,
    /// The longest reply in tokens, 1-200000; 1000 unless said otherwise.
    max_tokens: Option<i64>,
    /// The most history in tokens, 1-2000000; 15000 unless said otherwise (a 16K window less 1000).
    max_history_tokens: Option<i64>,
    /// Days from the last interaction until it expires, 1-3650; 7 unless said otherwise.
    expiry_days: Option<i64>,
    /// The preset; needed for create_from_preset.
    preset_id: Option<String>,
    /// What is other than in the preset.
    preset_overrides: Option<Overrides>,
    /// A context template to start from in place of a preset (see throughline://personality-templates).
    template_id: Option<String>,
    /// Labels.
    tags: Option<Vec<String>>,
    /// For update: true brings a deleted or expired context back and extends it.
    is_active: Option<bool>,
    /// The agent whose rules and tools it uses; the default one unless said otherwise.
    agent: Option<String>,
    /// Page of the list, from 1.
    page: Option<usize>,
    /// Contexts on a page, 1-100; 10 unless said otherwise.
    page_size: Option<usize>,
    /// Whether the list has expired and deleted contexts too.
    include_expired: Option<bool>,
    /// The same key answers the same context and creates no second one.
    idempotency_key: Option<String>,
}

/// What is other than in the preset.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Overrides {
    /// Its name.
    name: Option<String>,
    /// 0.0-1.0.
    temperature: Option<f64>,
    /// 1-200000.
    max_tokens: Option<i64>,
    /// 1-2000000.
    max_history_tokens: Option<i64>,
    /// 1-3650.
    expiry_days: Option<i64>,
}

#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Answer {
    /// Whether it was done.
    success: bool,
    /// The context, for all but list.
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<ContextView>,
    /// The contexts of the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    contexts: Option<Vec<ContextView>>,
    /// How many there are in all.
    #[serde(skip_serializing_if = "Option::is_none")]
    total_count: Option<usize>,
    /// How likely the prompt is to work, after create and update.
    #[serde(skip_serializing_if = "Option::is_none")]
    review: Option<ReviewView>,
    /// What happened.
    message: String,
    /// A stable name of what went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<String>,
    /// What to try.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

pub fn tool() -> Tool {
    define::<Arguments, Answer>(
        "context-manage",
        "Manage contexts",
        "Creates, lists, shows, changes and deletes contexts: lasting conversation partners with a stable \
         personality and a memory. Create one from a preset or from a prompt, then talk to it with \
         context-chat. A deleted context can be brought back by update with isActive until it is purged.",
        ToolAnnotations::new()
            .read_only(false)
            .destructive(false)
            .idempotent(false)
            .open_world(false),
    )
}

pub async fn run(call: &Call<'_>) -> Result<CallToolResult> {
    let arguments: Arguments = call.arguments()?;
    let answer = match arguments.action {
        Action::Create | Action::CreateFromPreset => create(call, arguments).await?,
        Action::List => list(call, &arguments).await?,
        Action::Get => {
            let loaded = call.mcp.engine.context(&call.caller, named(&arguments)?).await?;
            about(call, &loaded, "found".into())
        }
        Action::Update => update(call, arguments).await?,
        Action::Delete => {
            let id = named(&arguments)?;
            let loaded = call.mcp.engine.delete_context(&call.caller, id).await?;
            call.mcp.changes.tell(&call.caller, format!("context/{id}"), true);
            let until = loaded.head.purge_at().map(|at| at.to_string()).unwrap_or_default();
            about(call, &loaded, format!("deleted; it can be brought back until {until}"))
        }
    };
    let text = serde_json::to_string_pretty(&answer).unwrap_or_default();
    Ok(answered(&answer, text))
}

fn named(arguments: &Arguments) -> Result<&str> {
    let needed = || Error::invalid("contextId", "it is needed for this action");
    arguments.context_id.as_deref().ok_or_else(needed)
}

fn about(call: &Call<'_>, loaded: &LoadedSession, message: String) -> Answer {
    let context = ContextView::of(loaded, call.mcp.engine.now());
    Answer { success: true, context, message, ..Answer::default() }
}

impl Arguments {
    fn draft(&self) -> PersonaDraft {
        let plain = Overrides::default();
        let overrides = self.preset_overrides.as_ref().unwrap_or(&plain);
        PersonaDraft {
            name: overrides.name.clone().or_else(|| self.name.clone()),
            system_prompt: self.system_prompt.clone(),
            personality: self.personality.clone(),
            temperature: overrides.temperature.or(self.temperature),
            max_tokens: overrides.max_tokens.or(self.max_tokens),
            max_history_tokens: overrides.max_history_tokens.or(self.max_history_tokens),
            expiry_days: overrides.expiry_days.or(self.expiry_days),
            keeps_calm: None,
        }
    }
}

async fn create(call: &Call<'_>, arguments: Arguments) -> Result<Answer> {
    let from = match (&arguments.action, &arguments.preset_id, &arguments.template_id) {
        (Action::CreateFromPreset, Some(id), None) => StartingPoint::Preset(id.clone()),
        (Action::CreateFromPreset, None, Some(id)) => StartingPoint::Template(id.clone()),
        (Action::CreateFromPreset, ..) => {
            return Err(Error::invalid(
                "presetId",
                "create_from_preset needs presetId or templateId",
            ));
        }
        _ => StartingPoint::Blank,
    };
    let new = NewContext {
        id: arguments.context_id.clone().map(TryInto::try_into).transpose()?,
        from,
        draft: arguments.draft(),
        tags: arguments.tags.clone().unwrap_or_default(),
        agent: arguments.agent.clone().map(AgentName::new).transpose()?,
        key: call.key(arguments.idempotency_key.as_ref())?,
    };
    let loaded = call.mcp.engine.create_context(&call.caller, new).await?;
    call.mcp.changes.tell(&call.caller, "contexts", true);
    let message = format!("created {}", loaded.head.id);
    Ok(reviewed(about(call, &loaded, message)))
}

async fn update(call: &Call<'_>, arguments: Arguments) -> Result<Answer> {
    let id = named(&arguments)?.to_owned();
    let draft = arguments.draft();
    let patch = ContextPatch { draft, tags: arguments.tags, active: arguments.is_active };
    let loaded = call.mcp.engine.update_context(&call.caller, &id, patch).await?;
    call.mcp.changes.tell(&call.caller, format!("context/{id}"), false);
    let until = loaded.head.expires_at.map(|at| at.to_string()).unwrap_or_default();
    Ok(reviewed(about(call, &loaded, format!("updated; it expires at {until}"))))
}

fn reviewed(answer: Answer) -> Answer {
    let review = answer
        .context
        .as_ref()
        .map(|context| review::review(&context.system_prompt, &context.personality).into());
    Answer { review, ..answer }
}

async fn list(call: &Call<'_>, arguments: &Arguments) -> Result<Answer> {
    let (page, size) = (arguments.page.unwrap_or(1), arguments.page_size.unwrap_or(10));
    let expired = arguments.include_expired.unwrap_or(false);
    let list = call.mcp.engine.list_contexts(&call.caller, page, size, expired).await?;
    let now = call.mcp.engine.now();
    let contexts: Vec<ContextView> =
        list.contexts.iter().filter_map(|loaded| ContextView::of(loaded, now)).collect();
    let more = if list.more { " or more" } else { "" };
    Ok(Answer {
        success: true,
        message: format!("{} of {}{more} contexts", contexts.len(), list.total),
        contexts: Some(contexts),
        total_count: Some(list.total),
        ..Answer::default()
    })
}
