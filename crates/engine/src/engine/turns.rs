//! Turns: `converse`, `prepare`, `record`, `decide` and drop-in.

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
    pub async fn converse(
        &self,
        caller: &Caller,
        mut request: TurnRequest,
        events: Events,
        cancel: CancellationToken,
    ) -> Result<TurnOutcome> {
        authorize(caller, Action::Write)?;
        // Forget before the message is answered.
        request.input.forgetting = self.forget_as_told(caller, &request).await?;
        let done = request.input.has_forgotten();
        let outcome = self.turns.converse(caller, request, events, cancel).await?;
        if done && let TurnOutcome::Finished { session, record, .. } = &outcome {
            self.withhold_request(session, record.turn).await?;
        }
        Ok(outcome)
    }

    /// Decides a waiting call and resumes the turn once all are decided.
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

    /// Assembles a request for an application that calls its own model. Changes nothing.
    pub async fn prepare(
        &self,
        caller: &Caller,
        id: &SessionId,
        input: &TurnInput,
    ) -> Result<Arc<AssembledRequest>> {
        let session = self.session(caller, id).await?;
        self.turns.prepare(session, input).await
    }

    /// Records an exchange of such an application. Also returns whether the receipt it named is stored with it.
    pub async fn record(
        &self,
        caller: &Caller,
        id: &SessionId,
        exchange: RecordedTurn,
    ) -> Result<(Recorded, Option<bool>)> {
        authorize(caller, Action::Write)?;
        self.turns.record(caller, id, exchange).await
    }

    /// Begins a turn of a drop-in client; creates the session if it does not exist.
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

    /// What the user's memory adds to a drop-in request without a session. Stores nothing.
    pub async fn remembered_for(
        &self,
        caller: &Caller,
        request: &ClientRequest,
    ) -> Result<(Addition, Vec<Receipt>)> {
        authorize(caller, Action::Read)?;
        self.turns.remembered_for(caller, request).await
    }

    /// The request that a turn forwarded, as assembled; `None` if the turn is of another kind.
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
