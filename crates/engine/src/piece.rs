//! What goes into a request, where it came from, and why.
//!
//! All text a model sees is a [`Piece`]. Nothing enters a prompt by another road, and only
//! [`crate::budget`] drops one. How pieces become a request is [`crate::layout`]'s.
//!
//! Invariant: `source` is set where a piece is made, and never after; `text` is sent as it stands.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::hash::ContentHash;
use crate::tokens;

/// A text on its way to the model.
#[derive(Debug, Clone, PartialEq)]
pub struct Piece {
    /// Where it came from.
    pub source: Source,
    /// Why it is here, for people.
    pub why: String,
    /// Where it stands in the request.
    pub place: Place,
    /// How willingly it is given up.
    pub rank: Rank,
    /// How well it matched the message, 0–1, where it was searched for.
    pub score: Option<f32>,
    /// The text as it is sent.
    pub text: Arc<str>,
    /// Its tokens.
    pub tokens: u32,
    /// Its hash.
    pub hash: ContentHash,
}

/// Where a piece came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Source {
    /// Our own words: who the assistant is, the prompt mode, how to treat quoted data.
    Instructions {
        /// Which part, the name of a file under `prompts/`.
        part: String,
    },
    /// The persona's prompt.
    Persona {
        /// The persona's name.
        name: String,
    },
    /// The reminder that keeps a persona calm.
    Calm,
    /// A rule of the agent.
    Rule {
        /// Its name.
        name: String,
        /// How it came in.
        mode: IncludeMode,
    },
    /// A reference of the agent.
    Reference {
        /// Its name.
        name: String,
        /// How it came in.
        mode: IncludeMode,
    },
    /// A tool's definition.
    Tool {
        /// The server.
        server: String,
        /// The tool.
        name: String,
        /// How it came in.
        mode: IncludeMode,
    },
    /// The summary of older turns.
    Summary {
        /// First turn it covers.
        from: u64,
        /// Last turn it covers.
        to: u64,
    },
    /// The conversation's topic.
    Topic,
    /// What is known of an entity.
    Entity {
        /// Its type.
        entity: String,
        /// Its name.
        name: String,
    },
    /// An older turn that matters for the message.
    Recalled {
        /// Which turn.
        turn: u64,
        /// Which part of it.
        part: HistoryPart,
    },
    /// An earlier tool result that the message refers to.
    EarlierResult {
        /// Which turn.
        turn: u64,
    },
    /// A recent turn, verbatim.
    History {
        /// Which turn.
        turn: u64,
        /// Which part of it.
        part: HistoryPart,
    },
    /// Text that came with the request: a workflow's specification, a client's own system prompt.
    Given {
        /// What it was called.
        name: String,
    },
    /// The user's message.
    Message,
}

/// A part of a turn in the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HistoryPart {
    /// What the user said.
    Message,
    /// What the tools answered: calls and results together.
    Results,
    /// What the assistant said.
    Reply,
}

/// How an item came into the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IncludeMode {
    /// In every session from its creation.
    Always,
    /// Added by hand.
    Manual,
    /// Chosen for one request.
    Agent,
}

/// Where a piece stands in the request. The order is the order of sending: what changes least is first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// Among the tools.
    Tools,
    /// In the system instructions. Only our words, the operator's and the persona's.
    System,
    /// Before the history, as quoted data.
    Preface,
    /// The history.
    History,
    /// Beside the message: guidance and data for this request only.
    Aside,
    /// The message itself.
    Message,
}

/// How willingly a piece is given up; the lowest goes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rank {
    /// Older turns that were searched for.
    Recalled,
    /// Earlier tool results.
    EarlierResult,
    /// What is known of entities.
    Entity,
    /// Results within old history.
    OldResults,
    /// History beyond what pruning keeps.
    OldHistory,
    /// Items chosen for this request.
    AgentItem,
    /// The summary and the topic.
    Summary,
    /// Results within recent history.
    RecentResults,
    /// Important older history.
    ImportantHistory,
    /// The end of the history.
    RecentHistory,
    /// Items of the session.
    SessionItem,
    /// Never given up.
    Required,
}

impl Piece {
    /// A piece without a score.
    pub fn new(
        source: Source,
        why: impl Into<String>,
        place: Place,
        rank: Rank,
        text: impl Into<Arc<str>>,
    ) -> Self {
        let text = text.into();
        let hash = ContentHash::of(&text);
        let tokens = tokens::count_content(&hash, &text);
        Self { source, why: why.into(), place, rank, score: None, text, tokens, hash }
    }

    /// A piece whose tokens are known.
    pub fn counted(
        source: Source,
        why: impl Into<String>,
        place: Place,
        rank: Rank,
        text: impl Into<Arc<str>>,
        tokens: u32,
    ) -> Self {
        let text = text.into();
        let hash = ContentHash::of(&text);
        Self { source, why: why.into(), place, rank, score: None, text, tokens, hash }
    }

    /// The same piece with the score it was found by.
    pub fn scored(self, score: f32) -> Self {
        Self { score: Some(score), ..self }
    }

    /// The turn it stands for in the history; the parts of a turn go together.
    pub fn history_turn(&self) -> Option<u64> {
        match self.source {
            Source::History { turn, .. } => Some(turn),
            _ => None,
        }
    }

    /// Whether it counts against the enrichment budget.
    pub fn is_enrichment(&self) -> bool {
        matches!(
            self.source,
            Source::Topic
                | Source::Entity { .. }
                | Source::Recalled { .. }
                | Source::EarlierResult { .. }
        )
    }
}
