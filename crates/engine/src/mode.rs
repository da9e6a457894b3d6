//! Prompt modes: which guidance goes with a message.
//!
//! A mode is inferred from the message's words and the tools used before; it adds a short piece beside
//! the message, so that the stable part of the prompt does not change with it.
//!
//! Invariant: inference is a pure function of the message and the last tools; without a cue it is
//! `General`.

use serde::{Deserialize, Serialize};

use crate::piece::{Piece, Place, Rank, Source};
use crate::prompt;

/// What the message is after.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptMode {
    /// Nothing in particular.
    #[default]
    General,
    /// Something is to be made.
    Creation,
    /// Things are to be found or listed.
    Search,
    /// Something is to be changed or removed.
    Modification,
    /// Something is to be understood.
    Analysis,
}

impl PromptMode {
    /// The mode's name.
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

const CUES: [(PromptMode, &[&str]); 4] = [
    (PromptMode::Creation, &["create", "make", "build", "generate", "draft"]),
    (
        PromptMode::Modification,
        &[
            "update",
            "change",
            "modify",
            "rename",
            "delete",
            "remove",
            "move",
            "set",
            "edit",
            "replace",
            "disable",
            "enable",
            "decommission",
            "add",
        ],
    ),
    (
        PromptMode::Analysis,
        &[
            "why",
            "analyse",
            "analyze",
            "compare",
            "explain",
            "difference",
            "impact",
            "assess",
            "review",
            "risk",
            "conflict",
        ],
    ),
    (
        PromptMode::Search,
        &["list", "find", "show", "search", "which", "where", "display", "get", "lookup", "many"],
    ),
];

/// Words by which a user agrees to what was proposed.
const AGREEMENTS: [&str; 11] = [
    "yes",
    "y",
    "ok",
    "okay",
    "sure",
    "confirm",
    "confirmed",
    "approved",
    "proceed",
    "agreed",
    "ahead",
];

/// Whether a message asks for something to be made or changed, or agrees to it and asks for nothing else.
pub fn asks_for_change(message: &str) -> bool {
    let words: Vec<String> =
        message.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase).collect();
    let says = |wanted: &dyn Fn(PromptMode) -> bool| {
        let cues = CUES.iter().filter(|(mode, _)| wanted(*mode)).flat_map(|(_, cues)| cues.iter());
        cues.into_iter().any(|cue| words.iter().any(|word| word == cue))
    };
    let changes = |mode| matches!(mode, PromptMode::Creation | PromptMode::Modification);
    let agrees = words.iter().any(|word| AGREEMENTS.contains(&word.as_str()));
    says(&changes) || (agrees && !says(&|mode| !changes(mode)))
}

/// The words at the start of a message that decide; a cue later in a long message says little.
const DECIDING_WORDS: usize = 24;

/// The mode of a message and why.
pub fn infer(message: &str, last_tools: &[&str]) -> (PromptMode, String) {
    let words: Vec<String> = message
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .take(DECIDING_WORDS)
        .map(str::to_lowercase)
        .collect();
    let first_cue = words.iter().find_map(|word| {
        CUES.iter()
            .find(|(_, cues)| cues.contains(&word.as_str()))
            .map(|(mode, _)| (*mode, word.clone()))
    });
    if let Some((mode, word)) = first_cue {
        return (mode, format!("the message says \"{word}\""));
    }
    let continued = last_tools.iter().rev().find_map(|tool| {
        let mode = match tool.split('_').next()? {
            "create" => PromptMode::Creation,
            "update" | "delete" | "add" | "set" => PromptMode::Modification,
            "list" | "get" | "search" | "find" => PromptMode::Search,
            _ => return None,
        };
        Some((mode, *tool))
    });
    match continued {
        Some((mode, tool)) => (mode, format!("the turn before used {tool}")),
        None => (PromptMode::General, "no cue in the message".into()),
    }
}

/// The parts of our instructions that every request starts with.
pub fn instructions(with_tools: bool) -> Vec<Piece> {
    let part = |name: &str, text: &str| {
        Piece::new(
            Source::Instructions { part: name.into() },
            "always first",
            Place::System,
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

/// How a query is answered, beside the message: so a session that mixes queries and chat keeps one system.
pub fn query_instructions(is_query: bool) -> Option<Piece> {
    is_query.then(|| {
        Piece::new(
            Source::Instructions { part: "query".into() },
            "the message is a query",
            Place::Aside,
            Rank::Required,
            prompt::QUERY.trim_end(),
        )
    })
}

/// The mode's guidance, beside the message.
pub fn guidance(mode: PromptMode, why: &str) -> Option<Piece> {
    (mode != PromptMode::General).then(|| {
        Piece::new(
            Source::Instructions { part: format!("mode/{}", mode.as_str()) },
            why,
            Place::Aside,
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
        assert_eq!(infer(message, tools).0, expected, "{message:?}");
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
