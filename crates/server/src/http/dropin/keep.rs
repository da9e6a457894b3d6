//! What a forwarded request leaves: the span of its call and, with a session, a turn.
//!
//! A reply that ends in tool calls is not yet a turn; it is stored when the client has returned the results and
//! the model has finished.
//!
//! Invariant: a request leaves at most one turn, and a failure to store it does not affect the response.

use serde_json::Value;
use throughline_engine::failure::UpstreamFault;
use throughline_engine::model::StopReason;
use throughline_engine::session::head::ClientRound;
use throughline_engine::session::record::{CallRecord, TurnError, TurnStatus};
use throughline_engine::trace;
use throughline_engine::turn::{DropInTurn, Exchange};
use throughline_upstream::model::parsed_answer::ParsedAnswer;
use tracing::Span;

/// Largest conversation, in bytes, that is stored for a client that only sends `previous_response_id`.
const ROUND_BYTES_MAX: usize = 1024 * 1024;

/// What is needed to store a turn.
pub(super) struct Keeping {
    /// The open turn.
    pub turn: DropInTurn,
    /// Calls that the client ran since its message.
    pub calls: Vec<CallRecord>,
    /// `provider/model`.
    pub model: String,
    /// For a reply that ends in calls: its id and the items that led to it, for a client that only refers to
    /// the id.
    pub round: Option<(String, Vec<Value>)>,
}

/// What a request leaves when its response has ended.
pub(super) struct TurnToKeep {
    /// Span of the model call.
    pub call: Span,
    /// The turn to store; `None` without a session, and once it is stored.
    pub keeping: Option<Keeping>,
}

impl TurnToKeep {
    /// For a request that is not a model call.
    pub(super) fn none() -> Self {
        Self { call: Span::none(), keeping: None }
    }

    /// Closes the span and stores the turn. Only the first call has an effect.
    pub(super) async fn end(&mut self, ending: Ending) {
        let call = std::mem::replace(&mut self.call, Span::none());
        let outcome = outcome(ending);
        if let Some(outcome) = &outcome {
            outcome.tell(&call);
        }
        // The call ends here; storing is not part of it.
        drop(call);
        if let (Some(keeping), Some(outcome)) = (self.keeping.take(), outcome) {
            keeping.keep(outcome).await;
        }
    }
}

/// How a response ended.
pub(super) enum Ending {
    /// Passed on without being parsed.
    Passed,
    /// The provider sent everything.
    Over(ParsedAnswer),
    /// The client disconnected.
    Left(ParsedAnswer),
    /// The connection to the provider failed.
    Broke(ParsedAnswer, UpstreamFault, String),
    /// The provider returned an error.
    Refused(TurnError),
}

/// Result of a response.
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

    /// A reply that ends in calls is not a turn until the client has run them.
    fn waits_for_tools(&self) -> bool {
        self.parsed.stop == Some(StopReason::ToolUse) && self.parsed.calls > 0
    }
}

impl Keeping {
    /// Stores the turn, if it is complete.
    async fn keep(self, outcome: Outcome) {
        let session = self.turn.session().clone();
        if outcome.waits_for_tools() {
            let (model, output) = (self.model, outcome.parsed.items);
            let round = self.round.and_then(|(id, input)| round(id, model, input, output));
            if let Err(error) = self.turn.wait_for_tools(round).await {
                tracing::error!(session.id = %session, %error, "cannot store pending tool calls");
            }
            return;
        }
        let Outcome { parsed, status, error } = outcome;
        let (calls, model, usage) = (self.calls, self.model, parsed.usage);
        let (reply, reply_id) = (parsed.text, self.round.map(|(id, _)| id));
        let exchange = Exchange { reply, reply_id, calls, status, error, model, usage };
        if let Err(error) = self.turn.commit(exchange).await {
            tracing::error!(session.id = %session, %error, "cannot store a turn");
        }
    }
}

/// What a client must send again after a reply that ends in calls; `None` if too large to store.
fn round(
    reply: String,
    model: String,
    mut items: Vec<Value>,
    output: Vec<Value>,
) -> Option<ClientRound> {
    let sent_items = items.len();
    items.extend(output);
    let bytes: usize = items.iter().map(|item| item.to_string().len()).sum();
    (bytes <= ROUND_BYTES_MAX).then_some(ClientRound { reply, items, sent_items, model })
}

/// Result of a response; `None` if it was not parsed.
fn outcome(ending: Ending) -> Option<Outcome> {
    let failed = |fault, why: String| TurnError::new("upstream_failed", why).caused_by(fault);
    let whole = |parsed, status| Outcome { parsed, status, error: None };
    Some(match ending {
        Ending::Passed => return None,
        Ending::Refused(error) => Outcome {
            parsed: ParsedAnswer::default(),
            status: TurnStatus::Failed,
            error: Some(error),
        },
        Ending::Left(parsed) => whole(parsed, TurnStatus::Partial),
        Ending::Broke(parsed, fault, why) => broken(parsed, failed(fault, why)),
        Ending::Over(parsed) if parsed.stop.is_some() => whole(parsed, TurnStatus::Complete),
        Ending::Over(parsed) => {
            let error = match parsed.problem.clone() {
                Some(why) => failed(UpstreamFault::Failed, why),
                None => failed(UpstreamFault::Malformed, "the answer has no end".into()),
            };
            broken(parsed, error)
        }
    })
}

fn broken(parsed: ParsedAnswer, error: TurnError) -> Outcome {
    let status = if parsed.text.is_empty() { TurnStatus::Failed } else { TurnStatus::Partial };
    Outcome { parsed, status, error: Some(error) }
}
