//! What goes into a request, where it came from, and why.
//!
//! All text a model sees is a [`Piece`]. Nothing enters a prompt by another road, and only
//! [`crate::budget`] drops one. How pieces become a request is [`crate::layout`]'s.
//!
//! Invariant: `source` is set where a piece is made, and never after; `text` is sent as it stands.

use std::sync::Arc;

use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use crate::hash::ContentHash;
use crate::id::SessionId;
use crate::tokens;

/// A text on its way to the model.
#[derive(Debug, Clone, PartialEq)]
pub struct Piece {
    /// Where it came from.
    pub source: Source,
    /// Why it is here, for people.
    pub why: String,
    /// Where it stands in the request.
    pub place: Position,
    /// How willingly it is given up.
    pub rank: Rank,
    /// How well it matched the message, 0–1, where it was searched for.
    pub score: Option<f32>,
    /// The text as it is sent.
    pub text: Arc<str>,
    pub tokens: u32,
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
        name: String,
        /// How it came in.
        mode: IncludeMode,
    },
    /// A reference of the agent.
    Reference {
        name: String,
        /// How it came in.
        mode: IncludeMode,
    },
    /// A tool's definition.
    Tool {
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
        name: String,
    },
    /// An older turn that matters for the message.
    Recalled {
        turn: u64,
        part: HistoryPart,
        /// The day it was said, in the user's time zone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        on: Option<Date>,
    },
    /// A turn of another session of the same user that matters for the message.
    Elsewhere {
        session: SessionId,
        turn: u64,
        part: HistoryPart,
        /// The day it was said, in the user's time zone.
        on: Date,
    },
    /// A fact about the user that outlives its session.
    Fact {
        /// Which.
        id: String,
        /// The version that was shown: when its text last changed.
        at: Timestamp,
    },
    /// An earlier tool result that the message refers to.
    EarlierResult {
        turn: u64,
        /// The day it was answered, in the user's time zone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        on: Option<Date>,
    },
    /// The day on which the message is said, or on which the turns above were.
    Day {
        /// Which day, in the user's time zone.
        on: Date,
        /// Whose.
        of: DayOf,
    },
    /// A recent turn, verbatim.
    History {
        turn: u64,
        part: HistoryPart,
    },
    /// What the user prefers, as the session's settings say.
    Preferences,
    /// Text that came with the request: a workflow's specification, a client's own system prompt.
    Given {
        /// What it was called.
        name: String,
    },
    /// What a client sent itself, beside its message. It is counted here and kept with the turn.
    ClientRequest {
        /// Its size.
        bytes: u64,
    },
    /// The user's message.
    Message,
}

/// A part of a turn in the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HistoryPart {
    /// What the user said.
    Message,
    /// What the tools answered: calls and results together.
    Results,
    /// What the assistant said.
    Reply,
}

/// What a day is told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DayOf {
    /// The message that follows.
    Message,
    /// The turn that follows in the history.
    Turn,
    /// The turns since the day that was told last.
    Above,
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
pub enum Position {
    /// Among the tools.
    Tools,
    /// In the system instructions. Only our words, the operator's and the persona's.
    System,
    /// Before the history, as quoted data.
    Preface,
    History,
    /// Beside a message: what came in with it, and stays there.
    Aside,
    /// The message itself.
    Message,
}

/// How much a piece matters for the message; the lowest is left out first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rank {
    /// Guidance for the message, where its kind is clear.
    Guidance,
    /// Items chosen for this request.
    AgentItem,
    /// Results within old history.
    OldResults,
    /// What is known of entities.
    Entity,
    /// The summary and the topic.
    Summary,
    /// History before the last exchange.
    OldHistory,
    /// Older history with tools or entities; only in requests of the first layout.
    ImportantHistory,
    /// Earlier tool results that fit the message.
    EarlierResult,
    /// Older turns that fit the message.
    Recalled,
    /// What is known of the thing that the message is about.
    Subject,
    /// Results of the last exchange.
    RecentResults,
    /// The last exchange.
    RecentHistory,
    SessionItem,
    /// Never left out.
    Required,
}

/// A piece of a request that was sent.
#[derive(Debug, Clone)]
pub struct SentPiece {
    pub piece: Piece,
    /// The turn with which it came into the request.
    pub since: u64,
    /// The turn whose record keeps the text; absent where the turn that it quotes has it.
    pub kept_in: Option<u64>,
    /// The day of the turn that it belongs to, where it is one of the conversation's own.
    pub day: Option<Date>,
}

impl Piece {
    /// A piece without a score.
    pub fn new(
        source: Source,
        why: impl Into<String>,
        place: Position,
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
        place: Position,
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

    /// The day that it tells of, where it is a recalled part of a turn.
    pub fn day(&self) -> Option<Date> {
        match self.source {
            Source::Recalled { on, .. } | Source::EarlierResult { on, .. } => on,
            _ => None,
        }
    }

    /// Whether it is a part of an older turn that was searched for.
    pub fn is_recalled(&self) -> bool {
        matches!(
            self.source,
            Source::Recalled { .. }
                | Source::EarlierResult { .. }
                | Source::Elsewhere { .. }
                | Source::Fact { .. }
        )
    }
}
