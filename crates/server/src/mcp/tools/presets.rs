//! `personality-preset-manage`: manages presets.

use rmcp::model::{CallToolResult, Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use throughline_engine::error::{Error, Result};
use throughline_engine::preset::PresetGone;
use throughline_engine::preset::{PresetDraft, review};

use super::{Call, answered, define};
use crate::persona_view::{PresetView, ReviewView};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    Create,
    List,
    Get,
    Update,
    Delete,
    Restore,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Arguments {
    action: Action,
    preset_id: Option<String>,
    name: Option<String>,
    description: Option<String>,
    system_prompt: Option<String>,
    default_personality: Option<String>,
    /// temperature, maxTokens, maxHistoryTokens, expiryDays
    #[schemars(with = "Option<Map<String, Value>>")]
    default_settings: Option<Settings>,
    metadata: Option<Map<String, Value>>,
    page: Option<usize>,
    page_size: Option<usize>,
    include_inactive: Option<bool>,
    idempotency_key: Option<String>,
}

/// Settings of contexts created from a preset.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Settings {
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
    /// The preset; absent for list and delete.
    #[serde(skip_serializing_if = "Option::is_none")]
    preset: Option<PresetView>,
    /// The presets of the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    presets: Option<Vec<PresetView>>,
    /// Number of presets on all pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    total_count: Option<usize>,
    /// Review of the prompt.
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
        "personality-preset-manage",
        "Manage personality presets",
        "Starting points for contexts. create needs name and systemPrompt; restore resets a built-in one. Prompts are \
         reviewed, with advice.",
        ToolAnnotations::new()
            .read_only(false)
            .destructive(true)
            .idempotent(false)
            .open_world(false),
    )
}

pub(super) async fn run(call: &Call<'_>) -> Result<CallToolResult> {
    let arguments: Arguments = call.arguments()?;
    let engine = &call.mcp.engine;
    let answer = match arguments.action {
        Action::List => list(call, &arguments).await?,
        Action::Create => {
            let key = call.key(arguments.idempotency_key.as_ref())?;
            let (id, draft) = (arguments.preset_id.clone(), arguments.draft());
            let made =
                engine.presets().create(&call.caller, id.as_deref(), draft, key.as_ref()).await?;
            changed(call, &made.0.id);
            let message = format!("created {}", made.0.id);
            about(made.0.into(), Some(made.1.into()), message)
        }
        Action::Get => {
            let preset = engine.presets().get(&call.caller, arguments.named()?).await?;
            let review = review::review(&preset.system_prompt, &preset.personality);
            about(preset.into(), Some(review.into()), "found".into())
        }
        Action::Update => {
            let id = arguments.named()?.to_owned();
            let made = engine.presets().update(&call.caller, &id, arguments.draft()).await?;
            changed(call, &id);
            about(made.0.into(), Some(made.1.into()), format!("updated {id}"))
        }
        Action::Delete => {
            let id = arguments.named()?;
            let message = match engine.presets().delete(&call.caller, id).await? {
                PresetGone::Erased => format!("deleted {id}"),
                PresetGone::Deactivated => {
                    format!("{id} is built in and now inactive; use restore to activate it")
                }
            };
            changed(call, id);
            Answer { success: true, message, ..Answer::default() }
        }
        Action::Restore => {
            let id = arguments.named()?;
            let preset = engine.presets().restore(&call.caller, id).await?;
            changed(call, id);
            about(preset.into(), None, format!("restored {id}"))
        }
    };
    let text = serde_json::to_string_pretty(&answer).unwrap_or_default();
    Ok(answered(&answer, text))
}

fn changed(call: &Call<'_>, id: &str) {
    call.mcp.changes.tell(&call.caller, format!("preset/{id}"), true);
}

fn about(preset: PresetView, review: Option<ReviewView>, message: String) -> Answer {
    Answer { success: true, preset: Some(preset), review, message, ..Answer::default() }
}

impl Arguments {
    fn named(&self) -> Result<&str> {
        let needed = || Error::invalid("presetId", "required for this action");
        self.preset_id.as_deref().ok_or_else(needed)
    }

    fn draft(&self) -> PresetDraft {
        let plain = Settings::default();
        let settings = self.default_settings.as_ref().unwrap_or(&plain);
        PresetDraft {
            name: self.name.clone(),
            description: self.description.clone(),
            system_prompt: self.system_prompt.clone(),
            personality: self.default_personality.clone(),
            temperature: settings.temperature,
            max_tokens: settings.max_tokens,
            max_history_tokens: settings.max_history_tokens,
            expiry_days: settings.expiry_days,
            metadata: self.metadata.clone(),
            active: None,
        }
    }
}

async fn list(call: &Call<'_>, arguments: &Arguments) -> Result<Answer> {
    let (page, size) = (arguments.page.unwrap_or(1), arguments.page_size.unwrap_or(10));
    let inactive = arguments.include_inactive.unwrap_or(false);
    let list = call.mcp.engine.presets().list(&call.caller, page, size, inactive).await?;
    let presets: Vec<PresetView> = list.presets.into_iter().map(Into::into).collect();
    Ok(Answer {
        success: true,
        message: format!("{} of {} presets", presets.len(), list.total),
        presets: Some(presets),
        total_count: Some(list.total),
        ..Answer::default()
    })
}
