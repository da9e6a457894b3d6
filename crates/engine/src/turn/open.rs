//! The beginning of a turn: its session, and whether its request was answered already.

use super::{Pipeline, TurnOutcome, TurnRequest, checks, pause};
use crate::access::Caller;
use crate::creation::NewSession;
use crate::error::{Error, Result};
use crate::id::SessionId;
use crate::session::LoadedSession;
use crate::session::apply::RequestKey;
use crate::session::head::UnderWay;
use crate::session::sessions::Step;

pub(super) enum Opened {
    /// A session that accepts the turn.
    Ready(LoadedSession),
    /// The same request was made before: its turn, or the pause it led to.
    Over(TurnOutcome),
}

impl Pipeline {
    /// Opens the session of a request. Ends a waiting turn, and marks a request with a key as in progress.
    pub(super) async fn open(&self, caller: &Caller, request: &TurnRequest) -> Result<Opened> {
        let key = request.key.as_ref();
        let session = self.session_for(caller, request).await?;
        checks::active(&session.head, self.clock.now())?;
        if let Some(turn) = checks::answered(&session.head, key)? {
            return self.repeated(session, turn).await.map(Opened::Over);
        }
        let session = match self.unsettled_of_key(session, key).await? {
            Ok(outcome) => return Ok(Opened::Over(outcome)),
            Err(session) => self.settle_abandoned(session).await?,
        };
        if let Some(pending) = pause::of_key(&session.head, key, self.clock.now())? {
            match pending.resumed {
                None => return Ok(Opened::Over(TurnOutcome::Paused { session, pending })),
                Some(resumed) if !self.has_ended(resumed.0, resumed.1) => {
                    let shown = key.map(|key| key.shown.clone()).unwrap_or_default();
                    return Err(Error::UnderWay { key: shown });
                }
                Some(_) => {}
            }
        }
        let session = self.end_waiting(caller, session).await?;
        if let Some(turn) = checks::answered(&session.head, key)? {
            return self.repeated(session, turn).await.map(Opened::Over);
        }
        self.reserve(session, key).await.map(Opened::Ready)
    }

    /// The session with that id, created if missing.
    pub(super) async fn open_or_create(
        &self,
        caller: &Caller,
        new: NewSession,
    ) -> Result<LoadedSession> {
        let Some(id) = new.id.clone() else { return self.creator.create(caller, new).await };
        if let Some(session) = self.sessions.find(&caller.session_key(&id)).await? {
            return Ok(session);
        }
        match self.creator.create(caller, new).await {
            Err(Error::SessionExists(id)) => self.sessions.load(&caller.session_key(&id)).await,
            created => created,
        }
    }

    /// The session of the request. A key without a session id always gives the same session.
    async fn session_for(&self, caller: &Caller, request: &TurnRequest) -> Result<LoadedSession> {
        let id: Option<SessionId> = match (&request.session, &request.key) {
            (Some(id), _) => Some(id.clone()),
            (None, Some(key)) => Some(checks::id_for_key(caller, key)?),
            (None, None) => None,
        };
        let new = NewSession {
            id,
            agent: request.agent.clone(),
            persona: request.persona.clone(),
            preset: request.preset.clone(),
            ..NewSession::default()
        };
        self.open_or_create(caller, new).await
    }

    /// The turn that the same request made before.
    pub(super) async fn repeated(&self, session: LoadedSession, turn: u64) -> Result<TurnOutcome> {
        let record = self.stored_turn(&session, turn).await?;
        Ok(TurnOutcome::Finished { session, record, repeated: true })
    }

    /// Marks a request with a key as in progress, so that no other server repeats it.
    async fn reserve(
        &self,
        session: LoadedSession,
        key: Option<&RequestKey>,
    ) -> Result<LoadedSession> {
        let Some(key) = key else { return Ok(session) };
        let until = self.turn_ends();
        let (session, ()) = self
            .sessions
            .update(&session.key, |head, _| {
                checks::answered(head, Some(key))?;
                head.under_way.retain(|work| !self.has_ended(work.owner, work.until));
                if head.under_way.iter().any(|work| work.key == key.key) {
                    return Err(Error::UnderWay { key: key.shown.clone() });
                }
                head.under_way.push(UnderWay { key: key.key, owner: self.instance, until });
                Ok(Step::Commit(None, ()))
            })
            .await?;
        Ok(session)
    }
}
