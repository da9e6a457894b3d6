//! Request bodies of contexts.

use serde::Deserialize;
use throughline_engine::engine::{ContextPatch, NewContext, StartingPoint};
use throughline_engine::error::{Error, Result};
use throughline_engine::id::{AgentName, SessionId};
use throughline_engine::preset::PersonaDraft;
use throughline_engine::session::apply::RequestKey;
use utoipa::ToSchema;

/// A context to create.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct ContextBody {
    /// Id of the context, 1–128 characters of `A–Z a–z 0–9 . _ -`; generated if absent.
    id: Option<String>,
    /// Display name, 1–200 characters; required without a preset or template.
    name: Option<String>,
    /// System prompt, at most 32 KiB; required without a preset or template.
    system_prompt: Option<String>,
    /// Character, in a sentence.
    personality: Option<String>,
    /// Sampling temperature, 0–1; default: that of the preset or template, else `limits.temperature`.
    temperature: Option<f64>,
    /// Maximum tokens of a reply, 1–200000; default: that of the preset or template, else `limits.reply_tokens_max`.
    max_tokens: Option<i64>,
    /// Maximum tokens of history in a request, 1–2000000; default: that of the preset or template, else the
    /// window less the reply.
    max_history_tokens: Option<i64>,
    /// Days from the last interaction until it expires, 1–3650; default: that of the preset or template, else
    /// `limits.expiry_days`.
    expiry_days: Option<i64>,
    /// Id of the preset to start from; excludes `templateId`.
    preset_id: Option<String>,
    /// Id of the template to start from; excludes `presetId`.
    template_id: Option<String>,
    /// Tags for filtering, at most 32 of 1–200 characters.
    tags: Vec<String>,
    /// Name of the agent; default: the default agent.
    agent: Option<String>,
}

/// Changes to a context; absent fields are left as they are.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct ContextChange {
    /// New display name.
    name: Option<String>,
    /// New system prompt.
    system_prompt: Option<String>,
    /// New character, in a sentence.
    personality: Option<String>,
    /// New sampling temperature, 0–1.
    temperature: Option<f64>,
    /// Maximum tokens of a reply, 1–200000.
    max_tokens: Option<i64>,
    /// Maximum tokens of history in a request, 1–2000000.
    max_history_tokens: Option<i64>,
    /// Days from the last interaction until it expires, 1–3650.
    expiry_days: Option<i64>,
    /// New tags, replacing the old ones; at most 32 of 1–200 characters.
    tags: Option<Vec<String>>,
    /// `true` restores the context and extends it, `false` archives it.
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
