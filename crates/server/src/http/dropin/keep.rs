//! What a handed-on request leaves: the span of the call, and with a session a turn.
//!
//! An answer that ends in tool calls is not yet an exchange: it is kept when the client comes back with
//! the results and the model has said its last word.
//!
//! Invariant: one request leaves at most one turn, and a failure to keep it does not break the answer.

use serde_json::Value;
use throughline_engine::model::StopReason;
use throughline_engine::session::head::ClientRound;
use throughline_engine::session::record::{CallRecord, TurnError, TurnStatus};
use throughline_engine::trace;
use throughline_engine::turn::{DropInTurn, Exchange};
use throughline_upstream::model::parsed_answer::ParsedAnswer;
use tracing::Span;

/// The largest conversation up to a reply that ends in calls, in bytes, that is kept for a client which only names it.
const ROUND_BYTES_MAX: usize = 1024 * 1024;

/// What is needed to keep an exchange.
pub struct Keeping {
    /// The turn.
    pub turn: DropInTurn,
    /// Calls that the client ran since its message.
    pub calls: Vec<CallRecord>,
    /// `provider/model`.
    pub model: String,
    /// What a reply that ends in calls is kept with, for a client that will only name it: its id, and the items that
    /// led to it.
    pub round: Option<(String, Vec<Value>)>,
}

/// What a request leaves when its answer has ended.
pub struct TurnToKeep {
    /// The call of the provider's model, for a collector.
    pub call: Span,
    /// What to keep of it; nothing without a session, and once it was kept.
    pub keeping: Option<Keeping>,
}

impl TurnToKeep {
    /// The remains of a request that is no model's call.
    pub fn none() -> Self {
        Self { call: Span::none(), keeping: None }
    }

    /// Tells of the ending, and keeps what was said. Once: later endings are those of the connection.
    pub async fn end(&mut self, ending: Ending) {
        let call = std::mem::replace(&mut self.call, Span::none());
        let outcome = outcome(ending);
        if let Some(outcome) = &outcome {
            outcome.tell(&call);
        }
        // The call is over; keeping it is another matter.
        drop(call);
        if let (Some(keeping), Some(outcome)) = (self.keeping.take(), outcome) {
            keeping.keep(outcome).await;
        }
    }
}

/// How the way back ended.
pub enum Ending {
    /// The answer went on without being looked at.
    Passed,
    /// The answer is whole, or at least all that the provider sent.
    Over(ParsedAnswer),
    /// The client went away.
    Left(ParsedAnswer),
    /// The connection to the provider broke.
    Broke(ParsedAnswer, String),
    /// The provider refused.
    Refused(TurnError),
}

/// What an answer came to.
struct Outcome {
    parsed: ParsedAnswer,
    status: TurnStatus,
    error: Option<TurnError>,
}

impl Outcome {
    fn tell(&self, call: &Span) {
        let ended = match &self.error {
            Some(error) => Err(error.code.as_str()),
            None => Ok(self.parsed.stop),
        };
        trace::model_ended(call, self.parsed.usage, ended);
    }

    /// An answer that ends in calls is not an exchange before the client has run them.
    fn waits_for_tools(&self) -> bool {
        self.parsed.stop == Some(StopReason::ToolUse) && self.parsed.calls > 0
    }
}

impl Keeping {
    /// Keeps what was said, if it is an exchange.
    async fn keep(self, outcome: Outcome) {
        let session = self.turn.session().clone();
        if outcome.waits_for_tools() {
            let round = self.round.and_then(|(id, input)| round(id, input, outcome.parsed.items));
            if let Err(error) = self.turn.wait_for_tools(round).await {
                tracing::error!(session.id = %session, %error, "calls under way could not be kept");
            }
            return;
        }
        let Outcome { parsed, status, error } = outcome;
        let (calls, model, usage) = (self.calls, self.model, parsed.usage);
        let exchange = Exchange { reply: parsed.text, calls, status, error, model, usage };
        if let Err(error) = self.turn.commit(exchange).await {
            tracing::error!(session.id = %session, %error, "an exchange could not be kept");
        }
    }
}

/// What a client has to send again behind a reply that ends in calls; nothing where it is too large to be kept.
fn round(reply: String, mut items: Vec<Value>, output: Vec<Value>) -> Option<ClientRound> {
    items.extend(output);
    let bytes: usize = items.iter().map(|item| item.to_string().len()).sum();
    (bytes <= ROUND_BYTES_MAX).then_some(ClientRound { reply, items })
}

/// What an answer came to; nothing where it was not looked at.
fn outcome(ending: Ending) -> Option<Outcome> {
    let failed = |message: String| TurnError { code: "upstream_failed".into(), message };
    let whole = |parsed, status| Outcome { parsed, status, error: None };
    Some(match ending {
        Ending::Passed => return None,
        Ending::Refused(error) => Outcome {
            parsed: ParsedAnswer::default(),
            status: TurnStatus::Failed,
            error: Some(error),
        },
        Ending::Left(parsed) => whole(parsed, TurnStatus::Partial),
        Ending::Broke(parsed, why) => broken(parsed, failed(why)),
        Ending::Over(parsed) if parsed.stop.is_some() => whole(parsed, TurnStatus::Complete),
        Ending::Over(parsed) => {
            let why = parsed.problem.clone();
            broken(parsed, failed(why.unwrap_or_else(|| "the answer has no end".into())))
        }
    })
}

fn broken(parsed: ParsedAnswer, error: TurnError) -> Outcome {
    let status = if parsed.text.is_empty() { TurnStatus::Failed } else { TurnStatus::Partial };
    Outcome { parsed, status, error: Some(error) }
}
