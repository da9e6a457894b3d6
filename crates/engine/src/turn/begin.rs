//! How a turn begins: its session, the note that its request is being worked on, its share of history.

use jiff::SignedDuration;

use super::{TurnRequest, Way};
use crate::access::Caller;
use crate::context::Brought;
use crate::engine::{Engine, NewSession, answered, id_for_key};
use crate::error::{Error, Result};
use crate::session::Loaded;
use crate::session::apply::RequestKey;
use crate::session::head::UnderWay;
use crate::session::keep::Step;

impl Engine {
    /// The session of the request, created if need be. A keyed request always names the same one.
    pub(super) async fn session_for(
        &self,
        caller: &Caller,
        request: &TurnRequest,
    ) -> Result<Loaded> {
        let id = match (&request.session, &request.key) {
            (Some(id), _) => Some(id.clone()),
            (None, Some(key)) => Some(id_for_key(caller, key)?),
            (None, None) => None,
        };
        if let Some(id) = &id
            && let Some(session) = self.sessions.find(&caller.session_key(id)).await?
        {
            return Ok(session);
        }
        let new = NewSession {
            id: id.clone(),
            agent: request.agent.clone(),
            persona: request.persona.clone(),
            preset: request.preset.clone(),
            ..NewSession::default()
        };
        match (self.create_session(caller, new).await, id) {
            (Err(Error::SessionExists(_)), Some(id)) => self.session(caller, &id).await,
            (created, _) => created,
        }
    }

    /// Notes that a keyed request is being worked on, so that no copy of the server runs it twice.
    pub(super) async fn reserve(
        &self,
        session: Loaded,
        key: Option<&RequestKey>,
    ) -> Result<Loaded> {
        let Some(key) = key else { return Ok(session) };
        let now = self.now();
        let seconds = i64::try_from(self.limits().turn_seconds_max).unwrap_or(i64::MAX);
        let until = now + SignedDuration::from_secs(seconds);
        let (session, ()) = self
            .sessions
            .update(&session.key, |head, _| {
                answered(head, Some(key))?;
                head.under_way.retain(|work| work.until > now);
                if head.under_way.iter().any(|work| work.key == key.key) {
                    return Err(Error::UnderWay { key: key.shown.clone() });
                }
                head.under_way.push(UnderWay { key: key.key.clone(), until });
                Ok(Step::Commit(Box::new(None), ()))
            })
            .await?;
        Ok(session)
    }
}

/// A query is shown more exchanges than a chat.
pub(super) fn with_history(brought: Brought, way: Way, engine: &Engine) -> Brought {
    match way {
        Way::Chat => brought,
        Way::Query => Brought {
            history_turns: brought.history_turns.or(Some(engine.limits().query_exchanges)),
            way_instructions: true,
            ..brought
        },
    }
}
