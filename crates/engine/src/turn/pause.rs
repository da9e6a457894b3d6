//! Turns that wait for approval: requested again, decided, ended by another message, or expired.
//!
//! Invariant: a pause ends once, as one turn, under the key of the request that led to it.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio_util::sync::CancellationToken;

use super::permissions::listed_tools;
use super::{Pipeline, Turn, TurnDraft, TurnStart};
use crate::access::{Caller, Grants};
use crate::error::{Error, Result};
use crate::id::SessionId;
use crate::notice::Understanding;
use crate::rebuild;
use crate::reply;
use crate::request::{AssembledRequest, TurnInput};
use crate::rule::{self, Decision, Rule};
use crate::session::LoadedSession;
use crate::session::apply::RequestKey;
use crate::session::head::{SessionHead, TOOL_RULES_MAX};
use crate::session::pending::PendingTurn;
use crate::session::record::{TurnKind, TurnRecord};
use crate::session::sessions::Step;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Approval {
    pub approve: bool,
    /// Whether the approval applies beyond this call.
    pub remember: Option<Remember>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remember {
    Session,
    User,
}

impl From<bool> for Approval {
    fn from(approve: bool) -> Self {
        Self { approve, remember: None }
    }
}

/// The pause that the same request led to. Fails if the key was used for another request.
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

impl Pipeline {
    /// Stores the decision about a waiting call, and remembers it if asked to.
    pub(super) async fn note_decision(
        &self,
        caller: &Caller,
        id: &SessionId,
        call: &str,
        approval: Approval,
    ) -> Result<(LoadedSession, PendingTurn)> {
        let now = self.clock.now();
        let allowance = match approval.remember.filter(|_| approval.approve) {
            Some(remember) => Some((remember, self.allowance(caller, id, call).await?)),
            None => None,
        };
        if let Some((Remember::User, decision)) = &allowance {
            self.rules.decisions.keep(&caller.scope, decision.clone()).await?;
        }
        let missing = || Error::NoApproval { session: id.clone(), call: call.into() };
        self.sessions
            .update(&caller.session_key(id), |head, _| {
                let pending = head.pending.as_mut().ok_or_else(missing)?;
                if pending.expires_at <= now {
                    return Err(missing());
                }
                let awaited = pending
                    .awaited
                    .iter_mut()
                    .find(|awaited| awaited.id == call && awaited.approved.is_none())
                    .ok_or_else(missing)?;
                awaited.approved = Some(approval.approve);
                if pending.undecided().next().is_none() {
                    pending.resumed = Some((self.instance, self.turn_ends()));
                }
                let pending = pending.as_ref().clone();
                if let Some((Remember::Session, decision)) = &allowance {
                    rule::decide(&mut head.tool_rules, decision.clone(), TOOL_RULES_MAX);
                }
                Ok(Step::Commit(None, pending))
            })
            .await
    }

    /// The permission given with an approval, for the tool's current definition.
    async fn allowance(&self, caller: &Caller, id: &SessionId, call: &str) -> Result<Decision> {
        let session = self.sessions.load(&caller.session_key(id)).await?;
        let missing = || Error::NoApproval { session: id.clone(), call: call.into() };
        let awaited = session.head.pending.iter().flat_map(|pending| &pending.awaited);
        let awaited = awaited.into_iter().find(|awaited| awaited.id == call).ok_or_else(missing)?;
        let agent = self.agents.current().get(session.head.agent.as_ref())?;
        let tools = self.catalog.of(&agent).await?;
        let known = tools.iter().find(|known| known.definition.tool == awaited.tool);
        let definition = &known.ok_or_else(missing)?.definition;
        let policy = self.rules.of(&caller.scope, agent, &session.head.tool_rules).await?;
        if let Some(by) = policy.of(definition).ask {
            return Err(Error::invalid("remember", format!("{by} requires approval each time")));
        }
        Ok(Decision {
            tool: awaited.tool.clone(),
            rule: Rule::Allow,
            fingerprint: definition.fingerprint(),
            at: self.clock.now(),
            by: caller.scope.user.to_string(),
        })
    }

    /// The remaining time of a pause. One whose calls are decided is resuming and has the time of a turn in
    /// addition.
    pub(super) fn time_left(&self, pending: &PendingTurn) -> Duration {
        let left = pending.expires_at.duration_since(self.clock.now());
        let going_on = pending.undecided().next().is_none();
        let more = if going_on { self.limits.turn_seconds_max } else { 0 };
        let more = SignedDuration::from_secs(i64::try_from(more).unwrap_or(i64::MAX));
        Duration::try_from(left.saturating_add(more)).unwrap_or_default()
    }

    /// Stores a paused turn as refused: a new message came, or it expired.
    pub(super) async fn end_waiting(
        &self,
        caller: &Caller,
        mut session: LoadedSession,
    ) -> Result<LoadedSession> {
        for _ in 0..self.limits.commit_attempts_max {
            let Some(pending) = session.head.pending.clone() else { break };
            if pending.resumed.is_some_and(|resumed| !self.has_ended(resumed.0, resumed.1)) {
                break;
            }
            let refused = reply::refused(&pending, self.clock.now());
            let (id, version) = (session.head.id.clone(), session.version.number);
            let start = TurnStart {
                kind: pending.kind,
                lent: None,
                with_tools: false,
                cancel: CancellationToken::new(),
            };
            let turn = self.load(session, start).await?;
            let mut draft = match self.restore_request(&turn, &pending).await {
                Ok(assembled) => TurnDraft::of(&turn, &pending.message, assembled),
                // Something that it showed was erased.
                Err(Error::NotKept { .. }) => TurnDraft::paused(&turn, &pending),
                Err(error) => return Err(error),
            };
            draft.ends_pause = Some(pending.at);
            let key = pending.request_key();
            let kept = self.commit(caller, &turn, draft, refused, key.as_ref(), Some(version));
            match kept.await {
                // The other writer may have ended it too, so check again.
                Ok(_) | Err(Error::VersionConflict { .. }) => {}
                Err(error) => return Err(error),
            }
            session = self.sessions.load(&caller.session_key(&id)).await?;
        }
        Ok(session)
    }

    /// Ends an expired pause, so that its message enters the log even if nobody returns; schedules one that still
    /// has time.
    pub(crate) async fn end_expired(&self, session: LoadedSession) -> Result<LoadedSession> {
        let session = self.settle_abandoned(session).await?;
        if let Some(left) = self.unsettled_for(&session) {
            self.work.look_later(&session.key, left);
        }
        let Some(pending) = &session.head.pending else { return Ok(session) };
        let left = self.time_left(pending);
        if !left.is_zero() {
            self.work.look_later(&session.key, left);
            return Ok(session);
        }
        let owner = Caller { scope: session.key.scope.clone(), grants: Grants::Write };
        self.end_waiting(&owner, session).await
    }

    /// The request that a decided turn continues with: the one it paused with, or a new one if something that it
    /// showed was erased meanwhile.
    pub(super) async fn resumed_request(
        &self,
        turn: &Turn,
        pending: &PendingTurn,
    ) -> Result<AssembledRequest> {
        match self.restore_request(turn, pending).await {
            Err(Error::NotKept { .. }) => {
                let is_query = pending.kind == TurnKind::Query;
                let message = pending.message.clone();
                let input = TurnInput { message, is_query, ..TurnInput::default() };
                self.assemble(turn, &input).await
            }
            restored => restored,
        }
    }

    /// The request of a paused turn, as it was assembled.
    pub(super) async fn restore_request(
        &self,
        turn: &Turn,
        pending: &PendingTurn,
    ) -> Result<AssembledRequest> {
        let session = &turn.session;
        let frozen = TurnRecord {
            turn: session.head.turns + 1,
            message: pending.message.clone(),
            receipt: Some(pending.receipt.clone()),
            contents: pending.contents.clone(),
            ..TurnRecord::erased(0, pending.at)
        };
        let zone = session.head.settings.zone(&self.limits.timezone);
        let sent = rebuild::pieces(&self.sessions, session, &frozen, &zone).await?;
        let receipt = rebuild::whole_receipt(&self.sessions, session, &frozen).await?;
        Ok(AssembledRequest {
            request: rebuild::request(&self.sessions, session, &frozen).await?,
            receipt: receipt.unwrap_or_else(|| pending.receipt.clone()),
            tools: listed_tools(&sent, &turn.tools),
            sent: Arc::new(sent),
            summary: None,
            contents: pending.contents.clone(),
            recent: self.recent(session).await?,
            understanding: Understanding {
                noticed: pending.noticed.clone(),
                known: self.memory.known(&self.sessions, session).await?,
                found: Vec::new(),
            },
            recalled: Vec::new(),
            facts: Vec::new(),
        })
    }
}
