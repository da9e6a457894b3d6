//! Runs a turn as its own task, and cancels it when the client disconnects.

use opentelemetry::context::FutureExt as _;
use throughline_engine::access::Caller;
use throughline_engine::error::Result;
use throughline_engine::events::Events;
use throughline_engine::id::SessionId;
use throughline_engine::turn::{Approval, TurnOutcome, TurnRequest};
use tokio::task::JoinHandle;
use tokio_util::sync::DropGuard;

use crate::http::App;
use crate::http::problem::Problem;

/// A running turn. Dropping it cancels the turn; the reply so far is kept.
pub(crate) struct Running {
    task: JoinHandle<Result<TurnOutcome>>,
    _stop_when_dropped: DropGuard,
}

/// Starts answering a message.
pub(crate) fn converse(app: &App, caller: Caller, request: TurnRequest, events: Events) -> Running {
    let cancel = app.giving_up().child_token();
    let guard = cancel.clone().drop_guard();
    let app = app.clone();
    let tracker = app.turns().clone();
    let turn = async move { app.engine().converse(&caller, request, events, cancel).await };
    let task = tracker.spawn(turn.with_current_context());
    Running { task, _stop_when_dropped: guard }
}

/// Decides a pending call, and continues its turn.
pub(crate) fn decide(
    app: &App,
    caller: Caller,
    (session, call): (SessionId, String),
    approval: Approval,
    events: Events,
) -> Running {
    let cancel = app.giving_up().child_token();
    let guard = cancel.clone().drop_guard();
    let app = app.clone();
    let tracker = app.turns().clone();
    let turn = async move {
        app.engine().decide(&caller, (&session, &call), approval, events, cancel).await
    };
    let task = tracker.spawn(turn.with_current_context());
    Running { task, _stop_when_dropped: guard }
}

impl Running {
    /// Waits for the outcome.
    pub(crate) async fn outcome(self) -> Result<TurnOutcome, Problem> {
        match self.task.await {
            Ok(outcome) => Ok(outcome?),
            Err(_) => Err(crate::http::problem::internal()),
        }
    }
}
