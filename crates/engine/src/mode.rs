//! Prompt modes: which guidance goes with a message.
//!
//! A mode is inferred from the message and the tools used before. Its guidance is a short piece next to the
//! message, so that the stable part of the prompt does not change.
//!
//! Invariant: inference is a pure function of the message and the last tools; uncertain modes give no guidance.

use serde::{Deserialize, Serialize};

use crate::lexicon::{self, Class, Family, Mode};
use crate::pack::words_of_identifier;
use crate::piece::{Piece, Position, Rank, Source};
use crate::prompt;
use crate::weights::{self, CUE_HINT};

/// What the message wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptMode {
    #[default]
    General,
    /// To create something.
    Creation,
    /// To find or list things.
    Search,
    /// To change or remove something.
    Modification,
    /// To understand something.
    Analysis,
}

impl PromptMode {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::General => "general",
            Self::Creation => "creation",
            Self::Search => "search",
            Self::Modification => "modification",
            Self::Analysis => "analysis",
        }
    }

    fn guidance(self) -> &'static str {
        match self {
            Self::General => include_str!("../prompts/mode/general.md"),
            Self::Creation => include_str!("../prompts/mode/creation.md"),
            Self::Search => include_str!("../prompts/mode/search.md"),
            Self::Modification => include_str!("../prompts/mode/modification.md"),
            Self::Analysis => include_str!("../prompts/mode/analysis.md"),
        }
    }
}

impl From<Mode> for PromptMode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Creation => Self::Creation,
            Mode::Search => Self::Search,
            Mode::Modification => Self::Modification,
            Mode::Analysis => Self::Analysis,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Inferred {
    pub mode: PromptMode,
    /// 0–1; below [`weights::CUE_MIN`] there is no guidance.
    pub confidence: f32,
    pub why: String,
}

impl Inferred {
    /// The mode if it is certain, else the general one, and why.
    pub fn decided(self) -> (PromptMode, String) {
        let sure = self.confidence >= weights::CUE_MIN;
        (if sure { self.mode } else { PromptMode::General }, self.why)
    }
}

/// Whether a message asks to create or change something, or only agrees to it.
pub fn asks_for_change(message: &str) -> bool {
    let language = lexicon::of(message);
    let words: Vec<String> =
        message.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase).collect();
    let says = |class: Class| words.iter().any(|word| language.is(class, word));
    says(Class::Changing) || (says(Class::Yes) && !says(Class::Looking))
}

/// Infers the mode of a message. A mode suggested only by the previous turn's tools is uncertain.
pub fn infer(message: &str, last_tools: &[&str]) -> Inferred {
    let language = lexicon::of(message);
    if let Some((mode, confidence)) = language.cues.mode(message) {
        return Inferred { mode: mode.into(), confidence, why: "the message says so".into() };
    }
    let continued = last_tools.iter().rev().find_map(|tool| {
        let mode = match lexicon::english().family(words_of_identifier(tool).first()?)? {
            Family::Create => PromptMode::Creation,
            Family::Add | Family::Remove | Family::Change => PromptMode::Modification,
            Family::List | Family::Show | Family::Find => PromptMode::Search,
        };
        Some(Inferred { mode, confidence: CUE_HINT, why: format!("the turn before used {tool}") })
    });
    let none = || Inferred {
        mode: PromptMode::General,
        confidence: 0.0,
        why: "no cue in the message".into(),
    };
    continued.unwrap_or_else(none)
}

/// The instructions that every request starts with.
pub fn instructions(with_tools: bool) -> Vec<Piece> {
    let part = |name: &str, text: &str| {
        Piece::new(
            Source::Instructions { part: name.into() },
            "always first",
            Position::System,
            Rank::Required,
            text.trim_end(),
        )
    };
    let mut pieces = vec![part("core", prompt::CORE)];
    if with_tools {
        pieces.push(part("tools", prompt::TOOLS));
        pieces.push(part("errors", prompt::ERRORS));
    }
    pieces
}

/// Instructions for answering a query. They go next to the message, so that queries and chat share one system
/// prompt.
pub fn query_instructions(is_query: bool) -> Option<Piece> {
    is_query.then(|| {
        Piece::new(
            Source::Instructions { part: "query".into() },
            "the message is a query",
            Position::Aside,
            Rank::Required,
            prompt::QUERY.trim_end(),
        )
    })
}

/// The mode's guidance, placed next to the message.
pub fn guidance(mode: PromptMode, why: &str) -> Option<Piece> {
    (mode != PromptMode::General).then(|| {
        Piece::new(
            Source::Instructions { part: format!("mode/{}", mode.as_str()) },
            why,
            Position::Aside,
            Rank::Guidance,
            mode.guidance().trim_end(),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(message: &str, tools: &[&str], expected: PromptMode) {
        assert_eq!(infer(message, tools).mode, expected, "{message:?}");
    }

    #[test]
    fn the_first_cue_decides() {
        check("Create a workflow for onboarding", &[], PromptMode::Creation);
        check("list projects that are not risk compliant", &[], PromptMode::Search);
        check("please rename that device", &[], PromptMode::Modification);
        check("why did it fail?", &[], PromptMode::Analysis);
        check("hello there", &[], PromptMode::General);
    }

    #[test]
    fn a_change_is_asked_for_or_agreed_to() {
        for message in ["show sw1 and set it to offline", "yes, do it", "ok", "add C++"] {
            assert!(asks_for_change(message), "{message:?}");
        }
        for message in
            ["ok, show me sw1", "what is sw1?", "please list the devices", "Zeig mir sw1"]
        {
            assert!(!asks_for_change(message), "{message:?}");
        }
    }

    #[test]
    fn without_a_cue_the_last_tool_decides() {
        check("and in Berlin?", &["list_devices"], PromptMode::Search);
        check("and in Berlin?", &[], PromptMode::General);
    }
}
