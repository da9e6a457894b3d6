//! Personas: a prompt, a description and a few settings.
//!
//! A persona belongs to a session. Its prompt is always sent, and a heated message adds a reminder to stay calm.
//!
//! Invariant: a persona in a session has passed [`Persona::validate`].

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::lexicon;
use crate::piece::{Piece, Position, Rank, Source};
use crate::prompt;
use crate::weights;

/// Maximum prompt of a persona.
pub const PROMPT_BYTES_MAX: usize = 32 * 1024;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Persona {
    /// Display name.
    pub name: String,
    pub system_prompt: String,
    #[serde(default)]
    pub personality: String,
    /// 0.0–1.0.
    pub temperature: f32,
    /// Maximum reply.
    pub reply_tokens_max: u32,
    /// Maximum history.
    pub history_tokens_max: u32,
    /// Days after the last activity until its session expires.
    pub expiry_days: u32,
    /// The preset it was made from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// Whether a heated message adds a reminder to stay calm.
    #[serde(default = "yes")]
    pub keeps_calm: bool,
}

fn yes() -> bool {
    true
}

impl Persona {
    /// Validates every setting; the error names field, value and range.
    pub fn validate(&self) -> Result<()> {
        let out = |field: &str, value: String, range: &str| {
            Err(Error::invalid(field, format!("{value} is outside {range}")))
        };
        if self.name.trim().is_empty() || self.name.chars().count() > 200 {
            return out("name", format!("{} characters", self.name.chars().count()), "1-200");
        }
        if self.system_prompt.trim().is_empty() || self.system_prompt.len() > PROMPT_BYTES_MAX {
            return out(
                "systemPrompt",
                format!("{} bytes", self.system_prompt.len()),
                "1-32768 bytes",
            );
        }
        if self.personality.len() > PROMPT_BYTES_MAX {
            return out(
                "personality",
                format!("{} bytes", self.personality.len()),
                "0-32768 bytes",
            );
        }
        if !(0.0..=1.0).contains(&self.temperature) {
            return out("temperature", self.temperature.to_string(), "0.0-1.0");
        }
        if !(1..=200_000).contains(&self.reply_tokens_max) {
            return out("maxTokens", self.reply_tokens_max.to_string(), "1-200000");
        }
        if !(1..=2_000_000).contains(&self.history_tokens_max) {
            return out("maxHistoryTokens", self.history_tokens_max.to_string(), "1-2000000");
        }
        if !(1..=3_650).contains(&self.expiry_days) {
            return out("expiryDays", self.expiry_days.to_string(), "1-3650");
        }
        Ok(())
    }
}

/// The persona's prompt.
pub fn prompt(persona: Option<&Persona>) -> Option<Piece> {
    let persona = persona?;
    let mut text = persona.system_prompt.trim().to_owned();
    if !persona.personality.trim().is_empty() {
        text.push_str("\n\nCharacter: ");
        text.push_str(persona.personality.trim());
    }
    let source = Source::Persona { name: persona.name.clone() };
    Some(Piece::new(source, "the session's persona", Position::System, Rank::Required, text))
}

/// The reminder to stay calm, if the message is heated.
pub fn calm(message: &str) -> Option<Piece> {
    let sign = heat(message)?;
    let why = format!("the message is heated: {sign}");
    let text = prompt::CALM.trim_end();
    Some(Piece::new(Source::Calm, why, Position::Aside, Rank::Required, text))
}

/// The sign of heat in a message, if any.
pub fn heat(message: &str) -> Option<&'static str> {
    let (heat, sign) = lexicon::heat(message);
    (heat >= weights::CUE_MIN).then_some(sign)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heat_is_seen_and_calm_is_left_alone() {
        assert_eq!(heat("WHERE IS MY ORDER NOW"), Some("it is written in capitals"));
        assert!(heat("answer me!!").is_some());
        assert_eq!(heat("Wow!! thank you"), None);
        assert_eq!(heat("My cat is sick"), None);
        assert_eq!(heat("Halt die Klappe, du Idiot"), Some("its words are strong"));
        assert_eq!(heat("You are useless."), Some("its words are strong"));
        assert_eq!(heat("Could you list the devices in BER-1, please?"), None);
    }
}
