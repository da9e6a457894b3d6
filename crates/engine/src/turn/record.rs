//! Records exchanges of an application with its own model.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::draft::TurnDraft;
use super::{Pipeline, ReceiptId, Recorded, TurnStart, checks};
use crate::access::Caller;
use crate::error::Result;
use crate::id::SessionId;
use crate::notice;
use crate::reply::Answer;
use crate::request::AssembledRequest;
use crate::session::LoadedSession;
use crate::session::apply::RequestKey;
use crate::session::record::{CallRecord, ReplyForm, TurnError, TurnKind, TurnStatus};

#[derive(Debug, Clone, Default)]
pub struct RecordedTurn {
    pub message: String,
    pub reply: String,
    /// Now if absent.
    pub at: Option<Timestamp>,
    pub calls: Vec<CallRecord>,
    pub error: Option<TurnError>,
    /// Arbitrary data of the application.
    pub metadata: Option<Value>,
    /// The id of the receipt that [`Pipeline::prepare`] made for it.
    pub receipt: Option<String>,
    /// The version that the session must have.
    pub expected: Option<u64>,
    pub key: Option<RequestKey>,
}

impl Pipeline {
    /// Records an exchange. Also returns whether the receipt it named is stored with it.
    pub async fn record(
        &self,
        caller: &Caller,
        id: &SessionId,
        exchange: RecordedTurn,
    ) -> Result<(Recorded, Option<bool>)> {
        let RecordedTurn { message, reply, calls, error, metadata, .. } = exchange;
        checks::message(&message, &self.limits)?;
        checks::recorded(&reply, &calls, metadata.as_ref(), &self.limits)?;
        let session = self.sessions.load(&caller.session_key(id)).await?;
        let prepared = match &exchange.receipt {
            Some(id) => self.prepared(&session, &id.as_str().into(), (&message, exchange.at)).await,
            None => None,
        };
        let start = TurnStart {
            kind: TurnKind::Recorded,
            lent: None,
            with_tools: false,
            cancel: CancellationToken::new(),
        };
        let turn = self.load(session, start).await?;
        let known = self.memory.known(&self.sessions, &turn.session).await?;
        let draft = TurnDraft {
            kind: TurnKind::Recorded,
            at: exchange.at,
            understanding: notice::read(&turn.session, &message, known, &self.packs),
            message,
            receipt: prepared.as_ref().map(|prepared| prepared.receipt.clone()),
            sent: prepared.as_ref().map(|prepared| prepared.sent.clone()),
            summary: prepared.as_ref().and_then(|prepared| prepared.summary.clone()),
            contents: prepared.as_ref().map(|p| p.contents.clone()).unwrap_or_default(),
            client_body: None,
            client_reply: None,
            metadata,
            took_ms: None,
            beginning: None,
            id: turn.id,
            ends_pause: None,
            withheld: false,
            offered_tools: false,
        };
        let answer = Answer {
            text: reply,
            status: if error.is_some() { TurnStatus::Failed } else { TurnStatus::Complete },
            error,
            form: ReplyForm::Caller,
            calls,
            ..Answer::default()
        };
        let (key, expected) = (exchange.key.as_ref(), exchange.expected);
        let recorded = self.commit(caller, &turn, draft, answer, key, expected).await?;
        let kept = match &exchange.receipt {
            None => None,
            Some(_) if recorded.repeated() => {
                let record = self.stored_turn(&turn.session, recorded.turn).await?;
                Some(record.receipt.is_some())
            }
            Some(_) => Some(prepared.is_some()),
        };
        Ok((recorded, kept))
    }

    /// The request of a receipt. One that this copy does not have is prepared again.
    async fn prepared(
        &self,
        session: &LoadedSession,
        id: &ReceiptId,
        (message, at): (&str, Option<Timestamp>),
    ) -> Option<Arc<AssembledRequest>> {
        if let Some(prepared) = self.prepared.get(session, id) {
            return Some(prepared);
        }
        for input in id.inputs(message, at) {
            let again = Box::pin(self.prepare(session.clone(), &input)).await;
            if let Ok(again) = again
                && again.receipt.request_hash.as_str() == id.hash()
            {
                return Some(again);
            }
        }
        None
    }
}
