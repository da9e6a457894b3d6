//! A turn that waits for approval.
//!
//! The receipt of the request and its texts are stored here, and the turn continues with the same request when
//! the calls are decided, unless something that it showed was erased. Only then does it enter the log.
//!
//! Invariant: at most one turn of a session waits; a new message ends the wait as a refusal.

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
use super::erased_words::ErasedWords;
use super::record::{CallRecord, Stage, TurnKind};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PendingTurn {
    /// When it paused.
    pub at: Timestamp,
    pub expires_at: Timestamp,
    pub kind: TurnKind,
    pub message: String,
    pub receipt: Receipt,
    /// Texts that the receipt refers to.
    pub contents: BTreeMap<ContentHash, String>,
    #[serde(default)]
    pub noticed: Noticed,
    /// Calls made so far.
    #[serde(default)]
    pub calls: Vec<CallRecord>,
    /// Waiting calls, and decided ones of the same round.
    pub awaited: Vec<AwaitedCall>,
    /// What the model said so far.
    #[serde(default)]
    pub said: String,
    /// Where its time went until it paused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<Stage>,
    /// The server process that resumed it once all was decided, and until when that is assumed alive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumed: Option<(Uuid, Timestamp)>,
    /// The request's idempotency key and body, hashed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<(ContentHash, ContentHash)>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AwaitedCall {
    pub id: String,
    #[serde(flatten)]
    pub tool: ToolName,
    pub arguments: Value,
    pub reason: String,
    /// Whether it can be allowed for the rest of the session: no rule requires approval each time.
    #[serde(default)]
    pub session_scope: bool,
    /// The round of the turn.
    pub round: u32,
    /// What the model said before it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub said_before: String,
    /// The decision, once made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved: Option<bool>,
}

impl PendingTurn {
    pub fn request_key(&self) -> Option<RequestKey> {
        let (key, body) = self.key?;
        Some(RequestKey { shown: String::new(), key, body })
    }

    /// Withdraws the calls with a value that only erased turns said: nobody can decide about them any more. What the
    /// model said of those turns goes, too. If no other call waits, the wait is over.
    pub(super) fn withdraw(&mut self, reason: &str, erased: &ErasedWords) {
        let said = self.awaited.iter_mut().map(|call| &mut call.said_before);
        said.chain([&mut self.said]).filter(|said| erased.are_in(said)).for_each(String::clear);
        for call in self.awaited.iter_mut().filter(|call| erased.are_in_values(&call.arguments)) {
            call.arguments = Value::Object(Default::default());
            reason.clone_into(&mut call.reason);
            call.approved = Some(false);
        }
        if self.resumed.is_none() && self.undecided().next().is_none() {
            self.expires_at = self.at;
        }
    }

    pub fn undecided(&self) -> impl Iterator<Item = &AwaitedCall> {
        self.awaited.iter().filter(|call| call.approved.is_none())
    }
}
