//! Exchanges that an application made with its own model, told to us.

use std::sync::Arc;

use serde_json::Value;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::access::{Action, Caller, authorize};
use crate::context::{Brought, Context, assemble};
use crate::enrich::enrich;
use crate::entity::{Entity, Harvest, KnownEntities, Mention, Moment, Noticed, harvest, notice};
use crate::error::{Error, Result};
use crate::id::SessionId;
use crate::notice::mentions;
use crate::pack::PackSet;
use crate::resolve::Reader;
use crate::session::apply::{self, RequestKey};
use crate::session::head::SessionHead;
use crate::session::keep::Step;
use crate::session::record::{
    CallRecord, ReplyForm, SaidTokens, TurnError, TurnKind, TurnRecord, TurnStatus,
};
use crate::store::Version;
use crate::tokens;
use crate::trace;

use super::Engine;
use super::sessions::check_version;

/// An exchange to be recorded.
#[derive(Debug, Clone, Default)]
pub struct RecordedTurn {
    /// What the user said.
    pub message: String,
    /// What the assistant said.
    pub reply: String,
    /// What the tools did.
    pub calls: Vec<CallRecord>,
    /// The failure, for a failed exchange.
    pub error: Option<TurnError>,
    /// Whatever the application wants to keep with it.
    pub metadata: Option<Value>,
    /// The context that [`Engine::prepare`] made for it.
    pub context: Option<Context>,
    /// The version that the session must be at.
    pub expected: Option<u64>,
    /// The idempotency key.
    pub key: Option<RequestKey>,
}

/// Where the exchange stands now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recorded {
    /// Its turn.
    pub turn: u64,
    /// The session's version.
    pub version: u64,
    /// Whether the same key had recorded it before.
    pub repeated: bool,
}

/// A turn on its way into the log, with what it was understood to mean.
pub(crate) struct FinishedTurn {
    pub record: TurnRecord,
    pub noticed: Noticed,
    /// What was looked up for it.
    pub found: Vec<Entity>,
    pub known: Arc<KnownEntities>,
}

impl FinishedTurn {
    /// What the head remembers of the things in this turn. Pure: it may run again on a newer head.
    fn remember(&self, head: &mut SessionHead, harvests: &[Harvest], packs: &PackSet, at: Moment) {
        let meant = self.noticed.mentions.iter().map(Mention::target);
        let found = harvests.iter().flat_map(|h| h.entities.iter().map(|e| e.entity.clone()));
        let mut known =
            KnownEntities::of(meant.chain(found).filter_map(|e| self.known.get(&e).cloned()));
        head.entities.apply_noticed(&self.noticed, &self.record.message, &mut known, packs, at);
        let looked_up = Harvest { entities: self.found.clone(), ..Harvest::default() };
        head.entities.apply_harvest(&looked_up, &mut known, packs, at);
        for harvest in harvests {
            head.entities.apply_harvest(harvest, &mut known, packs, at);
        }
    }
}

impl Engine {
    /// Things in the results of a turn's calls.
    fn harvests(&self, record: &TurnRecord) -> Vec<Harvest> {
        let results = record.calls.iter().filter(|call| call.ok()).filter_map(|call| {
            let json = call.output.as_ref()?.json.as_ref()?;
            Some(harvest(&call.tool, &call.arguments, json, self.packs(), self.now()))
        });
        results.collect()
    }

    /// The context for an application that calls its own model. Changes nothing.
    pub async fn prepare(
        &self,
        caller: &Caller,
        id: &SessionId,
        brought: &Brought,
    ) -> Result<Context> {
        let loaded = self.session(caller, id).await?;
        self.check_active(&loaded.head)?;
        self.check_message(&brought.message)?;
        if brought.budget_tokens == Some(0) {
            return Err(Error::invalid("budget_tokens", "0 is outside 1-4294967295"));
        }
        let never = CancellationToken::new();
        let enriched = enrich(self, &loaded, brought, Reader::Model, &never).await?;
        assemble(self, &loaded, brought, enriched).await
    }

    /// Records an exchange.
    pub async fn record(
        &self,
        caller: &Caller,
        id: &SessionId,
        recorded: RecordedTurn,
    ) -> Result<Recorded> {
        authorize(caller, Action::Write)?;
        self.check_recorded(&recorded)?;
        let RecordedTurn { message, reply, calls, error, metadata, context, expected, key } =
            recorded;
        let tokens = SaidTokens { message: tokens::count(&message), reply: tokens::count(&reply) };
        let (receipt, contents) =
            context.map(|c| (Some(c.receipt), c.contents)).unwrap_or_default();
        let mut record = TurnRecord {
            turn: 0,
            at: self.now(),
            kind: TurnKind::Recorded,
            status: if error.is_some() { TurnStatus::Failed } else { TurnStatus::Complete },
            message,
            reply,
            error,
            form: ReplyForm::Caller,
            calls,
            entities: Vec::new(),
            tokens,
            usage: None,
            receipt,
            contents,
            metadata,
            took_ms: None,
        };
        let loaded = self.session(caller, id).await?;
        self.mark_used(&loaded, &mut record).await;
        let known = self.memory.known(&self.sessions, &loaded).await?;
        let noticed = notice(&record.message, &loaded.head.entities, &known, self.packs());
        let entities = mentions(&noticed);
        let record = TurnRecord { entities, ..record };
        let finished = FinishedTurn { record, noticed, found: Vec::new(), known };
        self.commit_turn(caller, id, &finished, key.as_ref(), expected).await
    }

    /// Puts a finished turn at the end of the conversation, or finds it there.
    pub(crate) async fn commit_turn(
        &self,
        caller: &Caller,
        id: &SessionId,
        finished: &FinishedTurn,
        key: Option<&RequestKey>,
        expected: Option<u64>,
    ) -> Result<Recorded> {
        let harvests = self.harvests(&finished.record);
        let keys_max = self.limits().idempotency_keys;
        let step = |head: &mut SessionHead, version: Version| {
            if let Some(turn) = answered(head, key)? {
                let at = head.answered.iter().find(|answered| answered.turn == turn);
                return Ok(Step::Leave((turn, at.map(|answered| answered.version))));
            }
            self.check_active(head)?;
            check_version(id, expected, version.number)?;
            self.check_room(head)?;
            let mut record = finished.record.clone();
            let now = self.now();
            apply::turn(head, &mut record, key, keys_max, now);
            if let Some(answered) = head.answered.back_mut().filter(|_| key.is_some()) {
                answered.version = version.number + 1;
            }
            let at = Moment { turn: record.turn, now };
            finished.remember(head, &harvests, self.packs(), at);
            let turn = record.turn;
            Ok(Step::Commit(Box::new(Some(record)), (turn, None)))
        };
        let session = caller.session_key(id);
        let span = trace::commit(self.store().as_ref());
        let committing = async {
            match expected {
                None => self.sessions.update_together(&session, step).await,
                // Somebody who expects a version wants nothing between it and this turn.
                Some(_) => {
                    let (loaded, answer) = self.sessions.update(&session, step).await?;
                    Ok((loaded.version, answer))
                }
            }
        };
        let committed = committing.instrument(span.clone()).await;
        let (version, (turn, answered_at)) =
            committed.inspect_err(|error| trace::failed(&span, error.code()))?;
        if answered_at.is_none() {
            self.work.add(&session);
            if let Some(tell) = self.watcher.get() {
                tell(&finished.record);
            }
        }
        let version = answered_at.unwrap_or(version.number);
        Ok(Recorded { turn, version, repeated: answered_at.is_some() })
    }

    pub(crate) fn check_message(&self, message: &str) -> Result<()> {
        if message.trim().is_empty() {
            return Err(Error::invalid("message", "it is empty"));
        }
        within("message", message.len(), "message_bytes_max", self.limits().message_bytes_max)
    }

    fn check_room(&self, head: &SessionHead) -> Result<()> {
        let turns = usize::try_from(head.turns + 1).unwrap_or(usize::MAX);
        let allowed = usize::try_from(self.limits().turns_max).unwrap_or(usize::MAX);
        within("the number of turns", turns, "turns_max", allowed)
    }

    fn check_recorded(&self, recorded: &RecordedTurn) -> Result<()> {
        let limits = self.limits();
        self.check_message(&recorded.message)?;
        within("reply", recorded.reply.len(), "reply_bytes_max", limits.reply_bytes_max)?;
        within(
            "the number of tool executions",
            recorded.calls.len(),
            "tool_executions_max",
            limits.tool_executions_max,
        )?;
        for call in &recorded.calls {
            let size = call.result_text().len() + call.arguments.to_string().len();
            within(
                "a tool execution",
                size,
                "tool_result_bytes_max",
                limits.tool_result_bytes_max,
            )?;
        }
        let metadata = recorded.metadata.as_ref().map_or(0, |m| m.to_string().len());
        within("metadata", metadata, "metadata_bytes_max", limits.metadata_bytes_max)
    }
}

/// The turn that the same request made before. Another request under the same key is an error.
pub(crate) fn answered(head: &SessionHead, key: Option<&RequestKey>) -> Result<Option<u64>> {
    let Some(key) = key else { return Ok(None) };
    match head.answered.iter().find(|answered| answered.key == key.key) {
        Some(answered) if answered.body == key.body => Ok(Some(answered.turn)),
        Some(_) => Err(Error::KeyReused { key: key.shown.clone() }),
        None => Ok(None),
    }
}

fn within(what: &str, size: usize, limit: &'static str, allowed: usize) -> Result<()> {
    if size <= allowed {
        return Ok(());
    }
    Err(Error::OverLimit { what: what.into(), size: size as u64, limit, allowed: allowed as u64 })
}
