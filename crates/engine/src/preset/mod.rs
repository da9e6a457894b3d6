//! Presets: stored starting points for a persona.
//!
//! Six are built in; users change, deactivate and restore those for themselves and add their own. A
//! session holds a copy of the persona that came of a preset, so changing a preset changes no session.
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

/// The longest description, in bytes.
pub const DESCRIPTION_BYTES_MAX: usize = 4 * 1024;
/// The largest metadata, in bytes.
pub const METADATA_BYTES_MAX: usize = 16 * 1024;

/// A starting point for a persona.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Preset {
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// What it is good for.
    pub description: String,
    /// The prompt that makes the persona.
    pub system_prompt: String,
    /// The persona's character in a sentence.
    pub personality: String,
    /// Settings of a persona that starts from it.
    pub settings: PresetSettings,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// Whether it is offered.
    pub active: bool,
    /// Whether its wording may still change with experience.
    #[serde(default)]
    pub experimental: bool,
    /// Whatever its maker wants to keep with it.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
}

/// Settings that a preset gives.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PresetSettings {
    /// 0.0–1.0.
    pub temperature: f32,
    /// The longest reply.
    pub max_tokens: u32,
    /// The most history that is shown.
    pub max_history_tokens: u32,
    /// Days from the last interaction until a context expires.
    pub expiry_days: u32,
}

impl Default for PresetSettings {
    fn default() -> Self {
        Self { temperature: 0.7, max_tokens: 1_000, max_history_tokens: 15_000, expiry_days: 7 }
    }
}

impl Preset {
    /// The persona that it makes.
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

    /// Whether it is one of those that come with the product.
    pub fn is_built_in(&self) -> bool {
        built_in::find(&self.id).is_some()
    }

    /// Checks every field; the error names field, value and range.
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
