//! What requests about contexts say.

use serde::Deserialize;
use throughline_engine::engine::{ContextPatch, NewContext, StartingPoint};
use throughline_engine::error::{Error, Result};
use throughline_engine::id::{AgentName, SessionId};
use throughline_engine::preset::PersonaDraft;
use throughline_engine::session::apply::RequestKey;
use utoipa::ToSchema;

/// A context to be created.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct ContextBody {
    /// Its id; made here when absent.
    id: Option<String>,
    /// Its name; needed without a preset or template.
    name: Option<String>,
    /// The prompt; needed without a preset or template.
    system_prompt: Option<String>,
    /// The character in a sentence.
    personality: Option<String>,
    /// 0.0–1.0.
    temperature: Option<f64>,
    /// The longest reply, 1–200000 tokens.
    max_tokens: Option<i64>,
    /// The most history, 1–2000000 tokens.
    max_history_tokens: Option<i64>,
    /// Days from the last interaction until it expires, 1–3650.
    expiry_days: Option<i64>,
    /// The preset to start from.
    preset_id: Option<String>,
    /// The template to start from.
    template_id: Option<String>,
    /// Labels.
    tags: Vec<String>,
    /// The agent; the default one when absent.
    agent: Option<String>,
}

/// What to change of a context; what is absent stays.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct ContextChange {
    /// Its name.
    name: Option<String>,
    /// The prompt.
    system_prompt: Option<String>,
    /// The character in a sentence.
    personality: Option<String>,
    /// 0.0–1.0.
    temperature: Option<f64>,
    /// The longest reply, 1–200000 tokens.
    max_tokens: Option<i64>,
    /// The most history, 1–2000000 tokens.
    max_history_tokens: Option<i64>,
    /// Days from the last interaction until it expires, 1–3650.
    expiry_days: Option<i64>,
    /// Labels.
    tags: Option<Vec<String>>,
    /// `true` brings it back and extends it, `false` archives it.
    is_active: Option<bool>,
}

impl ContextBody {
    /// The engine's request.
    pub fn context(self, key: Option<RequestKey>) -> Result<NewContext> {
        let from = match (self.preset_id, self.template_id) {
            (None, None) => StartingPoint::Blank,
            (Some(id), None) => StartingPoint::Preset(id),
            (None, Some(id)) => StartingPoint::Template(id),
            (Some(_), Some(_)) => {
                return Err(Error::invalid("templateId", "give either presetId or templateId"));
            }
        };
        Ok(NewContext {
            id: self.id.map(SessionId::new).transpose()?,
            from,
            draft: PersonaDraft {
                name: self.name,
                system_prompt: self.system_prompt,
                personality: self.personality,
                temperature: self.temperature,
                max_tokens: self.max_tokens,
                max_history_tokens: self.max_history_tokens,
                expiry_days: self.expiry_days,
                keeps_calm: None,
            },
            tags: self.tags,
            agent: self.agent.map(AgentName::new).transpose()?,
            key,
        })
    }
}

impl ContextChange {
    /// The engine's request.
    pub fn patch(self) -> ContextPatch {
        ContextPatch {
            draft: PersonaDraft {
                name: self.name,
                system_prompt: self.system_prompt,
                personality: self.personality,
                temperature: self.temperature,
                max_tokens: self.max_tokens,
                max_history_tokens: self.max_history_tokens,
                expiry_days: self.expiry_days,
                keeps_calm: None,
            },
            tags: self.tags,
            active: self.is_active,
        }
    }
}
