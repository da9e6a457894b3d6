//! Calls that may change something, noted before they are made.
//!
//! A process can end while a call is under way. The note says that it was begun; the turn's record, which takes
//! the note away, says what came of it. A note that is left over is a call whose outcome nobody knows.
//!
//! Invariant: a call that may change something is made only after its note is stored.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use super::apply::RequestKey;
use super::record::{CallRecord, TurnError, TurnKind, TurnRecord, TurnStatus};
use crate::hash::ContentHash;
use crate::tokens;
use crate::tool::ToolName;

/// The code of a turn whose calls have no known outcome.
pub const OUTCOME_UNKNOWN: &str = "outcome_unknown";

/// A turn with calls that were begun.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UnsettledTurn {
    /// Names the turn while it has no number.
    pub id: Uuid,
    /// Which running server makes the calls.
    pub owner: Uuid,
    /// After this, it is taken to have ended.
    pub until: Timestamp,
    /// What made the turn.
    pub kind: TurnKind,
    /// What the user said.
    pub message: String,
    /// The request's idempotency key and body, hashed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<(ContentHash, ContentHash)>,
    pub calls: Vec<UnsettledCall>,
}

/// A call that was begun.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UnsettledCall {
    /// The call's id.
    pub id: String,
    #[serde(flatten)]
    pub tool: ToolName,
    pub arguments: Value,
    /// Whether the server says that the same call twice does no more than once.
    #[serde(default)]
    pub idempotent: bool,
    /// Which round of the turn.
    pub round: u32,
}

impl UnsettledTurn {
    /// Whether the server that made the calls has ended.
    pub fn is_abandoned(&self, here: Uuid, alone: bool, now: Timestamp) -> bool {
        self.until <= now || (alone && self.owner != here)
    }

    /// Whether the request can be made again: every call does no more twice than once.
    pub fn is_repeatable(&self) -> bool {
        self.calls.iter().all(|call| call.idempotent)
    }

    /// The key of the request that led to it.
    pub fn request_key(&self) -> Option<RequestKey> {
        let (key, body) = self.key.clone()?;
        Some(RequestKey { shown: String::new(), key, body })
    }

    /// The record of a turn that was never finished.
    pub fn record(&self, now: Timestamp) -> TurnRecord {
        let why = "the server stopped while the call was under way; whether it was carried out is not known";
        let calls = self.calls.iter().map(|call| CallRecord {
            id: call.id.clone(),
            tool: call.tool.clone(),
            arguments: call.arguments.clone(),
            error: Some(why.into()),
            round: call.round,
            outcome_unknown: true,
            ..CallRecord::default()
        });
        let named: Vec<String> = self.calls.iter().map(|call| call.tool.to_string()).collect();
        let mut record = TurnRecord {
            kind: self.kind,
            message: self.message.clone(),
            status: TurnStatus::Failed,
            error: Some(TurnError {
                code: OUTCOME_UNKNOWN.into(),
                message: format!(
                    "outcome unknown: the server stopped while {} was under way",
                    named.join(", ")
                ),
            }),
            calls: calls.collect(),
            ..TurnRecord::erased(0, now)
        };
        record.tokens.message = tokens::count(&record.message);
        record
    }
}
