//! `context-manage`: creates, lists, changes and deletes contexts.

use rmcp::model::{CallToolResult, Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
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

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Arguments {
    action: Action,
    #[serde(alias = "sessionId", alias = "session_id")]
    context_id: Option<String>,
    name: Option<String>,
    system_prompt: Option<String>,
    personality: Option<String>,
    temperature: Option<f64>,
    max_tokens: Option<i64>,
    max_history_tokens: Option<i64>,
    expiry_days: Option<i64>,
    preset_id: Option<String>,
    #[schemars(with = "Option<Map<String, Value>>")]
    preset_overrides: Option<Overrides>,
    template_id: Option<String>,
    tags: Option<Vec<String>>,
    is_active: Option<bool>,
    agent: Option<String>,
    page: Option<usize>,
    page_size: Option<usize>,
    include_expired: Option<bool>,
    idempotency_key: Option<String>,
}

/// Differences from the preset; arguments of the same names do the same.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Overrides {
    name: Option<String>,
    temperature: Option<f64>,
    max_tokens: Option<i64>,
    max_history_tokens: Option<i64>,
    expiry_days: Option<i64>,
}

#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Answer {
    /// Whether it succeeded.
    success: bool,
    /// The context; absent for list.
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<ContextView>,
    /// The contexts of the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    contexts: Option<Vec<ContextView>>,
    /// Number of contexts on all pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    total_count: Option<usize>,
    /// Review of the prompt, after create and update.
    #[serde(skip_serializing_if = "Option::is_none")]
    review: Option<ReviewView>,
    /// What happened.
    message: String,
    /// Stable error code.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<String>,
    /// What to try.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

pub(super) fn tool() -> Tool {
    define::<Arguments, Answer>(
        "context-manage",
        "Manage contexts",
        "Lasting chat partners with a personality and a memory, for context-chat. create needs name and systemPrompt; \
         create_from_preset needs presetId or templateId; update with isActive true restores a deleted or expired one.",
        ToolAnnotations::new()
            .read_only(false)
            .destructive(false)
            .idempotent(false)
            .open_world(false),
    )
}

pub(super) async fn run(call: &Call<'_>) -> Result<CallToolResult> {
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
            about(call, &loaded, format!("deleted; it can be restored until {until}"))
        }
    };
    let text = serde_json::to_string_pretty(&answer).unwrap_or_default();
    Ok(answered(&answer, text))
}

fn named(arguments: &Arguments) -> Result<&str> {
    let needed = || Error::invalid("contextId", "required for this action");
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
