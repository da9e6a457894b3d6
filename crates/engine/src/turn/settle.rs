//! Turns left behind by a server that ended: calls that were begun, approvals that were given.
//!
//! Their outcome is unknown, and the record says so. A call that is not idempotent is never repeated
//! automatically.
//!
//! Invariant: such a turn enters the log once, under the key of the request that led to it.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use uuid::Uuid;

use super::{Pipeline, TurnOutcome};
use crate::error::{Error, Result};
use crate::permission::Named;
use crate::session::LoadedSession;
use crate::session::apply::{self, RequestKey};
use crate::session::sessions::Step;
use crate::session::unsettled::UnsettledTurn;

impl Pipeline {
    /// The time after which a turn that begins now is assumed to have ended with its server.
    pub(crate) fn turn_ends(&self) -> Timestamp {
        let seconds = i64::try_from(self.limits.turn_seconds_max).unwrap_or(i64::MAX);
        self.clock.now() + SignedDuration::from_secs(seconds)
    }

    pub(super) fn is_abandoned(&self, turn: &UnsettledTurn) -> bool {
        self.has_ended(turn.owner, turn.until)
    }

    /// Whether a server that began something, to be finished by `until`, has ended.
    pub(crate) fn has_ended(&self, owner: Uuid, until: Timestamp) -> bool {
        until <= self.clock.now() || (owner != self.instance && self.sessions.store().is_alone())
    }

    /// Records the turns that were left behind.
    pub(super) async fn settle_abandoned(
        &self,
        mut session: LoadedSession,
    ) -> Result<LoadedSession> {
        let abandoned: Vec<UnsettledTurn> =
            session.head.unsettled.iter().filter(|turn| self.is_abandoned(turn)).cloned().collect();
        for turn in abandoned {
            session = self.settle(session, &turn).await?;
        }
        Ok(session)
    }

    pub(super) async fn settle(
        &self,
        session: LoadedSession,
        turn: &UnsettledTurn,
    ) -> Result<LoadedSession> {
        let now = self.clock.now();
        let named = Named::of(&turn.record(now));
        let key = turn.request_key();
        let (session, ()) = self
            .sessions
            .update(&session.key, |head, version| {
                let before = head.unsettled.len();
                head.unsettled.retain(|other| other.id != turn.id);
                if head.unsettled.len() == before {
                    return Ok(Step::Leave(()));
                }
                let mut record = turn.record(now);
                // A pause whose approved call was in progress ends with it.
                let calls = |id: &str| turn.calls.iter().any(|call| call.id == id);
                if head.pending.as_ref().is_some_and(|p| p.awaited.iter().any(|a| calls(&a.id))) {
                    head.pending = None;
                }
                apply::turn(head, &mut record, key.as_ref(), self.limits.idempotency_keys, now);
                if let Some(answered) = head.answered.back_mut().filter(|_| key.is_some()) {
                    answered.version = version.number + 1;
                }
                named.remember(&mut head.tool_words);
                Ok(Step::Commit(Some(Arc::new(record)), ()))
            })
            .await?;
        tracing::warn!(session.id = %session.head.id, "a server ended during a call; its outcome is unknown");
        Ok(session)
    }

    /// The unfinished turn of the same request, with an unknown outcome. `None` if it may be repeated.
    pub(super) async fn unsettled_of_key(
        &self,
        session: LoadedSession,
        key: Option<&RequestKey>,
    ) -> Result<std::result::Result<TurnOutcome, LoadedSession>> {
        let Some(key) = key else { return Ok(Err(session)) };
        let found = session
            .head
            .unsettled
            .iter()
            .find(|turn| turn.key.as_ref().is_some_and(|(known, _)| *known == key.key));
        let Some(turn) = found.cloned() else { return Ok(Err(session)) };
        if turn.key.as_ref().is_some_and(|(_, body)| *body != key.body) {
            return Err(Error::KeyReused { key: key.shown.clone() });
        }
        if !self.is_abandoned(&turn) {
            return Err(Error::UnderWay { key: key.shown.clone() });
        }
        if turn.is_repeatable() {
            let (session, ()) = self
                .sessions
                .update(&session.key, |head, _| {
                    head.unsettled.retain(|other| other.id != turn.id);
                    head.under_way.retain(|work| work.key != key.key);
                    Ok(Step::Commit(None, ()))
                })
                .await?;
            return Ok(Err(session));
        }
        let session = self.settle(session, &turn).await?;
        let answered = session.head.answered.iter().find(|answered| answered.key == key.key);
        let Some(number) = answered.map(|answered| answered.turn) else { return Ok(Err(session)) };
        self.repeated(session, number).await.map(Ok)
    }

    /// Time until the first unsettled turn is assumed to have ended; `None` if there is none.
    pub(crate) fn unsettled_for(&self, session: &LoadedSession) -> Option<Duration> {
        let now = self.clock.now();
        let left = |turn: &UnsettledTurn| match self.is_abandoned(turn) {
            true => Duration::ZERO,
            false => Duration::try_from(turn.until.duration_since(now)).unwrap_or_default(),
        };
        session.head.unsettled.iter().map(left).min()
    }
}
