//! Running a turn so that it outlives a client that goes away, but does not go on without one.

use throughline_engine::access::Caller;
use throughline_engine::error::Result;
use throughline_engine::id::SessionId;
use throughline_engine::turn::{Events, TurnOutcome, TurnRequest};
use tokio::task::JoinHandle;
use tokio_util::sync::DropGuard;

use crate::http::App;
use crate::http::problem::Problem;

/// A turn under way. Dropping it asks the turn to stop; what was said so far is kept.
pub struct Running {
    task: JoinHandle<Result<TurnOutcome>>,
    _stop_when_dropped: DropGuard,
}

/// Answers a message.
pub fn converse(app: &App, caller: Caller, request: TurnRequest, events: Events) -> Running {
    let cancel = app.giving_up().child_token();
    let guard = cancel.clone().drop_guard();
    let app = app.clone();
    let tracker = app.turns().clone();
    let task = tracker.spawn(async move {
        let outcome = app.engine().converse(&caller, request, events, cancel).await;
        note(&app, &outcome);
        outcome
    });
    Running { task, _stop_when_dropped: guard }
}

/// Decides a call that waits, and goes on with its turn.
pub fn decide(
    app: &App,
    caller: Caller,
    (session, call): (SessionId, String),
    approve: bool,
    events: Events,
) -> Running {
    let cancel = app.giving_up().child_token();
    let guard = cancel.clone().drop_guard();
    let app = app.clone();
    let tracker = app.turns().clone();
    let task = tracker.spawn(async move {
        let decided = app.engine().decide(&caller, &session, &call, approve, events, cancel);
        let outcome = decided.await;
        note(&app, &outcome);
        outcome
    });
    Running { task, _stop_when_dropped: guard }
}

impl Running {
    /// What became of it.
    pub async fn outcome(self) -> Result<TurnOutcome, Problem> {
        match self.task.await {
            Ok(outcome) => Ok(outcome?),
            Err(_) => Err(crate::http::problem::internal()),
        }
    }
}

fn note(app: &App, outcome: &Result<TurnOutcome>) {
    if let Ok(TurnOutcome::Finished { record, repeated: false, .. }) = outcome
        && app.telemetry_enabled()
    {
        app.figures().note(record);
    }
}
