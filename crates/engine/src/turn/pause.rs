//! A turn that waits for an approval: asked for again, ended by another message, or given up.
//!
//! Invariant: a pause ends once, as one turn, under the key of the request that led to it.

use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};

use super::{Said, Way};
use crate::access::{Caller, Grants};
use crate::context::Context;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::reply;
use crate::session::Loaded;
use crate::session::apply::RequestKey;
use crate::session::head::SessionHead;
use crate::session::pending::PendingTurn;
use crate::session::record::TurnRecord;

/// The pause that the same keyed request led to. Another request under its key is an error.
pub(super) fn of_key(
    head: &SessionHead,
    key: Option<&RequestKey>,
    now: Timestamp,
) -> Result<Option<Box<PendingTurn>>> {
    let (Some(key), Some(pending)) = (key, &head.pending) else { return Ok(None) };
    match &pending.key {
        Some((known, body)) if *known == key.key => {
            if *body != key.body {
                return Err(Error::KeyReused { key: key.shown.clone() });
            }
            Ok((pending.expires_at > now).then(|| pending.clone()))
        }
        _ => Ok(None),
    }
}

impl Engine {
    /// How long a pause still has. One whose calls are decided is going on, and has the time of a turn
    /// beyond that.
    pub(super) fn time_left(&self, pending: &PendingTurn) -> Duration {
        let left = pending.expires_at.duration_since(self.now());
        let going_on = pending.undecided().next().is_none();
        let more = if going_on { self.limits().turn_seconds_max } else { 0 };
        let more = SignedDuration::from_secs(i64::try_from(more).unwrap_or(i64::MAX));
        Duration::try_from(left.saturating_add(more)).unwrap_or_default()
    }

    /// Keeps a paused turn as refused: a new message came, or its time is over.
    pub(super) async fn end_waiting(&self, caller: &Caller, mut session: Loaded) -> Result<Loaded> {
        for _ in 0..self.limits().commit_attempts_max {
            let Some(pending) = session.head.pending.clone() else { break };
            let refused = reply::refused(&pending, self.now());
            let said = Said {
                message: pending.message.clone(),
                way: Way::of(pending.kind),
                context: self.thaw(&session, &pending).await?,
                started: Instant::now(),
            };
            let (key, version) = (pending.request_key(), session.version.number);
            let kept = self.keep(caller, &session, said, refused, key.as_ref(), Some(version));
            match kept.await {
                // Whoever was faster may have ended it too: what is there now is looked at again.
                Ok(_) | Err(Error::VersionConflict { .. }) => {}
                Err(error) => return Err(error),
            }
            session = self.session(caller, &session.head.id).await?;
        }
        Ok(session)
    }

    /// Ends a pause that nobody answered in time, so that its message is history even when nobody comes
    /// back; one that still has time is looked at again when it is over.
    pub(crate) async fn end_expired(&self, session: Loaded) -> Result<Loaded> {
        let Some(pending) = &session.head.pending else { return Ok(session) };
        let left = self.time_left(pending);
        if !left.is_zero() {
            self.work.look_later(&session.key, left);
            return Ok(session);
        }
        let owner = Caller { scope: session.key.scope.clone(), grants: Grants::Write };
        self.end_waiting(&owner, session).await
    }

    /// The frozen request context of a paused turn.
    pub(super) async fn thaw(&self, session: &Loaded, pending: &PendingTurn) -> Result<Context> {
        let frozen = TurnRecord {
            turn: session.head.turns + 1,
            message: pending.message.clone(),
            receipt: Some(pending.receipt.clone()),
            contents: pending.contents.clone(),
            ..TurnRecord::erased(0, pending.at)
        };
        let request = crate::rebuild::request(&self.sessions, session, &frozen).await?;
        let agent = self.agents().get(session.head.agent.as_ref())?;
        let tools = self.tools_of(&agent).await?;
        Ok(Context {
            request,
            receipt: pending.receipt.clone(),
            contents: pending.contents.clone(),
            tools: tools.into_iter().map(|known| known.definition).collect(),
            agent,
            recent: Vec::new(),
            noticed: pending.noticed.clone(),
            found: Vec::new(),
            known: self.memory.known(&self.sessions, session).await?,
            head: session.head.clone(),
            recalled: Vec::new(),
        })
    }
}
