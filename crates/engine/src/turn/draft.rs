//! A turn that is not in the log yet, and its [`TurnRecord`]. Imports, and turns that a server left unfinished,
//! make their own records.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use uuid::Uuid;

use super::Turn;
use super::stages::{self, Beginning};
use crate::hash::ContentHash;
use crate::history;
use crate::notice::{self, Understanding};
use crate::piece::SentPiece;
use crate::receipt::Receipt;
use crate::reply::Answer;
use crate::request::AssembledRequest;
use crate::session::apply::RequestKey;
use crate::session::client_body::ClientBody;
use crate::session::head::Summary;
use crate::session::pending::{AwaitedCall, PendingTurn};
use crate::session::record::{ReplyForm, SaidTokens, Stage, TurnKind, TurnRecord};
use crate::tokens;
use crate::tool_search;

/// A message and what is known of it, before the reply.
pub(super) struct TurnDraft {
    pub kind: TurnKind,
    /// When it was said, if earlier than now.
    pub at: Option<Timestamp>,
    pub message: String,
    pub understanding: Understanding,
    pub receipt: Option<Receipt>,
    /// Every piece of the request.
    pub sent: Option<Arc<Vec<Arc<SentPiece>>>>,
    /// The summary made by the request.
    pub summary: Option<Summary>,
    /// Texts that the receipt refers to and no record stores yet.
    pub contents: BTreeMap<ContentHash, String>,
    pub client_body: Option<ClientBody>,
    /// How that client names the reply.
    pub client_reply: Option<String>,
    pub metadata: Option<Value>,
    pub took_ms: Option<u64>,
    /// What was measured before the reply, if the turn is made here.
    pub beginning: Option<Beginning>,
    /// Identifies the turn before it has a number.
    pub id: Uuid,
    /// When the pause began that this turn ends.
    pub ends_pause: Option<Timestamp>,
    pub offered_tools: bool,
    /// Whether it is withheld at once, because it asked to forget something.
    pub withheld: bool,
}

impl TurnDraft {
    /// The draft of a turn whose request was assembled here.
    pub(super) fn of(turn: &Turn, message: &str, assembled: AssembledRequest) -> Self {
        Self {
            kind: turn.kind,
            at: None,
            message: message.to_owned(),
            id: turn.id,
            ends_pause: None,
            withheld: false,
            offered_tools: !assembled.tools.is_empty(),
            understanding: assembled.understanding,
            receipt: Some(assembled.receipt),
            sent: Some(assembled.sent),
            summary: assembled.summary,
            contents: assembled.contents,
            client_body: None,
            client_reply: None,
            metadata: None,
            took_ms: u64::try_from(turn.started.elapsed().as_millis()).ok(),
            beginning: None,
        }
    }

    /// The draft of a paused turn whose request cannot be rebuilt.
    pub(super) fn paused(turn: &Turn, pending: &PendingTurn) -> Self {
        Self {
            kind: pending.kind,
            at: None,
            message: pending.message.clone(),
            id: turn.id,
            ends_pause: None,
            withheld: false,
            offered_tools: false,
            understanding: Understanding::default(),
            receipt: Some(pending.receipt.clone()),
            sent: None,
            summary: None,
            contents: pending.contents.clone(),
            client_body: None,
            client_reply: None,
            metadata: None,
            took_ms: u64::try_from(turn.started.elapsed().as_millis()).ok(),
            beginning: None,
        }
    }

    /// The record, which gets its number at commit, and what the message means.
    pub(super) fn record(mut self, answer: Answer, at: Timestamp) -> (TurnRecord, Understanding) {
        let spoke = matches!(answer.form, ReplyForm::Model { .. } | ReplyForm::Sampling { .. });
        let no_tool_called = self.offered_tools
            && spoke
            && answer.calls.iter().all(|call| tool_search::is_search(&call.tool));
        let stages = self.stages(&answer);
        self.understanding.forget_absent(&answer.absent);
        let mut record = TurnRecord {
            turn: 0,
            at,
            kind: self.kind,
            tokens: SaidTokens {
                message: tokens::count(&self.message),
                reply: tokens::count(&answer.text),
                calls: 0,
            },
            message: self.message,
            reply: answer.text,
            status: answer.status,
            error: answer.error,
            form: answer.form,
            calls: answer.calls,
            entities: notice::mentions(&self.understanding.noticed),
            usage: answer.usage,
            receipt: self.receipt.map(Receipt::stored),
            contents: self.contents,
            client_body: self.client_body,
            client_reply: self.client_reply,
            metadata: self.metadata,
            took_ms: self.took_ms,
            stages,
            no_tool_called,
        };
        let [calls, _] = history::outcome(&record);
        record.tokens.calls = tokens::count(&history::text_of(&record, calls));
        (record, self.understanding)
    }

    fn stages(&self, answer: &Answer) -> Vec<Stage> {
        let measured = self.beginning.as_ref().map(|beginning| stages::of(beginning, answer));
        measured.unwrap_or_default()
    }

    /// The pause of a turn; `None` if it has no request to continue with.
    pub(super) fn pending(
        self,
        answer: Answer,
        awaited: Vec<AwaitedCall>,
        key: Option<&RequestKey>,
        (at, seconds): (Timestamp, u64),
    ) -> Option<PendingTurn> {
        let seconds = i64::try_from(seconds).unwrap_or(i64::MAX);
        let stages = self.stages(&answer);
        Some(PendingTurn {
            at,
            expires_at: at + SignedDuration::from_secs(seconds),
            kind: self.kind,
            message: self.message,
            receipt: self.receipt?.stored(),
            contents: self.contents,
            noticed: self.understanding.noticed,
            calls: answer.calls,
            awaited,
            said: answer.text,
            stages,
            resumed: None,
            key: key.map(|key| (key.key, key.body)),
        })
    }
}
