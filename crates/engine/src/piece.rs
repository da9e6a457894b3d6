//! The parts of a request, with their origin and reason.
//!
//! An assembled request consists of [`Piece`]s, which [`crate::layout`] turns into messages. Later rounds of a turn
//! add only the model's calls and their results.
//!
//! Invariant: `source` is set when a piece is made and never changes; `text` is sent as is.

use std::sync::Arc;

use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use crate::excerpt::Excerpt;
use crate::hash::ContentHash;
use crate::id::SessionId;
use crate::tokens;
use crate::tool::ToolName;

#[derive(Debug, Clone, PartialEq)]
pub struct Piece {
    pub source: Source,
    /// The reason it is included, for people.
    pub why: String,
    pub place: Position,
    pub rank: Rank,
    /// How well it matched the message, 0–1, if it was searched for.
    pub score: Option<f32>,
    pub text: Arc<str>,
    pub tokens: u32,
    pub hash: ContentHash,
}

/// The origin of a piece.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Source {
    /// The engine's own instructions: who the assistant is, the prompt mode, how to treat quoted data.
    Instructions {
        /// The name of a file under `prompts/`.
        part: String,
    },
    Persona {
        name: String,
    },
    /// The reminder to stay calm.
    Calm,
    Rule {
        name: String,
        mode: IncludeMode,
    },
    Reference {
        name: String,
        mode: IncludeMode,
    },
    /// A tool definition.
    Tool {
        server: String,
        name: String,
        mode: IncludeMode,
    },
    /// Tools that a request only names; `call_tool` calls them.
    ToolNames {
        tools: Vec<ToolName>,
    },
    Summary {
        /// First turn covered.
        from: u64,
        /// Last turn covered.
        to: u64,
    },
    /// The session's topic.
    Topic,
    /// What is known of an entity.
    Entity {
        entity: String,
        name: String,
    },
    /// An older turn that matches the message.
    Recalled {
        turn: u64,
        part: HistoryPart,
        /// The day of that turn, in the user's time zone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        on: Option<Date>,
        /// What is shown of a long text; all of it if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        excerpt: Option<Excerpt>,
    },
    /// A turn of another session of the user that matches the message.
    Elsewhere {
        session: SessionId,
        turn: u64,
        part: HistoryPart,
        /// The day of that turn, in the user's time zone.
        on: Date,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        excerpt: Option<Excerpt>,
    },
    Fact {
        id: String,
        /// The version shown: when its text last changed.
        at: Timestamp,
        /// Whether it is quoted, because a model or an import wrote it: it is no wish of the user.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        quoted: bool,
    },
    /// An earlier tool result that the message refers to.
    EarlierResult {
        turn: u64,
        /// The day of the result, in the user's time zone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        on: Option<Date>,
    },
    /// A date line.
    Day {
        /// In the user's time zone.
        on: Date,
        of: DayOf,
    },
    /// A recent turn, verbatim.
    History {
        turn: u64,
        part: HistoryPart,
    },
    /// The user's preferences from the session's settings.
    Preferences,
    /// Text given with the request: a workflow's specification, a client's own system prompt.
    Given {
        name: String,
    },
    /// What a client sent itself besides its message. It is counted here and stored with the turn.
    ClientRequest {
        bytes: u64,
    },
    /// The user's message.
    Message,
}

/// A part of a turn in the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HistoryPart {
    Message,
    /// Tool calls and their results, quoted as data.
    Results,
    Reply,
    /// Tool calls and their results, as the messages that the model was sent.
    Calls,
    /// The same, with long results cut.
    ShortCalls,
    /// What the model said after its last call.
    Answer,
}

impl HistoryPart {
    /// The part of the turn that is shown, in whichever form.
    pub fn of_turn(self) -> Self {
        match self {
            Self::Message => Self::Message,
            Self::Results | Self::Calls | Self::ShortCalls => Self::Results,
            Self::Reply | Self::Answer => Self::Reply,
        }
    }
}

/// What a date line refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DayOf {
    /// The message that follows.
    Message,
    /// The turn that follows in the history.
    Turn,
    /// The turns since the previous date line; in requests of earlier versions.
    Above,
    /// The turn before it.
    Exchange,
}

/// How an item got into the request.
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

/// The position of a piece in the request, in sending order: what changes least comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Position {
    /// In the list of tools.
    Tools,
    /// In the system prompt: only our text, the operator's and the persona's.
    System,
    /// Before the history, quoted as data.
    Preface,
    History,
    /// Next to a message: added for it, and stays there.
    Aside,
    Message,
}

/// Priority of a piece; the lowest is dropped first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rank {
    /// Guidance for the message's mode.
    Guidance,
    /// Items chosen for this request.
    AgentItem,
    /// Tool results in older history.
    OldResults,
    /// What is known of entities.
    Entity,
    /// The summary and the topic.
    Summary,
    /// History before the last exchange.
    OldHistory,
    /// Older history with tools or entities; only in requests of the first layout.
    ImportantHistory,
    /// Earlier tool results that match the message.
    EarlierResult,
    /// Older turns that match the message.
    Recalled,
    /// What is known of the entity that the message is about.
    Subject,
    /// Tool results of the last exchange.
    RecentResults,
    /// The last exchange.
    RecentHistory,
    SessionItem,
    /// Never dropped.
    Required,
}

/// A piece that was sent.
#[derive(Debug, Clone)]
pub struct SentPiece {
    pub piece: Piece,
    /// The turn that added it to the request.
    pub since: u64,
    /// The turn whose record stores the text; `None` if the quoted turn has it.
    pub kept_in: Option<u64>,
    /// The day of the turn it belongs to, if that is part of the session's own history.
    pub day: Option<Date>,
}

impl Piece {
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

    /// A piece with a known token count.
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

    /// Adds the score it was found with.
    pub fn scored(self, score: f32) -> Self {
        Self { score: Some(score), ..self }
    }

    /// Its turn, if it is part of the history; the parts of a turn go together.
    pub fn history_turn(&self) -> Option<u64> {
        match self.source {
            Source::History { turn, .. } => Some(turn),
            _ => None,
        }
    }

    /// The day of a recalled part.
    pub fn day(&self) -> Option<Date> {
        match self.source {
            Source::Recalled { on, .. } | Source::EarlierResult { on, .. } => on,
            _ => None,
        }
    }

    /// Whether it is a recalled part of an older turn.
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
