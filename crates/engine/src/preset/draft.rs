//! Personas and presets as callers write them: every field optional, numbers unchecked.
//!
//! Numbers are wide here, so that a value out of range is rejected with its name, value and range instead of
//! being cut or rejected by a parser.

use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::persona::Persona;

use super::{Preset, PresetSettings};

/// Changes to a persona; absent fields stay as they are.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PersonaDraft {
    pub name: Option<String>,
    pub system_prompt: Option<String>,
    pub personality: Option<String>,
    /// 0.0–1.0.
    pub temperature: Option<f64>,
    pub max_tokens: Option<i64>,
    pub max_history_tokens: Option<i64>,
    pub expiry_days: Option<i64>,
    /// Whether a heated message adds a reminder to stay calm.
    pub keeps_calm: Option<bool>,
}

impl PersonaDraft {
    /// Builds a persona from the draft and the configured defaults.
    pub fn build(self, limits: &Limits) -> Result<Persona> {
        let missing = |field: &str| Error::invalid(field, "it is required to create a context");
        if self.name.is_none() {
            return Err(missing("name"));
        }
        if self.system_prompt.is_none() {
            return Err(missing("systemPrompt"));
        }
        self.over(&Persona {
            name: String::new(),
            system_prompt: String::new(),
            personality: String::new(),
            temperature: limits.temperature,
            reply_tokens_max: limits.reply_tokens_max,
            history_tokens_max: limits.history_tokens(),
            expiry_days: limits.expiry_days,
            preset: None,
            keeps_calm: true,
        })
    }

    /// Applies the draft to `base`.
    pub fn over(self, base: &Persona) -> Result<Persona> {
        let base = base.clone();
        let persona = Persona {
            name: self.name.unwrap_or(base.name),
            system_prompt: self.system_prompt.unwrap_or(base.system_prompt),
            personality: self.personality.unwrap_or(base.personality),
            temperature: temperature(self.temperature, base.temperature)?,
            reply_tokens_max: count("maxTokens", self.max_tokens, base.reply_tokens_max, 200_000)?,
            history_tokens_max: count(
                "maxHistoryTokens",
                self.max_history_tokens,
                base.history_tokens_max,
                2_000_000,
            )?,
            expiry_days: count("expiryDays", self.expiry_days, base.expiry_days, 3_650)?,
            preset: base.preset,
            keeps_calm: self.keeps_calm.unwrap_or(base.keeps_calm),
        };
        persona.validate()?;
        Ok(persona)
    }
}

/// Changes to a preset; absent fields stay as they are.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PresetDraft {
    pub name: Option<String>,
    pub description: Option<String>,
    pub system_prompt: Option<String>,
    pub personality: Option<String>,
    /// 0.0–1.0.
    pub temperature: Option<f64>,
    pub max_tokens: Option<i64>,
    pub max_history_tokens: Option<i64>,
    pub expiry_days: Option<i64>,
    pub metadata: Option<Map<String, Value>>,
    /// Whether it is offered.
    pub active: Option<bool>,
}

impl PresetDraft {
    /// Applies the draft to `base`.
    pub fn over(self, base: Preset) -> Result<Preset> {
        let old = base.settings;
        let settings = PresetSettings {
            temperature: temperature(self.temperature, old.temperature)?,
            max_tokens: count("maxTokens", self.max_tokens, old.max_tokens, 200_000)?,
            max_history_tokens: count(
                "maxHistoryTokens",
                self.max_history_tokens,
                old.max_history_tokens,
                2_000_000,
            )?,
            expiry_days: count("expiryDays", self.expiry_days, old.expiry_days, 3_650)?,
        };
        let preset = Preset {
            name: self.name.unwrap_or(base.name),
            description: self.description.unwrap_or(base.description),
            system_prompt: self.system_prompt.unwrap_or(base.system_prompt),
            personality: self.personality.unwrap_or(base.personality),
            metadata: self.metadata.unwrap_or(base.metadata),
            active: self.active.unwrap_or(base.active),
            settings,
            ..base
        };
        preset.validate()?;
        Ok(preset)
    }
}

fn temperature(wanted: Option<f64>, base: f32) -> Result<f32> {
    match wanted {
        None => Ok(base),
        #[expect(clippy::cast_possible_truncation, reason = "a temperature has two digits")]
        Some(value) if (0.0..=1.0).contains(&value) => Ok(value as f32),
        Some(value) => Err(Error::invalid("temperature", format!("{value} is outside 0.0-1.0"))),
    }
}

fn count(field: &str, wanted: Option<i64>, base: u32, most: u32) -> Result<u32> {
    let Some(value) = wanted else { return Ok(base) };
    u32::try_from(value)
        .ok()
        .filter(|number| (1..=most).contains(number))
        .ok_or_else(|| Error::invalid(field, format!("{value} is outside 1-{most}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(draft: PersonaDraft) -> String {
        let base = crate::preset::built_in::all()[0].persona();
        draft.over(&base).unwrap_err().to_string()
    }

    #[test]
    fn a_value_out_of_range_is_named_with_its_range() {
        let draft = PersonaDraft::default;
        assert_eq!(
            refusal(PersonaDraft { temperature: Some(1.5), ..draft() }),
            "temperature is not valid: 1.5 is outside 0.0-1.0"
        );
        assert_eq!(
            refusal(PersonaDraft { max_tokens: Some(-1), ..draft() }),
            "maxTokens is not valid: -1 is outside 1-200000"
        );
        assert_eq!(
            refusal(PersonaDraft { expiry_days: Some(i64::MAX), ..draft() }),
            "expiryDays is not valid: 9223372036854775807 is outside 1-3650"
        );
        assert_eq!(
            refusal(PersonaDraft { name: Some(" ".into()), ..draft() }),
            "name is not valid: 1 characters is outside 1-200"
        );
    }

    #[test]
    fn a_context_needs_a_name_and_a_prompt() {
        let draft = PersonaDraft { name: Some("n".into()), ..PersonaDraft::default() };
        let error = draft.build(&Limits::default()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "systemPrompt is not valid: it is required to create a context"
        );
    }
}
