//! The head of a session: its small, current state.
//!
//! The turns are in the log ([`super::record`]). The head is rewritten with every turn, so each list in it is
//! bounded and its size does not grow with the session.
//!
//! Invariant: `turns` is the number of log entries. What can be rebuilt from the log is in [`super::salvage`].

use std::collections::{BTreeMap, VecDeque};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::agent::MemoryScope;
use crate::entity::Entities;
use crate::hash::ContentHash;
use crate::id::{AgentName, SessionId};
use crate::item::{ItemName, SessionItem};
use crate::mode::PromptMode;
use crate::model::Usage;
use crate::persona::Persona;
use crate::receipt::ReplayCost;
use crate::rule::Decision;
use crate::tool::ToolName;

use super::dialogue::Dialogue;
use super::pending::PendingTurn;
use super::record::{TurnRecord, TurnStatus};
use super::share::Share;
use super::tool_words::ToolWords;
use super::unsettled::UnsettledTurn;
use super::usage::ItemUsage;
use super::withheld::Withheld;

/// The version of this format; newer ones are refused.
pub const FORMAT: u32 = 1;

pub const TOOL_RULES_MAX: usize = 200;
pub const TOOL_HISTORY_MAX: usize = 20;
pub const PRUNINGS_MAX: usize = 20;
/// Maximum contents whose place is in the head.
pub const CONTENTS_MAX: usize = 256;

/// How long an expired session with a persona is kept before it is purged.
pub const PURGE_GRACE: jiff::SignedDuration = jiff::SignedDuration::from_hours(7 * 24);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionHead {
    pub format: u32,
    pub id: SessionId,
    /// Identifies this session among successive ones with the same id, also in copies. Random at creation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub life: Option<uuid::Uuid>,
    /// The default agent if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    pub created_at: Timestamp,
    /// The last turn or change by the user.
    pub last_activity: Timestamp,
    /// A deleted session can be restored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted_at: Option<Timestamp>,
    /// Counted from the last activity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Settings::is_default")]
    pub settings: Settings,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persona: Option<Persona>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<SessionItem>,
    /// Servers whose tools were unknown when the session was created: still connecting, or down.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unlisted_servers: Vec<String>,
    /// The entities of the session, and its topic.
    #[serde(default, skip_serializing_if = "no_entities")]
    pub entities: Entities,
    /// Number of turns in the log.
    pub turns: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_turn_at: Option<Timestamp>,
    /// The last turn whose entities were looked up in the background.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub looked_up_turn: u64,
    /// The summary of older turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<Summary>,
    /// Newest last.
    #[serde(default, skip_serializing_if = "VecDeque::is_empty")]
    pub tool_history: VecDeque<ToolExecution>,
    /// Tokens over the whole session.
    #[serde(default)]
    pub usage: TokenUsage,
    /// Tokens of the last request.
    #[serde(default)]
    pub context_tokens: u32,
    #[serde(default)]
    pub mode: PromptMode,
    /// Times when history did not fit, newest last.
    #[serde(default, skip_serializing_if = "VecDeque::is_empty")]
    pub prunings: VecDeque<Pruning>,
    /// The turn whose record stores each content.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub contents: BTreeMap<ContentHash, u64>,
    /// Requests already answered, newest last.
    #[serde(default, skip_serializing_if = "VecDeque::is_empty")]
    pub answered: VecDeque<AnsweredKey>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending: Option<Box<PendingTurn>>,
    /// The state of the offline reply between turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialogue: Option<Box<Dialogue>>,
    /// What a client must send again after running its tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_round: Option<Box<ClientRound>>,
    /// Requests with an idempotency key that are in progress.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub under_way: Vec<UnderWay>,
    /// Rules, references and tools in the last request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shown_items: Vec<ItemName>,
    /// Turns with calls that were begun but not recorded yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unsettled: Vec<UnsettledTurn>,
    /// Decisions about tools in this session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_rules: Vec<Decision>,
    /// Words that only tools have named.
    #[serde(default, skip_serializing_if = "ToolWords::is_empty")]
    pub tool_words: ToolWords,
    /// Imported turns at the start: nobody here said what is in them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub imported_turns: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub item_usage: Vec<ItemUsage>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<ForkedFrom>,
    /// Number of turns whose content was erased.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub erased_turns: u64,
    /// Turns that are no longer used.
    #[serde(default, skip_serializing_if = "Withheld::is_empty")]
    pub withheld: Withheld,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shares: Vec<Share>,
}

fn no_entities(entities: &Entities) -> bool {
    *entities == Entities::default()
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Overrides the configured window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<u32>,
    /// Overrides the inferred mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<PromptMode>,
    /// The configured name of the model to use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The user's IANA time zone; overrides the configured one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
    /// Overrides the agent's setting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryScope>,
    /// Whether nothing of the session is remembered outside it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub private: bool,
    /// Free-form preferences of the user.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub preferences: Map<String, Value>,
}

impl Settings {
    /// The user's time zone, or `default`.
    pub fn zone(&self, default: &str) -> TimeZone {
        TimeZone::get(self.timezone.as_deref().unwrap_or(default)).unwrap_or(TimeZone::UTC)
    }

    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// A summary of older turns. Derived: the turns stay in the log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// First turn covered.
    pub from: u64,
    /// Last turn covered.
    pub to: u64,
    pub text: String,
    pub tokens: u32,
    /// A model's name, or `extraction`.
    pub by: String,
    /// The last turn summarized by a model; 0 if none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub modelled_to: u64,
    pub at: Timestamp,
}

impl Summary {
    /// The author of a summary made without a model.
    pub const EXTRACTION: &str = "extraction";

    /// Whether it consists of sentences from the session, which cover only a part of it.
    pub fn is_extract(&self) -> bool {
        self.by == Self::EXTRACTION
    }

    /// The turn, speaker and sentence of a line; `None` if a model wrote it.
    pub fn sentence(line: &str) -> Option<(u64, &'static str, &str)> {
        let (turn, rest) = line.split_once(' ')?;
        let (speaker, text) = rest.split_once(": ")?;
        let speaker = ["user", "assistant"].into_iter().find(|known| *known == speaker)?;
        Some((turn.parse().ok()?, speaker, text))
    }

    /// What it is, and the last turn that it tells of.
    pub fn claim(&self) -> (&'static str, u64) {
        let has_sentences = || self.text.lines().any(|line| Self::sentence(line).is_some());
        match (self.is_extract(), self.modelled_to) {
            (false, _) => ("notes on", self.to),
            (true, 0) => ("some sentences of", self.to),
            (true, _) if has_sentences() => ("notes on and sentences of", self.to),
            (true, modelled_to) => ("notes on", modelled_to),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolExecution {
    #[serde(flatten)]
    pub tool: ToolName,
    /// The turn whose record has the result.
    pub turn: u64,
    /// The index of the call in the turn.
    pub call: usize,
    pub ok: bool,
}

/// Tokens over a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TokenUsage {
    /// As counted by providers.
    #[serde(flatten)]
    pub model: Usage,
    /// Tokens of all messages and replies, by our count.
    pub said_tokens: u64,
    /// Tokens of all requests, by our count.
    #[serde(default)]
    pub request_tokens: u64,
    /// Those at the start that were in the request before.
    #[serde(default)]
    pub stable_tokens: u64,
    /// What sending the whole session each time would have cost.
    #[serde(default)]
    pub replay: ReplayCost,
}

/// An occasion when the history did not fit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pruning {
    pub at: Timestamp,
    pub turn: u64,
    /// Tokens considered.
    pub tokens_before: u32,
    /// Tokens sent.
    pub tokens_after: u32,
    /// Pieces dropped.
    pub dropped: usize,
    pub strategy: String,
}

/// A request that was answered: the same key returns the same turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnsweredKey {
    pub key: ContentHash,
    /// Hash of the request's body.
    pub body: ContentHash,
    pub turn: u64,
    /// The session's version with that turn.
    #[serde(default)]
    pub version: u64,
}

/// A request with an idempotency key that some server is processing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnderWay {
    pub key: ContentHash,
    /// The server process.
    #[serde(default)]
    pub owner: Uuid,
    /// After this time the server is assumed dead.
    pub until: Timestamp,
}

/// A reply of a client's model that ended in tool calls, with everything that led to it, for a client that refers
/// to the reply instead of sending it again. Valid until the next turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClientRound {
    /// The client's id of the reply.
    pub reply: String,
    /// In the transport's format.
    pub items: Vec<Value>,
    /// How many of them the client sent; the others are the reply.
    #[serde(default)]
    pub sent_items: usize,
    /// The model that replied.
    #[serde(default)]
    pub model: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForkedFrom {
    pub session: SessionId,
    /// The last turn copied.
    pub turn: u64,
}

impl SessionHead {
    pub fn new(id: SessionId, now: Timestamp) -> Self {
        Self {
            format: FORMAT,
            id,
            life: None,
            agent: None,
            title: None,
            tags: Vec::new(),
            created_at: now,
            last_activity: now,
            deleted_at: None,
            expires_at: None,
            settings: Settings::default(),
            persona: None,
            items: Vec::new(),
            unlisted_servers: Vec::new(),
            entities: Entities::default(),
            turns: 0,
            last_turn_at: None,
            looked_up_turn: 0,
            summary: None,
            tool_history: VecDeque::new(),
            usage: TokenUsage::default(),
            context_tokens: 0,
            mode: PromptMode::default(),
            prunings: VecDeque::new(),
            contents: BTreeMap::new(),
            answered: VecDeque::new(),
            pending: None,
            dialogue: None,
            client_round: None,
            under_way: Vec::new(),
            shown_items: Vec::new(),
            unsettled: Vec::new(),
            tool_rules: Vec::new(),
            tool_words: ToolWords::default(),
            imported_turns: 0,
            item_usage: Vec::new(),
            forked_from: None,
            erased_turns: 0,
            withheld: Withheld::default(),
            shares: Vec::new(),
        }
    }

    /// Whether a request may quote a turn of the session.
    pub fn shows(&self, record: &TurnRecord) -> bool {
        record.is_history() && self.uses(record)
    }

    /// Whether a turn may be searched and recalled.
    pub fn uses(&self, record: &TurnRecord) -> bool {
        record.status != TurnStatus::Erased && !self.withheld.holds(record.turn)
    }

    /// Number of withdrawn turns, erased or withheld: what was derived before the last of them is invalid.
    pub fn unused_turns(&self) -> u64 {
        self.erased_turns + self.withheld.count()
    }

    /// Records activity and extends the expiry.
    pub fn touch(&mut self, now: Timestamp) {
        self.last_activity = now;
        let days = self.persona.as_ref().map(|persona| persona.expiry_days);
        if let Some(days) = days {
            self.expires_at =
                now.checked_add(jiff::SignedDuration::from_hours(i64::from(days) * 24)).ok();
        }
    }

    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|at| at <= now)
    }

    /// When an expired or deleted session with an expiry is purged: with a persona after [`PURGE_GRACE`],
    /// otherwise at once.
    pub fn purge_at(&self) -> Option<Timestamp> {
        let end = self.expires_at?.max(self.deleted_at.unwrap_or(Timestamp::MIN));
        let grace = if self.persona.is_some() { PURGE_GRACE } else { jiff::SignedDuration::ZERO };
        end.checked_add(grace).ok()
    }

    /// Takes over a summary, unless the current one reaches further.
    pub fn condense(&mut self, summary: Option<Summary>) {
        let covered = self.summary.as_ref().map_or(0, |summary| summary.to);
        if let Some(summary) = summary.filter(|summary| summary.to > covered) {
            self.summary = Some(summary);
        }
    }

    /// Tools used in the last turn that used any, oldest first.
    pub fn last_tools(&self) -> Vec<&str> {
        let last = self.tool_history.back().map(|execution| execution.turn);
        self.tool_history
            .iter()
            .filter(|execution| Some(execution.turn) == last)
            .map(|execution| execution.tool.name.as_str())
            .collect()
    }
}

/// Pushes to a bounded queue, dropping the oldest.
pub fn push_bounded<T>(queue: &mut VecDeque<T>, value: T, most: usize) {
    queue.push_back(value);
    while queue.len() > most {
        queue.pop_front();
    }
}
