//! The life of a turn: load, notice, resolve, recall, select, fit, reply, commit, tend.
//!
//! The table of contents of the engine. Stages do not call each other; this file does. A failed turn is
//! a turn: whatever a model, a tool or a network does, the message is kept with the error.
//!
//! Invariant: a turn is committed exactly once, with the receipt of what was sent.

mod begin;
mod pause;
mod said;

use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::access::{Action, Caller, authorize};
use crate::context::{Brought, assemble};
use crate::engine::{Engine, FinishedTurn, Recorded, answered};
use crate::enrich::enrich;
use crate::error::{Error, Result};
use crate::id::{AgentName, SessionId};
pub use crate::model::LentModel;
use crate::model::Usage;
use crate::persona::Persona;
use crate::receipt::Receipt;
use crate::reply::{self, Answer, Asked, Ended};
use crate::session::Loaded;
use crate::session::apply::RequestKey;
use crate::session::keep::Step;
use crate::session::pending::{AwaitedCall, PendingTurn};
use crate::session::record::{TurnKind, TurnRecord};
use crate::tool::ToolName;
use crate::trace;
use begin::with_history;
use said::Said;

/// Which way a message is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Way {
    /// A conversation, with as many tool calls as it takes.
    #[default]
    Chat,
    /// One tool, worded.
    Query,
}

impl Way {
    /// The way that led to a turn of that kind.
    fn of(kind: TurnKind) -> Self {
        if kind == TurnKind::Query { Self::Query } else { Self::Chat }
    }

    /// The kind of turn that it leads to.
    fn kind(self) -> TurnKind {
        match self {
            Self::Chat => TurnKind::Chat,
            Self::Query => TurnKind::Query,
        }
    }
}

/// A message and how it is to be answered.
#[derive(Debug, Clone, Default)]
pub struct TurnRequest {
    /// The session; created when it does not exist, or when absent.
    pub session: Option<SessionId>,
    /// The agent of a session that is created.
    pub agent: Option<AgentName>,
    /// Which way.
    pub way: Way,
    /// The message and what comes with it.
    pub brought: Brought,
    /// The idempotency key.
    pub key: Option<RequestKey>,
    /// The persona of a session that is created.
    pub persona: Option<Persona>,
    /// The preset of a session that is created, where no persona is given.
    pub preset: Option<String>,
    /// A model that the client lends for this turn.
    pub model: Option<LentModel>,
}

/// What happens while a turn runs.
#[derive(Debug, Clone)]
pub enum TurnEvent {
    /// The request is assembled.
    Context(Box<Receipt>),
    /// A tool is called.
    ToolCall {
        /// The call's id.
        id: String,
        /// Which tool.
        tool: ToolName,
        /// The arguments.
        arguments: Value,
    },
    /// A tool has answered.
    ToolResult {
        /// The call's id.
        id: String,
        /// Which tool.
        tool: ToolName,
        /// Whether it succeeded.
        ok: bool,
        /// The answer.
        text: String,
    },
    /// A call waits for approval.
    Approval(AwaitedCall),
    /// More words of the reply.
    Delta(String),
    /// Tokens so far.
    Usage(Usage),
}

/// Where the events of a turn go.
#[derive(Debug, Clone, Default)]
pub struct Events(Option<UnboundedSender<TurnEvent>>);

impl Events {
    /// Events go to `sender`.
    pub fn to(sender: UnboundedSender<TurnEvent>) -> Self {
        Self(Some(sender))
    }

    /// Nobody listens.
    pub fn nowhere() -> Self {
        Self(None)
    }

    /// Tells whoever listens; a listener that has gone is no reason to stop.
    pub fn tell(&self, event: TurnEvent) {
        if let Some(sender) = &self.0 {
            let _ = sender.send(event);
        }
    }
}

/// How a turn ended.
#[derive(Debug)]
pub enum TurnOutcome {
    /// It is in the log.
    Finished {
        /// The session after it.
        session: Loaded,
        /// The turn.
        record: Arc<TurnRecord>,
        /// Whether the same key had made it before.
        repeated: bool,
    },
    /// It waits for approval.
    Paused {
        /// The session now.
        session: Loaded,
        /// The turn so far.
        pending: Box<PendingTurn>,
    },
}

impl Engine {
    /// Answers a message.
    pub async fn converse(
        &self,
        caller: &Caller,
        request: TurnRequest,
        events: Events,
        cancel: CancellationToken,
    ) -> Result<TurnOutcome> {
        authorize(caller, Action::Write)?;
        self.check_message(&request.brought.message)?;
        let started = Instant::now();

        // load
        let session = self.session_for(caller, &request).await?;
        self.check_active(&session.head)?;
        if let Some(turn) = answered(&session.head, request.key.as_ref())? {
            return self.finished(caller, &session.head.id, turn, true).await;
        }
        if let Some(pending) = pause::of_key(&session.head, request.key.as_ref(), self.now())? {
            return Ok(TurnOutcome::Paused { session, pending });
        }
        let session = self.end_waiting(caller, session).await?;
        if let Some(turn) = answered(&session.head, request.key.as_ref())? {
            return self.finished(caller, &session.head.id, turn, true).await;
        }
        let session = self.reserve(session, request.key.as_ref()).await?;

        // notice, resolve, recall
        let agent = self.agent_name(&session);
        let span = trace::turn(&session, agent.as_str(), request.way.kind());
        let brought = with_history(request.brought, request.way, self);
        let reader = reply::reader(self, &session, request.way, request.model.as_ref())?;
        let enriching = enrich(self, &session, &brought, reader, &cancel);
        let enriched = enriching.instrument(span.clone()).await?;

        // select, fit
        let assembling = assemble(self, &session, &brought, enriched);
        let context = assembling.instrument(span.clone()).await?;
        events.tell(TurnEvent::Context(Box::new(context.receipt.clone())));

        // reply
        let asked = Asked {
            engine: self,
            session: &session,
            context: &context,
            way: request.way,
            message: &brought.message,
            before: Answer::default(),
            decided: Vec::new(),
            lent: request.model.as_ref(),
            events: &events,
            cancel,
        };
        let ended = reply::answer(asked).instrument(span.clone()).await;

        // commit
        let said = Said { message: brought.message, way: request.way, context, started };
        let concluding = self.conclude(caller, &session, said, ended, request.key, &events);
        let outcome = concluding.instrument(span.clone()).await;
        trace::turn_ended(&span, &outcome);
        outcome
    }

    /// Decides a call that waits, and goes on when all are decided. The request context stays frozen.
    pub async fn decide(
        &self,
        caller: &Caller,
        id: &SessionId,
        call: &str,
        approve: bool,
        events: Events,
        cancel: CancellationToken,
    ) -> Result<TurnOutcome> {
        authorize(caller, Action::Write)?;
        let started = Instant::now();
        let key = caller.session_key(id);
        let now = self.now();
        let (session, pending) = self
            .sessions
            .update(&key, |head, _| {
                let missing = || Error::NoApproval { session: id.clone(), call: call.into() };
                let pending = head.pending.as_mut().ok_or_else(missing)?;
                if pending.expires_at <= now {
                    return Err(missing());
                }
                let awaited = pending
                    .awaited
                    .iter_mut()
                    .find(|awaited| awaited.id == call && awaited.approved.is_none())
                    .ok_or_else(missing)?;
                awaited.approved = Some(approve);
                let pending = pending.as_ref().clone();
                Ok(Step::Commit(Box::new(None), pending))
            })
            .await?;
        if pending.undecided().next().is_some() {
            return Ok(TurnOutcome::Paused { session, pending: Box::new(pending) });
        }
        let context = self.thaw(&session, &pending).await?;
        let way = Way::of(pending.kind);
        let before = Answer {
            text: pending.said.clone(),
            calls: pending.calls.clone(),
            ..Answer::default()
        };
        let asked = Asked {
            engine: self,
            session: &session,
            context: &context,
            way,
            message: &pending.message,
            before,
            decided: pending.awaited.clone(),
            lent: None,
            events: &events,
            cancel,
        };
        let span = trace::turn(&session, context.agent.name.as_str(), way.kind());
        let ended = reply::answer(asked).instrument(span.clone()).await;
        let request_key = pending.request_key();
        let said = Said { message: pending.message, way, context, started };
        let concluding = self.conclude(caller, &session, said, ended, request_key, &events);
        let outcome = concluding.instrument(span.clone()).await;
        trace::turn_ended(&span, &outcome);
        outcome
    }

    /// The agent of a session, by name.
    pub(crate) fn agent_name(&self, session: &Loaded) -> AgentName {
        session.head.agent.clone().unwrap_or_else(|| self.agents().default_name().clone())
    }

    /// Commits what the reply came to, or the pause.
    async fn conclude(
        &self,
        caller: &Caller,
        session: &Loaded,
        said: Said,
        ended: Ended,
        key: Option<RequestKey>,
        events: &Events,
    ) -> Result<TurnOutcome> {
        let id = &session.head.id;
        match ended {
            Ended::Finished(answer) => {
                let kept = self.keep(caller, session, said, answer, key.as_ref(), None);
                let recorded = kept.await?;
                self.finished(caller, id, recorded.turn, recorded.repeated).await
            }
            Ended::Paused(answer, awaited) => {
                for call in &awaited {
                    events.tell(TurnEvent::Approval(call.clone()));
                }
                let pending = said.pending(answer, awaited, key, self);
                let (session, ()) = self
                    .sessions
                    .update(&session.key, |head, _| {
                        head.pending = Some(Box::new(pending.clone()));
                        Ok(Step::Commit(Box::new(None), ()))
                    })
                    .await?;
                self.work.look_later(&session.key, self.time_left(&pending));
                Ok(TurnOutcome::Paused { session, pending: Box::new(pending) })
            }
        }
    }

    /// Puts what was said at the end of the conversation.
    async fn keep(
        &self,
        caller: &Caller,
        session: &Loaded,
        said: Said,
        answer: Answer,
        key: Option<&RequestKey>,
        expected: Option<u64>,
    ) -> Result<Recorded> {
        let noticed = said.context.noticed.clone();
        let found = said.context.found.clone();
        let known = said.context.known.clone();
        let mut record = said.record(answer, self);
        self.mark_used(session, &mut record).await;
        let finished = FinishedTurn { record, noticed, found, known };
        self.commit_turn(caller, &session.head.id, &finished, key, expected).await
    }

    async fn finished(
        &self,
        caller: &Caller,
        id: &SessionId,
        turn: u64,
        repeated: bool,
    ) -> Result<TurnOutcome> {
        let (session, record) = self.turn(caller, id, turn).await?;
        Ok(TurnOutcome::Finished { session, record, repeated })
    }
}
