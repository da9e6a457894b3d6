//! What can go wrong in the engine, and what a caller can do about it.
//!
//! [`Error::code`] is stable for ever; [`Error::fault`] says what kind of failure it is; only transports
//! turn that into a status.
//!
//! Invariant: a message says what failed, with the name; a hint says what to try.

use crate::failure::UpstreamError;
use crate::grants::Action;
use crate::id::{AgentName, InvalidName, SessionId};
use crate::store::StoreError;

/// The engine's one error.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No such session for this caller.
    #[error("there is no session {0}")]
    NoSession(SessionId),
    /// No such turn in that session.
    #[error("session {session} has no turn {turn}; it has {turns}")]
    NoTurn {
        session: SessionId,
        /// The turn asked for.
        turn: u64,
        /// Turns it has.
        turns: u64,
    },
    /// Something else that was named does not exist.
    #[error("there is no {kind} {name}")]
    Missing {
        /// `agent`, `preset`, `item`, `tool`…
        kind: &'static str,
        name: String,
        /// What there is, for the hint.
        known: Vec<String>,
    },
    /// The turn has no receipt, or its content was not kept.
    #[error("turn {turn} of session {session} has no {what}")]
    NotKept {
        session: SessionId,
        turn: u64,
        /// `context data`, `stored request`…
        what: &'static str,
    },
    /// A session of that id exists already.
    #[error("there is a session {0} already")]
    SessionExists(SessionId),
    /// A field has a value that is not allowed.
    #[error("{field} is not valid: {reason}")]
    Invalid {
        /// The field's name in the request.
        field: String,
        /// The value's problem, with the range that is allowed.
        reason: String,
    },
    /// A name broke the rule for names.
    #[error(transparent)]
    InvalidName(#[from] InvalidName),
    /// More than a named limit.
    #[error("{what} is {size}; the limit {limit} is {allowed}")]
    OverLimit {
        /// What is too large or too many.
        what: String,
        /// How large or many.
        size: u64,
        /// The limit's name in configuration.
        limit: &'static str,
        /// The limit.
        allowed: u64,
    },
    /// What must be sent does not fit the model's window.
    #[error("the message and what must go with it take {needed} tokens; the budget is {budget}")]
    OverBudget {
        /// Tokens of what cannot be dropped.
        needed: u32,
        /// Tokens there are.
        budget: u32,
    },
    /// The caller's version is not the current one.
    #[error("{what} is at version {current}, not {given}")]
    VersionConflict {
        /// Which session or preset.
        what: String,
        /// The version the caller gave.
        given: u64,
        /// The version it is at.
        current: u64,
    },
    /// Other writers were faster, too many times.
    #[error("session {session} was changed by others {attempts} times while this was written")]
    Contended {
        session: SessionId,
        /// How often it was tried.
        attempts: usize,
    },
    /// The idempotency key was used with another request.
    #[error("the idempotency key {key} was used for another request")]
    KeyReused {
        key: String,
    },
    /// The same idempotency key is being worked on.
    #[error("the request with the idempotency key {key} is under way")]
    UnderWay {
        key: String,
    },
    /// A call was begun under the key, and the process ended before its answer was kept.
    #[error("the call with the idempotency key {key} was begun, and what came of it is not known")]
    OutcomeUnknown {
        key: String,
    },
    /// The session has no such approval waiting.
    #[error("session {session} has no call {call} waiting for approval")]
    NoApproval {
        session: SessionId,
        /// The call's id.
        call: String,
    },
    /// The session is not one that can be shared.
    #[error("session {session} cannot be shared: {reason}")]
    NotShareable {
        session: SessionId,
        /// Why.
        reason: &'static str,
    },
    /// A link that opens nothing: which of its reasons it is, is not said.
    #[error("the link opens nothing: it is not complete, has expired or was revoked")]
    NoShare,
    /// The session was archived or has expired.
    #[error("session {session} is {state}")]
    Inactive {
        session: SessionId,
        /// `deleted` or `expired`.
        state: &'static str,
    },
    /// The credential lacks the scope.
    #[error("this credential may not {action}")]
    Forbidden {
        /// What was tried.
        action: Action,
    },
    /// There is no such agent.
    #[error("there is no agent {name}")]
    NoAgent {
        name: AgentName,
        /// Agents there are.
        known: Vec<String>,
    },
    /// A tool may not run as it is now defined.
    #[error("tool {tool} may not run: {reason}")]
    ToolNotApproved {
        /// `server:name`.
        tool: String,
        /// Why.
        reason: String,
    },
    /// A model, tool or embedder failed.
    #[error(transparent)]
    Upstream(#[from] UpstreamError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// What is stored for a session cannot be understood.
    #[error("{what} cannot be read: {reason}")]
    Unreadable {
        /// Which thread or entry.
        what: String,
        reason: String,
    },
}

/// What kind of failure it is, for whoever must react.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It is not there, or not for this caller.
    Missing,
    /// The request is wrong.
    Invalid,
    /// The request is too large.
    TooLarge,
    /// The credential does not allow it.
    Forbidden,
    /// Somebody else changed it first.
    Conflict,
    /// The same idempotency key with another request.
    KeyMismatch,
    /// A model, tool or embedder failed.
    Upstream,
    /// The store cannot be reached.
    Unavailable,
    /// A fault of ours, or of the stored data.
    Internal,
}

impl Error {
    /// A value that is not allowed.
    pub fn invalid(field: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Invalid { field: field.into(), reason: reason.into() }
    }

    /// What kind of failure it is.
    pub fn fault(&self) -> Fault {
        match self {
            Self::NoSession(_)
            | Self::NoTurn { .. }
            | Self::Missing { .. }
            | Self::NotKept { .. }
            | Self::NoApproval { .. }
            | Self::NoShare => Fault::Missing,
            Self::Invalid { .. }
            | Self::InvalidName(_)
            | Self::OverBudget { .. }
            | Self::NoAgent { .. } => Fault::Invalid,
            Self::OverLimit { .. } => Fault::TooLarge,
            Self::Forbidden { .. } => Fault::Forbidden,
            Self::SessionExists(_)
            | Self::VersionConflict { .. }
            | Self::Contended { .. }
            | Self::UnderWay { .. }
            | Self::OutcomeUnknown { .. }
            | Self::Inactive { .. }
            | Self::NotShareable { .. }
            | Self::ToolNotApproved { .. } => Fault::Conflict,
            Self::KeyReused { .. } => Fault::KeyMismatch,
            Self::Upstream(_) => Fault::Upstream,
            Self::Store(error) => match error {
                StoreError::Conflict { .. } => Fault::Conflict,
                StoreError::TooLarge { .. } => Fault::TooLarge,
                StoreError::Unavailable { .. } => Fault::Unavailable,
                StoreError::Damaged { .. } | StoreError::Refused { .. } => Fault::Internal,
            },
            Self::Unreadable { .. } => Fault::Internal,
        }
    }

    /// The name of this failure; stable for ever.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoSession(_) => "no_session",
            Self::NoTurn { .. } => "no_turn",
            Self::Missing { .. } => "missing",
            Self::NotKept { .. } => "not_kept",
            Self::SessionExists(_) => "session_exists",
            Self::Invalid { .. } => "invalid",
            Self::InvalidName(_) => "invalid_name",
            Self::OverLimit { .. } => "over_limit",
            Self::OverBudget { .. } => "over_budget",
            Self::VersionConflict { .. } => "version_conflict",
            Self::Contended { .. } => "contended",
            Self::KeyReused { .. } => "idempotency_key_reused",
            Self::UnderWay { .. } => "turn_under_way",
            Self::OutcomeUnknown { .. } => "outcome_unknown",
            Self::NoApproval { .. } => "no_approval",
            Self::Inactive { .. } => "session_inactive",
            Self::NotShareable { .. } => "not_shareable",
            Self::NoShare => "no_share",
            Self::Forbidden { .. } => "forbidden",
            Self::NoAgent { .. } => "no_agent",
            Self::ToolNotApproved { .. } => "tool_not_approved",
            Self::Upstream(_) => "upstream_failed",
            Self::Store(error) => match error {
                StoreError::Conflict { .. } => "store_conflict",
                StoreError::Damaged { .. } => "store_damaged",
                StoreError::Refused { .. } => "store_refused",
                StoreError::TooLarge { .. } => "store_too_large",
                StoreError::Unavailable { .. } => "store_unavailable",
            },
            Self::Unreadable { .. } => "unreadable",
        }
    }

    /// What to try.
    pub fn hint(&self) -> String {
        match self {
            Self::NoSession(_) => "list the sessions, or create one".into(),
            Self::NoTurn { turns, .. } if *turns == 0 => "the session has no turns yet".into(),
            Self::NoTurn { turns, .. } => format!("turns count from 1 to {turns}"),
            Self::Missing { kind: "memory", .. } => "list the memories, or search for it".into(),
            Self::Missing { known, .. } | Self::NoAgent { known, .. } => listed(known),
            Self::NotKept { .. } => "only turns that the engine assembled have it".into(),
            Self::SessionExists(_) => "leave the id out, or use the existing session".into(),
            Self::Invalid { .. } => "correct the field and send the request again".into(),
            Self::InvalidName(_) => {
                "use 1-128 characters of A-Z a-z 0-9 . _ - that do not start with a dot".into()
            }
            Self::OverLimit { limit, .. } => {
                format!("send less, or raise limits.{limit} in the configuration")
            }
            Self::OverBudget { .. } => {
                "shorten the message, raise the budget, or remove session items".into()
            }
            Self::VersionConflict { .. } => "read it again and repeat the change".into(),
            Self::Contended { .. } => "try again".into(),
            Self::KeyReused { .. } => "use a new key for a new request".into(),
            Self::UnderWay { .. } => "wait, then send the same request with the same key".into(),
            Self::OutcomeUnknown { .. } => {
                "look whether it took effect; if not, call it with a new key".into()
            }
            Self::NoApproval { .. } => "it was answered, has expired, or never existed".into(),
            Self::Inactive { .. } => "restore it by PATCH with active: true".into(),
            Self::NotShareable { .. } => {
                "private sessions, and those without a turn, are not shared".into()
            }
            Self::NoShare => "ask whoever sent it for a new one".into(),
            Self::Forbidden { .. } => "use a key or a token with that scope".into(),
            Self::ToolNotApproved { .. } => "look at the definition, then approve the tool".into(),
            Self::Upstream(_) => "what was said is kept; try again".into(),
            Self::Store(StoreError::Refused { hint, .. }) => hint.clone(),
            Self::Store(StoreError::Unavailable { .. }) => "try again when it is back".into(),
            Self::Store(StoreError::Damaged { .. }) => {
                "throughline check names what is damaged, throughline repair mends it".into()
            }
            Self::Store(_) | Self::Unreadable { .. } => "run throughline check".into(),
        }
    }
}

fn listed(known: &[String]) -> String {
    if known.is_empty() {
        return "there are none".into();
    }
    let shown: Vec<&str> = known.iter().take(12).map(String::as_str).collect();
    let more = if known.len() > shown.len() { ", …" } else { "" };
    format!("there are: {}{more}", shown.join(", "))
}

/// The engine's results.
pub type Result<T, E = Error> = std::result::Result<T, E>;
