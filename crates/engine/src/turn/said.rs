//! A message that was answered, and what the log or a pause keeps of it.

use std::time::Instant;

use jiff::SignedDuration;

use super::Way;
use crate::context::Context;
use crate::engine::Engine;
use crate::notice;
use crate::reply::{self, Answer};
use crate::session::apply::RequestKey;
use crate::session::pending::{AwaitedCall, PendingTurn};
use crate::session::record::{SaidTokens, TurnRecord};
use crate::tokens;

/// A message that was answered, on its way into the log.
pub(super) struct Said {
    pub message: String,
    pub way: Way,
    pub context: Context,
    pub started: Instant,
}

impl Said {
    pub fn record(self, answer: Answer, engine: &Engine) -> TurnRecord {
        let kind = self.way.kind();
        if let (Some(usage), reply::ReplyForm::Model { model }) = (answer.usage, &answer.form)
            && answer.calls.is_empty()
        {
            engine.factors.learn(
                model,
                self.context.receipt.budget.used_tokens,
                usage.input_tokens,
            );
        }
        TurnRecord {
            turn: 0,
            at: engine.now(),
            kind,
            tokens: SaidTokens {
                message: tokens::count(&self.message),
                reply: tokens::count(&answer.text),
            },
            message: self.message,
            reply: answer.text,
            status: answer.status,
            error: answer.error,
            form: answer.form,
            calls: answer.calls,
            entities: notice::mentions(&self.context.noticed),
            usage: answer.usage,
            receipt: Some(self.context.receipt),
            contents: self.context.contents,
            metadata: None,
            took_ms: u64::try_from(self.started.elapsed().as_millis()).ok(),
        }
    }

    pub fn pending(
        self,
        answer: Answer,
        awaited: Vec<AwaitedCall>,
        key: Option<RequestKey>,
        engine: &Engine,
    ) -> PendingTurn {
        let at = engine.now();
        let seconds = i64::try_from(engine.limits().approval_seconds_max).unwrap_or(i64::MAX);
        PendingTurn {
            at,
            expires_at: at + SignedDuration::from_secs(seconds),
            kind: self.way.kind(),
            message: self.message,
            receipt: self.context.receipt,
            contents: self.context.contents,
            noticed: self.context.noticed,
            calls: answer.calls,
            awaited,
            said: answer.text,
            key: key.map(|key| (key.key, key.body)),
        }
    }
}
