//! The turn that a handed-on request leaves.
//!
//! An answer that ends in tool calls is not yet an exchange: it is kept when the client comes back with
//! the results and the model has said its last word.
//!
//! Invariant: one request leaves at most one turn, and a failure to keep it does not break the answer.

use std::time::Instant;

use throughline_engine::access::Caller;
use throughline_engine::engine::{Addition, Exchange};
use throughline_engine::id::SessionId;
use throughline_engine::model::StopReason;
use throughline_engine::session::apply::RequestKey;
use throughline_engine::session::record::{CallRecord, TurnError, TurnStatus};
use throughline_upstream::model::heard::Heard;

use crate::http::App;

/// What is needed to keep an exchange.
pub struct Keeping {
    /// Whose session.
    pub caller: Caller,
    /// Which.
    pub session: SessionId,
    /// What was added.
    pub addition: Addition,
    /// The user's message.
    pub message: String,
    /// Calls that the client ran since.
    pub calls: Vec<CallRecord>,
    /// `provider/model`.
    pub model: String,
    /// The idempotency key.
    pub key: Option<RequestKey>,
    /// When the request came.
    pub started: Instant,
}

/// How the way back ended.
pub enum Ending {
    /// The answer is whole, or at least all that the provider sent.
    Over(Heard),
    /// The client went away.
    Left(Heard),
    /// The connection to the provider broke.
    Broke(Heard, String),
    /// The provider refused.
    Refused(TurnError),
}

impl Keeping {
    /// Keeps what was said, if it is an exchange.
    pub async fn keep(self, app: &App, ending: Ending) {
        let Some((heard, status, error)) = outcome(ending) else { return };
        let exchange = Exchange {
            message: self.message,
            reply: heard.text,
            calls: self.calls,
            status,
            error,
            model: self.model,
            usage: heard.usage,
            took_ms: u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX),
            key: self.key,
        };
        let engine = app.engine();
        let kept = engine.keep_exchange(&self.caller, &self.session, self.addition, exchange).await;
        if let Err(error) = kept {
            tracing::error!(session.id = %self.session, %error, "an exchange could not be kept");
        }
    }
}

/// What to keep; nothing when the model waits for tool results.
fn outcome(ending: Ending) -> Option<(Heard, TurnStatus, Option<TurnError>)> {
    let failed = |message: String| TurnError { code: "upstream_failed".into(), message };
    match ending {
        Ending::Refused(error) => Some((Heard::default(), TurnStatus::Failed, Some(error))),
        Ending::Left(heard) => Some((heard, TurnStatus::Partial, None)),
        Ending::Broke(heard, why) => Some(broken(heard, failed(why))),
        Ending::Over(heard) => match heard.stop {
            Some(StopReason::ToolUse) if heard.calls > 0 => None,
            Some(_) => Some((heard, TurnStatus::Complete, None)),
            None => {
                let why = heard.problem.clone();
                Some(broken(heard, failed(why.unwrap_or_else(|| "the answer has no end".into()))))
            }
        },
    }
}

fn broken(heard: Heard, error: TurnError) -> (Heard, TurnStatus, Option<TurnError>) {
    let status = if heard.text.is_empty() { TurnStatus::Failed } else { TurnStatus::Partial };
    (heard, status, Some(error))
}
