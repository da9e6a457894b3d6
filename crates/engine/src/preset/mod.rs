//! Presets: stored templates for a persona.
//!
//! Six are built in; users can change, deactivate and restore those for themselves and add their own. A session
//! has a copy of the persona, so changing a preset changes no session.
//!
//! Invariant: a stored preset makes a persona that passes [`Persona::validate`].

pub mod built_in;
pub mod draft;
pub mod review;
mod stored;
pub mod template;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::persona::Persona;

pub use draft::{PersonaDraft, PresetDraft};
pub use review::{Advice, Review};
pub(crate) use stored::check_page;
pub use stored::{PresetGone, PresetList, Presets};
pub use template::Template;

pub const DESCRIPTION_BYTES_MAX: usize = 4 * 1024;
pub const METADATA_BYTES_MAX: usize = 16 * 1024;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Preset {
    pub id: String,
    /// Display name.
    pub name: String,
    pub description: String,
    pub system_prompt: String,
    pub personality: String,
    pub settings: PresetSettings,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// Whether it is offered.
    pub active: bool,
    /// Whether its wording may still change.
    #[serde(default)]
    pub experimental: bool,
    /// Arbitrary data of its author.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PresetSettings {
    /// 0.0–1.0.
    pub temperature: f32,
    /// Maximum reply.
    pub max_tokens: u32,
    /// Maximum history.
    pub max_history_tokens: u32,
    /// Days after the last activity until a context expires.
    pub expiry_days: u32,
}

impl Default for PresetSettings {
    fn default() -> Self {
        Self { temperature: 0.7, max_tokens: 1_000, max_history_tokens: 15_000, expiry_days: 7 }
    }
}

impl Preset {
    /// The persona it makes.
    pub fn persona(&self) -> Persona {
        Persona {
            name: self.name.clone(),
            system_prompt: self.system_prompt.clone(),
            personality: self.personality.clone(),
            temperature: self.settings.temperature,
            reply_tokens_max: self.settings.max_tokens,
            history_tokens_max: self.settings.max_history_tokens,
            expiry_days: self.settings.expiry_days,
            preset: Some(self.id.clone()),
            keeps_calm: true,
        }
    }

    pub fn is_built_in(&self) -> bool {
        built_in::find(&self.id).is_some()
    }

    /// Validates every field; the error names field, value and range.
    pub fn validate(&self) -> Result<()> {
        self.persona().validate()?;
        let long = |field: &str, bytes: usize, most: usize| {
            Err(Error::invalid(field, format!("{bytes} bytes is outside 0-{most} bytes")))
        };
        if self.description.len() > DESCRIPTION_BYTES_MAX {
            return long("description", self.description.len(), DESCRIPTION_BYTES_MAX);
        }
        let metadata = Value::Object(self.metadata.clone()).to_string().len();
        if metadata > METADATA_BYTES_MAX {
            return long("metadata", metadata, METADATA_BYTES_MAX);
        }
        Ok(())
    }
}
