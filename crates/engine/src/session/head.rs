//! The head of a session: everything about a conversation that is small and current.
//!
//! What was said is in the log ([`super::record`]). The head is rewritten with every turn, so each list in
//! it is bounded and its size does not grow with the conversation.
//!
//! Invariant: `turns` is the number of log entries, and everything but settings, persona, items, tags and
//! decisions could be rebuilt from the log.

use std::collections::{BTreeMap, VecDeque};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

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

/// The version of this shape; a newer one is refused.
pub const FORMAT: u32 = 1;

/// Decisions about tools in one session.
pub const TOOL_RULES_MAX: usize = 200;
/// Tool executions remembered in the head.
pub const TOOL_HISTORY_MAX: usize = 20;
/// Pruning events remembered in the head.
pub const PRUNINGS_MAX: usize = 20;
/// Contents whose place is remembered in the head.
pub const CONTENTS_MAX: usize = 256;

/// How long an expired session with a persona is kept before it is purged.
pub const PURGE_GRACE: jiff::SignedDuration = jiff::SignedDuration::from_hours(7 * 24);

/// A session's current state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionHead {
    /// [`FORMAT`].
    pub format: u32,
    pub id: SessionId,
    /// Which of the sessions that had this id, one after the other; also in copies of it. Drawn when it is created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub life: Option<uuid::Uuid>,
    /// The agent it is held with; the default one when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
    /// A title for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Labels for people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// When it was created.
    pub created_at: Timestamp,
    /// The last turn or change by its user.
    pub last_activity: Timestamp,
    /// When it was deleted; a deleted session can be restored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted_at: Option<Timestamp>,
    /// When it expires, counted from the last interaction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// What the user prefers, and other settings.
    #[serde(default, skip_serializing_if = "Settings::is_default")]
    pub settings: Settings,
    /// How the assistant carries itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persona: Option<Persona>,
    /// Rules, references and tools of this session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<SessionItem>,
    /// Servers whose tools were not known when the session was created: still connecting, or down.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unlisted_servers: Vec<String>,
    /// Things the conversation is about, and its topic.
    #[serde(default, skip_serializing_if = "no_entities")]
    pub entities: Entities,
    /// Turns in the log.
    pub turns: u64,
    /// When the last of them was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_turn_at: Option<Timestamp>,
    /// The last turn whose things were looked up in the background.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub looked_up_turn: u64,
    /// The condensed older turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<Summary>,
    /// The last tool executions, newest last.
    #[serde(default, skip_serializing_if = "VecDeque::is_empty")]
    pub tool_history: VecDeque<ToolExecution>,
    /// Tokens over the whole conversation.
    #[serde(default)]
    pub usage: TokenUsage,
    /// Tokens of the last request.
    #[serde(default)]
    pub context_tokens: u32,
    /// The last prompt mode.
    #[serde(default)]
    pub mode: PromptMode,
    /// When history did not fit, newest last.
    #[serde(default, skip_serializing_if = "VecDeque::is_empty")]
    pub prunings: VecDeque<Pruning>,
    /// Which turn's record keeps a content.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub contents: BTreeMap<ContentHash, u64>,
    /// Requests already answered, newest last.
    #[serde(default, skip_serializing_if = "VecDeque::is_empty")]
    pub answered: VecDeque<AnsweredKey>,
    /// A turn that waits for approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending: Option<Box<PendingTurn>>,
    /// What the way without a model keeps between turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialogue: Option<Box<Dialogue>>,
    /// What a client of this session has to send again when it has run its tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_round: Option<Box<ClientRound>>,
    /// Keyed requests that are being worked on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub under_way: Vec<UnderWay>,
    /// Rules, references and tools that the last request shows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shown_items: Vec<ItemName>,
    /// Turns with calls that were begun, and of which no record tells yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unsettled: Vec<UnsettledTurn>,
    /// What was decided about tools in this session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_rules: Vec<Decision>,
    /// Words that only tools have named.
    #[serde(default, skip_serializing_if = "ToolWords::is_empty")]
    pub tool_words: ToolWords,
    /// Turns at the start that were brought in from elsewhere: nobody here said what is in them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub imported_turns: u64,
    /// How often each item was sent and used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub item_usage: Vec<ItemUsage>,
    /// The session and turn it was forked from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<ForkedFrom>,
    /// Turns whose content was erased.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub erased_turns: u64,
    /// Turns that are used no more.
    #[serde(default, skip_serializing_if = "Withheld::is_empty")]
    pub withheld: Withheld,
    /// Read-only links.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shares: Vec<Share>,
}

fn no_entities(entities: &Entities) -> bool {
    *entities == Entities::default()
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Settings of one session.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Tokens of the window, where it differs from the configured one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<u32>,
    /// A prompt mode that is not inferred.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<PromptMode>,
    /// The model to use, by its configured name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The user's time zone, by its IANA name, where it differs from the configured one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
    /// How far the session remembers, where it differs from its agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryScope>,
    /// Whether nothing of the session is remembered outside of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub private: bool,
    /// Free-form preferences of the user, kept as they are.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub preferences: Map<String, Value>,
}

impl Settings {
    /// The user's time zone; `default` where the session names none.
    pub fn zone(&self, default: &str) -> TimeZone {
        TimeZone::get(self.timezone.as_deref().unwrap_or(default)).unwrap_or(TimeZone::UTC)
    }

    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Older turns, condensed. Derived: the turns themselves stay in the log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// First turn it covers.
    pub from: u64,
    /// Last turn it covers.
    pub to: u64,
    /// The notes.
    pub text: String,
    pub tokens: u32,
    /// Who made them: a model's name, or `extraction`.
    pub by: String,
    /// The last turn that a model's notes are among them of; 0 where there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub modelled_to: u64,
    /// When.
    pub at: Timestamp,
}

/// A tool execution, in brief.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolExecution {
    #[serde(flatten)]
    pub tool: ToolName,
    /// In which turn; its record has the result.
    pub turn: u64,
    /// Which of the turn's calls.
    pub call: usize,
    /// Whether it succeeded.
    pub ok: bool,
}

/// Tokens over a conversation.
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
    /// Of those, the ones at the start that were in the request before.
    #[serde(default)]
    pub stable_tokens: u64,
    /// What sending the whole conversation each time would have cost.
    #[serde(default)]
    pub replay: ReplayCost,
}

/// One time when the history did not fit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pruning {
    /// When.
    pub at: Timestamp,
    /// For which turn.
    pub turn: u64,
    /// Tokens considered.
    pub tokens_before: u32,
    /// Tokens sent.
    pub tokens_after: u32,
    /// Pieces dropped.
    pub dropped: usize,
    /// What was kept by rule.
    pub strategy: String,
}

/// A request that was answered: the same key answers the same turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnsweredKey {
    pub key: ContentHash,
    /// Hash of the request's body.
    pub body: ContentHash,
    /// The turn that answered it.
    pub turn: u64,
    /// The session's version with that turn.
    #[serde(default)]
    pub version: u64,
}

/// A keyed request that is being worked on by some copy of the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnderWay {
    pub key: ContentHash,
    /// After this, it is taken to have died.
    pub until: Timestamp,
}

/// A reply of a client's model that ended in tool calls, and everything that led to it, for a client that names the
/// reply instead of sending it again. It holds until the next turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClientRound {
    /// How the client names the reply.
    pub reply: String,
    /// The items, as the transport wrote them.
    pub items: Vec<Value>,
}

/// Where a fork began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForkedFrom {
    pub session: SessionId,
    /// The last turn that was taken along.
    pub turn: u64,
}

impl SessionHead {
    /// A new, empty session.
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

    /// How many turns were taken out of use: what was derived before the last of them does not hold.
    pub fn unused_turns(&self) -> u64 {
        self.erased_turns + self.withheld.count()
    }

    /// Marks activity now and moves the expiry along.
    pub fn touch(&mut self, now: Timestamp) {
        self.last_activity = now;
        let days = self.persona.as_ref().map(|persona| persona.expiry_days);
        if let Some(days) = days {
            self.expires_at =
                now.checked_add(jiff::SignedDuration::from_hours(i64::from(days) * 24)).ok();
        }
    }

    /// Whether it has expired at `now`.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|at| at <= now)
    }

    /// When an expired or deleted session with an expiry is purged: with a persona a week after it came to its
    /// end, without one at once, as a time to live asks.
    pub fn purge_at(&self) -> Option<Timestamp> {
        let end = self.expires_at?.max(self.deleted_at.unwrap_or(Timestamp::MIN));
        let grace = if self.persona.is_some() { PURGE_GRACE } else { jiff::SignedDuration::ZERO };
        end.checked_add(grace).ok()
    }

    /// Takes over notes on older turns, unless there are some that reach further.
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

/// Pushes to a bounded queue; the oldest goes.
pub fn push_bounded<T>(queue: &mut VecDeque<T>, value: T, most: usize) {
    queue.push_back(value);
    while queue.len() > most {
        queue.pop_front();
    }
}
