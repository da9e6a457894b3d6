//! A turn that waits for somebody's approval.
//!
//! The request context is frozen: what was assembled is kept here as it is, and the turn goes on from it
//! when the calls are decided. It becomes history only then.
//!
//! Invariant: at most one turn of a session waits; a new message ends the waiting as a refusal.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::entity::Noticed;
use crate::hash::ContentHash;
use crate::receipt::Receipt;
use crate::tool::ToolName;

use super::apply::RequestKey;
use super::record::{CallRecord, TurnKind};

/// A paused turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PendingTurn {
    /// When it paused.
    pub at: Timestamp,
    /// When it is given up.
    pub expires_at: Timestamp,
    /// What made it.
    pub kind: TurnKind,
    /// What the user said.
    pub message: String,
    /// The frozen receipt.
    pub receipt: Receipt,
    /// Texts that the receipt names.
    pub contents: BTreeMap<ContentHash, String>,
    /// What was noticed in the message.
    #[serde(default)]
    pub noticed: Noticed,
    /// Calls made so far.
    #[serde(default)]
    pub calls: Vec<CallRecord>,
    /// Calls that wait, and those of the same round that were decided.
    pub awaited: Vec<AwaitedCall>,
    /// What the model said so far.
    #[serde(default)]
    pub said: String,
    /// Which running server goes on with it since all is decided, and until when that is believed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumed: Option<(Uuid, Timestamp)>,
    /// The request's idempotency key and body, hashed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<(ContentHash, ContentHash)>,
}

/// A call that needs approval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AwaitedCall {
    /// The call's id.
    pub id: String,
    #[serde(flatten)]
    pub tool: ToolName,
    pub arguments: Value,
    /// Why it needs approval.
    pub reason: String,
    /// Whether it can be allowed for the rest of the session: nobody wants to be asked each time.
    #[serde(default)]
    pub session_scope: bool,
    /// Which round of the turn asked for it.
    pub round: u32,
    /// What the model said before it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub said_before: String,
    /// The decision, once made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved: Option<bool>,
}

impl PendingTurn {
    /// The key of the request that led to it.
    pub fn request_key(&self) -> Option<RequestKey> {
        let (key, body) = self.key.clone()?;
        Some(RequestKey { shown: String::new(), key, body })
    }

    /// Calls that nobody has decided yet.
    pub fn undecided(&self) -> impl Iterator<Item = &AwaitedCall> {
        self.awaited.iter().filter(|call| call.approved.is_none())
    }
}
