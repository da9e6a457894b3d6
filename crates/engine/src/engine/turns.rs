//! Turns: asked for, prepared, recorded, decided.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::access::{Action, Caller, authorize};
use crate::creation::NewSession;
use crate::error::Result;
use crate::events::Events;
use crate::id::SessionId;
use crate::receipt::Receipt;
use crate::request::{Addition, AssembledRequest, ClientRequest, TurnInput};
use crate::session::apply::RequestKey;
use crate::turn::{
    self, Approval, DropIn, ForwardedRequest, Recorded, RecordedTurn, TurnOutcome, TurnRequest,
};

use super::Engine;

impl Engine {
    /// Answers a message.
    pub async fn converse(
        &self,
        caller: &Caller,
        mut request: TurnRequest,
        events: Events,
        cancel: CancellationToken,
    ) -> Result<TurnOutcome> {
        authorize(caller, Action::Write)?;
        // What is to be forgotten is gone before the message is answered.
        request.input.forgetting = self.forget_as_told(caller, &request).await?;
        self.turns.converse(caller, request, events, cancel).await
    }

    /// Decides a call that waits, and goes on when all are decided.
    pub async fn decide(
        &self,
        caller: &Caller,
        call: (&SessionId, &str),
        approval: impl Into<Approval>,
        events: Events,
        cancel: CancellationToken,
    ) -> Result<TurnOutcome> {
        authorize(caller, Action::Write)?;
        self.turns.decide(caller, call, approval.into(), events, cancel).await
    }

    /// The request for an application that calls its own model. Changes nothing.
    pub async fn prepare(
        &self,
        caller: &Caller,
        id: &SessionId,
        input: &TurnInput,
    ) -> Result<Arc<AssembledRequest>> {
        let session = self.session(caller, id).await?;
        self.turns.prepare(session, input).await
    }

    /// Records an exchange of such an application. Also says whether its receipt is kept with it, where it
    /// named one.
    pub async fn record(
        &self,
        caller: &Caller,
        id: &SessionId,
        exchange: RecordedTurn,
    ) -> Result<(Recorded, Option<bool>)> {
        authorize(caller, Action::Write)?;
        self.turns.record(caller, id, exchange).await
    }

    /// Begins a turn of an unchanged model client; the session is created when it does not exist.
    pub async fn begin_drop_in(
        &self,
        caller: &Caller,
        session: NewSession,
        request: &ClientRequest,
        key: Option<RequestKey>,
    ) -> Result<DropIn> {
        authorize(caller, Action::Write)?;
        self.turns.begin_drop_in(caller, session, request, key).await
    }

    /// What the user's memory adds to a request of an unchanged model client that names no session. Keeps nothing.
    pub async fn remembered_for(
        &self,
        caller: &Caller,
        request: &ClientRequest,
    ) -> Result<(Addition, Vec<Receipt>)> {
        authorize(caller, Action::Read)?;
        self.turns.remembered_for(caller, request).await
    }

    /// The request that a turn handed on, as it was put together; `None` where the turn is another.
    pub async fn handed_on(
        &self,
        caller: &Caller,
        id: &SessionId,
        turn: u64,
    ) -> Result<Option<ForwardedRequest>> {
        let (session, record) = self.turn(caller, id, turn).await?;
        turn::handed_on(&self.sessions, &session, &record).await
    }
}
