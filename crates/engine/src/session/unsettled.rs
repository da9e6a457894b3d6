//! Notes calls of a turn that may change something before they are made.
//!
//! A process can end during a call. The note says that the call was begun; the turn's record, which replaces the
//! note, has the result. A leftover note is a call with an unknown outcome.
//!
//! Invariant: a call of a turn that may change something is made only after its note is stored.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use super::apply::RequestKey;
use super::record::{CallRecord, TurnError, TurnKind, TurnRecord, TurnStatus};
use crate::hash::ContentHash;
use crate::tokens;
use crate::tool::ToolName;

/// The error code of a turn whose calls have no known outcome.
pub const OUTCOME_UNKNOWN: &str = "outcome_unknown";

/// A turn with calls that were begun.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UnsettledTurn {
    /// Identifies the turn before it has a number.
    pub id: Uuid,
    /// The server process that makes the calls.
    pub owner: Uuid,
    /// After this time it is assumed to have ended.
    pub until: Timestamp,
    pub kind: TurnKind,
    pub message: String,
    /// The request's idempotency key and body, hashed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<(ContentHash, ContentHash)>,
    pub calls: Vec<UnsettledCall>,
}

/// A call that was begun.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UnsettledCall {
    pub id: String,
    #[serde(flatten)]
    pub tool: ToolName,
    pub arguments: Value,
    /// Whether the server says that repeating the call has no further effect.
    #[serde(default)]
    pub idempotent: bool,
    /// The round of the turn.
    pub round: u32,
}

impl UnsettledTurn {
    /// Whether the request can be repeated: all its calls are idempotent.
    pub fn is_repeatable(&self) -> bool {
        self.calls.iter().all(|call| call.idempotent)
    }

    pub fn request_key(&self) -> Option<RequestKey> {
        let (key, body) = self.key?;
        Some(RequestKey { shown: String::new(), key, body })
    }

    /// The record of a turn that was never finished.
    pub fn record(&self, now: Timestamp) -> TurnRecord {
        let why =
            "the server stopped during the call; it is unknown whether the call was carried out";
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
            error: Some(TurnError::new(
                OUTCOME_UNKNOWN,
                format!(
                    "outcome unknown: the server stopped during a call to {}",
                    named.join(", ")
                ),
            )),
            calls: calls.collect(),
            ..TurnRecord::erased(0, now)
        };
        record.tokens.message = tokens::count(&record.message);
        record
    }
}
