//! The engine's errors, and what a caller can do about them.
//!
//! [`Error::code`] never changes; [`Error::fault`] classifies the error; only transports map that to a status.
//!
//! Invariant: a message says what failed and names it; a hint says what to try.

use crate::failure::UpstreamError;
use crate::grants::Action;
use crate::id::{AgentName, InvalidName, SessionId};
use crate::store::StoreError;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No such session for this caller.
    #[error("there is no session {0}")]
    NoSession(SessionId),
    #[error("session {session} has no turn {turn}; it has {turns}")]
    NoTurn {
        session: SessionId,
        turn: u64,
        /// Number of turns in the session.
        turns: u64,
    },
    /// A named thing other than a session, turn or agent does not exist.
    #[error("there is no {kind} {name}")]
    Missing {
        /// `agent`, `preset`, `item`, `tool`…
        kind: &'static str,
        name: String,
        /// Existing names, for the hint.
        known: Vec<String>,
    },
    /// The turn has no receipt, or its content was not stored.
    #[error("turn {turn} of session {session} has no {what}")]
    NotKept {
        session: SessionId,
        turn: u64,
        /// `context data`, `stored request`…
        what: &'static str,
    },
    #[error("session {0} already exists")]
    SessionExists(SessionId),
    #[error("{field} is not valid: {reason}")]
    Invalid {
        /// The field's name in the request.
        field: String,
        /// The problem, with the allowed range.
        reason: String,
    },
    #[error(transparent)]
    InvalidName(#[from] InvalidName),
    /// A configured limit is exceeded.
    #[error("{what} is {size}; the limit {limit} is {allowed}")]
    OverLimit {
        what: String,
        size: u64,
        /// The limit's name in configuration.
        limit: &'static str,
        allowed: u64,
    },
    /// The required pieces do not fit the model's window.
    #[error("the message and what must go with it take {needed} tokens; the budget is {budget}")]
    OverBudget {
        /// Tokens of the required pieces.
        needed: u32,
        budget: u32,
    },
    #[error("{what} is at version {current}, not {given}")]
    VersionConflict {
        /// The session or preset.
        what: String,
        given: u64,
        current: u64,
    },
    /// Other writers won the race too many times.
    #[error("session {session} was changed by others during each of {attempts} attempts to write")]
    Contended { session: SessionId, attempts: usize },
    #[error("the idempotency key {key} was used for another request")]
    KeyReused { key: String },
    /// A request with the same idempotency key is in progress.
    #[error("the request with the idempotency key {key} is still in progress")]
    UnderWay { key: String },
    /// The process ended before the outcome of the call was stored.
    #[error("the call with the idempotency key {key} was started, but its outcome is unknown")]
    OutcomeUnknown { key: String },
    /// No such call is waiting for approval.
    #[error("session {session} has no call {call} waiting for approval")]
    NoApproval {
        session: SessionId,
        /// The call's id.
        call: String,
    },
    #[error("session {session} cannot be shared: {reason}")]
    NotShareable { session: SessionId, reason: &'static str },
    /// The link is not valid. The message does not say why, so that it cannot be probed.
    #[error("the link is not valid: it is incomplete, has expired or was revoked")]
    NoShare,
    /// The session was archived or has expired.
    #[error("session {session} is {state}")]
    Inactive {
        session: SessionId,
        /// `deleted` or `expired`.
        state: &'static str,
    },
    #[error("this credential may not {action}")]
    Forbidden { action: Action },
    #[error("there is no agent {name}")]
    NoAgent {
        name: AgentName,
        /// Existing agents.
        known: Vec<String>,
    },
    /// The tool's current definition is not approved.
    #[error("tool {tool} may not run: {reason}")]
    ToolNotApproved {
        /// `server:name`.
        tool: String,
        reason: String,
    },
    /// A model, tool or embedder failed.
    #[error(transparent)]
    Upstream(#[from] UpstreamError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Stored data cannot be decoded.
    #[error("{what} cannot be read: {reason}")]
    Unreadable {
        /// The thread or entry.
        what: String,
        reason: String,
    },
}

/// The class of an error, by what a caller can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Absent, or not visible to this caller.
    Missing,
    Invalid,
    TooLarge,
    Forbidden,
    /// Somebody else changed it first.
    Conflict,
    /// The idempotency key was used for another request.
    KeyMismatch,
    /// A model, tool or embedder failed.
    Upstream,
    /// The store cannot be reached.
    Unavailable,
    /// A bug, or damaged data.
    Internal,
}

impl Error {
    pub fn invalid(field: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Invalid { field: field.into(), reason: reason.into() }
    }

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
                StoreError::Unavailable { .. } | StoreError::Full { .. } => Fault::Unavailable,
                StoreError::Damaged { .. } | StoreError::Refused { .. } => Fault::Internal,
            },
            Self::Unreadable { .. } => Fault::Internal,
        }
    }

    /// A name of the error that never changes.
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
                StoreError::Full { .. } => "store_full",
            },
            Self::Unreadable { .. } => "unreadable",
        }
    }

    /// What the caller can try.
    pub fn hint(&self) -> String {
        match self {
            Self::NoSession(_) => "list the sessions, or create one".into(),
            Self::NoTurn { turns, .. } if *turns == 0 => "the session has no turns yet".into(),
            Self::NoTurn { turns, .. } => format!("turns count from 1 to {turns}"),
            Self::Missing { kind: "memory", .. } => "list the memories, or search for it".into(),
            Self::Missing { known, .. } | Self::NoAgent { known, .. } => listed(known),
            Self::NotKept { .. } => {
                "a turn has it if a model or the offline form answered here, or if it was recorded with the receipt's id: \
                 pass the id that prepare returned as receipt; erasing something that it shows removes it"
                    .into()
            }
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
                "check whether it took effect; if not, repeat the call with a new key".into()
            }
            Self::NoApproval { .. } => "it was answered, has expired, or never existed".into(),
            Self::Inactive { .. } => {
                "restore it by PATCH with active: true, which extends it, too".into()
            }
            Self::NotShareable { .. } => {
                "private sessions and sessions without turns cannot be shared".into()
            }
            Self::NoShare => "ask the sender for a new one".into(),
            Self::Forbidden { .. } => "use an API key or token with that scope".into(),
            Self::ToolNotApproved { .. } => "review the definition, then approve the tool".into(),
            Self::Upstream(_) => "what was said is kept; try again".into(),
            Self::Store(StoreError::Refused { hint, .. }) => hint.clone(),
            Self::Store(StoreError::Unavailable { .. }) => {
                "try again when the store is available".into()
            }
            Self::Store(StoreError::Full { .. }) => {
                "make room on the disk; reading works, and erasing makes room in the store".into()
            }
            Self::Store(StoreError::Damaged { .. }) => {
                "run throughline check to see what is damaged, then throughline repair".into()
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

pub type Result<T, E = Error> = std::result::Result<T, E>;
