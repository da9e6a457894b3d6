//! An item of an agent, found by name, and its piece.

use crate::agent::{Agent, Document};
use crate::catalog::KnownTool;
use crate::item::ItemName;
use crate::model::ToolSpec;
use crate::piece::{IncludeMode, Piece, Position, Rank, Source};
use crate::tool::ToolName;
use crate::tool_spec::{brief_of, spec_of};

#[derive(Clone, Copy)]
pub(super) enum Found<'a> {
    Rule(&'a Document),
    Reference(&'a Document),
    Tool(&'a KnownTool),
}

impl<'a> Found<'a> {
    pub(super) fn of(agent: &'a Agent, tools: &'a [KnownTool], item: &ItemName) -> Option<Self> {
        match item {
            ItemName::Rule { name } => {
                agent.rules.iter().find(|rule| rule.name == *name).map(Found::Rule)
            }
            ItemName::Reference { name } => {
                let mut references = agent.references.iter();
                references.find(|reference| reference.name == *name).map(Found::Reference)
            }
            ItemName::Tool { server, name } => tools
                .iter()
                .find(|t| t.definition.tool.server == *server && t.definition.tool.name == *name)
                .map(Found::Tool),
        }
    }

    pub(super) fn tool(self) -> Option<&'a KnownTool> {
        match self {
            Found::Tool(known) => Some(known),
            Found::Rule(_) | Found::Reference(_) => None,
        }
    }
}

/// Rules and references of the session go into the system prompt, those for one request next to the message.
pub(super) fn piece_of(found: &Found<'_>, mode: IncludeMode, why: &str) -> Piece {
    let (place, rank) = match mode {
        IncludeMode::Agent => (Position::Aside, Rank::AgentItem),
        IncludeMode::Always | IncludeMode::Manual => (Position::System, Rank::SessionItem),
    };
    match found {
        Found::Rule(rule) => Piece::new(
            Source::Rule { name: rule.name.clone(), mode },
            why,
            place,
            rank,
            rule_text(rule),
        ),
        Found::Reference(reference) => Piece::new(
            Source::Reference { name: reference.name.clone(), mode },
            why,
            place,
            rank,
            reference_text(reference),
        ),
        Found::Tool(known) => tool_piece(known, (mode, rank), why, &spec_of(&known.definition)),
    }
}

/// A tool's piece with its definition in about `tokens_max` tokens; 0: not shortened.
pub(super) fn brief_piece(known: &KnownTool, tokens_max: u32, why: &str) -> Piece {
    let mode = (IncludeMode::Agent, Rank::AgentItem);
    let whole = spec_of(&known.definition);
    if tokens_max == 0 {
        return tool_piece(known, mode, why, &whole);
    }
    let brief = brief_of(&known.definition, tokens_max);
    match brief == whole {
        true => tool_piece(known, mode, why, &whole),
        false => tool_piece(known, mode, &format!("{why}; its definition is shortened"), &brief),
    }
}

fn tool_piece(
    known: &KnownTool,
    (mode, rank): (IncludeMode, Rank),
    why: &str,
    spec: &ToolSpec,
) -> Piece {
    let ToolName { server, name } = known.definition.tool.clone();
    let text = serde_json::to_string(spec).unwrap_or_default();
    Piece::new(Source::Tool { server, name, mode }, why, Position::Tools, rank, text)
}

/// A rule as shown to a model.
pub fn rule_text(rule: &Document) -> String {
    format!("Rule \"{}\":\n{}", rule.name, rule.text.trim())
}

/// A reference as shown to a model.
pub fn reference_text(reference: &Document) -> String {
    format!("Reference \"{}\":\n{}", reference.name, reference.text.trim())
}

pub(super) fn missing_piece(item: &ItemName, mode: IncludeMode) -> Piece {
    let source = match item.clone() {
        ItemName::Rule { name } => Source::Rule { name, mode },
        ItemName::Reference { name } => Source::Reference { name, mode },
        ItemName::Tool { server, name } => Source::Tool { server, name, mode },
    };
    Piece::new(
        source,
        "in the session, but it no longer exists",
        Position::System,
        Rank::SessionItem,
        "",
    )
}
