//! Background work after a turn: index, summarize, look up entities, store recall indexes, expire approvals.
//!
//! All of it is derived from the log, so no durable queue is needed: a session's head shows what is due, and
//! [`Background::find_due`] finds it after a restart. Costly work (a model, a tool) is leased in the store, so
//! that only one of several servers does it. A result is discarded if the session has changed meanwhile.
//!
//! Invariant: nothing here delays a reply or rewrites history.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::access::system_scope;
use crate::agent::Agents;
use crate::catalog::ToolCatalog;
use crate::clock::Clock;
use crate::creation::session_items;
use crate::error::{Error, Result};
use crate::id::ThreadId;
use crate::indexer::Indexer;
use crate::limits::Limits;
use crate::model::Model;
use crate::models::ModelBook;
use crate::pack::PackSet;
use crate::resolve::{self, Resolver};
use crate::session::head::Summary;
use crate::session::sessions::Step;
use crate::session::unreadable::if_readable;
use crate::session::{LoadedSession, Sessions};
use crate::store::{Change, Expected, Found, Key, Kind, ListedThread, StoreError};
use crate::turn::{Pipeline, session_tools};
use crate::worklist::Worklist;
use crate::{summary, tokens};

/// Duration of a lease; after it, another server takes over from one that died.
const LEASE: SignedDuration = SignedDuration::from_secs(120);
/// Delay that collects turns, so that a busy session is not indexed after every one. A search does not wait for
/// it: it catches up first.
const GATHERING: Duration = Duration::from_millis(300);
/// How far back a restart checks sessions for work other than indexing.
const CHANGED_LATELY: SignedDuration = SignedDuration::from_hours(7 * 24);
/// How long a session must be idle before its recall index is stored.
const RESTED: Duration = Duration::from_secs(20);
/// Maximum number of turns not in the stored index, even while the session is active.
const UNSTORED_TURNS_MAX: u64 = 512;
/// Threads read per step of a scan.
const SWEEP_SESSIONS: usize = 256;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkOutcome {
    Done,
    /// Another server holds the lease, possibly one that died.
    HeldElsewhere,
}

/// A lease on the costly work of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Lease {
    holder: uuid::Uuid,
    pub(crate) until: Timestamp,
}

pub struct Background {
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) turns: Arc<Pipeline>,
    pub(crate) indexer: Arc<Indexer>,
    pub(crate) resolver: Arc<Resolver>,
    pub(crate) catalog: Arc<ToolCatalog>,
    pub(crate) agents: Arc<Agents>,
    pub(crate) models: ModelBook,
    pub(crate) packs: Arc<PackSet>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) limits: Arc<Limits>,
    pub(crate) work: Arc<Worklist>,
}

impl Background {
    /// Processes the work list until `stop`.
    pub async fn run_until(&self, stop: CancellationToken) {
        while !stop.is_cancelled() {
            for key in self.work.take_all() {
                if stop.is_cancelled() {
                    return;
                }
                match self.work_on(&key).await {
                    Ok(WorkOutcome::Done) | Err(Error::NoSession(_)) => self.work.succeeded(&key),
                    Ok(WorkOutcome::HeldElsewhere) => {
                        // Another server works on it, or died while doing so.
                        let lease = Duration::try_from(LEASE).unwrap_or(GATHERING);
                        self.work.look_later(&key, lease);
                    }
                    Err(error) => {
                        tracing::warn!(session.id = %key.id, %error, "background work failed");
                        if let Some(wait) = self.work.failed(&key) {
                            self.work.look_later(&key, wait);
                        }
                    }
                }
            }
            let rested = async {
                self.work.wake.notified().await;
                tokio::time::sleep(GATHERING).await;
            };
            tokio::select! {
                () = rested => {}
                () = self.work.next_due() => {}
                () = stop.cancelled() => return,
            }
        }
    }

    /// Adds every session with due work to the list: after a restart, or after other servers wrote. Erases
    /// indexes of sessions that no longer exist.
    pub async fn find_due(&self) -> Result<u64> {
        let mut after: Option<Key> = None;
        let mut found = 0;
        // Sessions of one user whose stored index is missing or outdated. A user's indexes come after the
        // sessions in key order and remove entries from this map.
        let mut not_stored: HashMap<ThreadId, ListedThread> = HashMap::new();
        loop {
            let listed = self.sessions.store().scan(after.as_ref(), SWEEP_SESSIONS).await?;
            let Some(last) = listed.last() else { break };
            let last = last.key.clone();
            for listed in listed {
                if after.as_ref().is_some_and(|before| before.scope != listed.key.scope) {
                    found += self.add_not_stored(&mut not_stored);
                }
                after = Some(listed.key.clone());
                match listed.key.kind {
                    Kind::Session if self.is_behind(&listed).await? => {
                        self.work.add(&listed.key);
                        found += 1;
                    }
                    Kind::Session => {
                        not_stored.insert(listed.key.id.clone(), listed);
                    }
                    Kind::TurnIndex => self.check_stored(&listed, &mut not_stored).await?,
                    _ => {}
                }
            }
            after = Some(last);
        }
        Ok(found + self.add_not_stored(&mut not_stored))
    }

    /// Schedules storing the indexes of one user's sessions; returns how many are idle already.
    fn add_not_stored(&self, not_stored: &mut HashMap<ThreadId, ListedThread>) -> u64 {
        let mut found = 0;
        for (_, listed) in not_stored.drain() {
            match self.time_to_rest(listed.changed_at) {
                None => {
                    self.work.add(&listed.key);
                    found += 1;
                }
                Some(wait) => self.work.look_later(&listed.key, wait),
            }
        }
        found
    }

    /// Removes the session if its index was stored after its last change; erases an index without a session.
    async fn check_stored(
        &self,
        index: &ListedThread,
        not_stored: &mut HashMap<ThreadId, ListedThread>,
    ) -> Result<()> {
        let of = not_stored.get(&index.key.id);
        if of.is_some_and(|session| session.changed_at <= index.changed_at) {
            not_stored.remove(&index.key.id);
        } else if let Some(session) = index.key.source()
            && self.sessions.store().head(&session, None).await? == Found::Missing
        {
            self.sessions.store().erase(&index.key).await?;
        }
        Ok(())
    }

    /// Time until a session changed at `changed_at` counts as idle; `None` if it does already.
    fn time_to_rest(&self, changed_at: Timestamp) -> Option<Duration> {
        let since = self.clock.now().duration_since(changed_at);
        RESTED.checked_sub(since.try_into().unwrap_or_default()).filter(|wait| !wait.is_zero())
    }

    /// Stores the recall index of a session once it is idle or too many turns are missing from it.
    async fn store_index(&self, loaded: &LoadedSession) -> Result<()> {
        let memory = &self.turns.memory;
        match self.time_to_rest(loaded.head.last_activity) {
            Some(wait) if memory.turns_not_kept(loaded) < UNSTORED_TURNS_MAX => {
                self.work.look_later(&loaded.key, wait);
                Ok(())
            }
            _ => memory.keep(&self.sessions, loaded, self.clock.now(), || self.clock.id()).await,
        }
    }

    /// Whether the index is behind. For a recently changed session, also whether other work is due, because a
    /// search may have updated the index first.
    async fn is_behind(&self, listed: &ListedThread) -> Result<bool> {
        let key = &listed.key;
        if let Some(index) = self.indexer.index() {
            let position = index.position(&key.scope, &key.id.clone().into()).await?;
            if position.is_none_or(|position| position.version != listed.version) {
                return Ok(true);
            }
        }
        if listed.changed_at + CHANGED_LATELY < self.clock.now() {
            return Ok(false);
        }
        let loaded = if_readable(self.sessions.find(key).await)?;
        Ok(loaded.is_some_and(|loaded| {
            let head = &loaded.head;
            head.pending.is_some() || !head.unsettled.is_empty() || self.is_due(&loaded)
        }))
    }

    /// Whether costly work is due.
    fn is_due(&self, loaded: &LoadedSession) -> bool {
        self.summarizer(loaded).is_some()
            || resolve::open(&loaded.head, &self.packs).next().is_some()
    }

    /// The model to replace an extracted summary with, and that summary.
    fn summarizer(&self, loaded: &LoadedSession) -> Option<(Arc<dyn Model>, Summary)> {
        let summary = loaded.head.summary.as_ref()?;
        let extracted = self.limits.summaries && summary.is_extract();
        let agent = self.agents.current().get(loaded.head.agent.as_ref()).ok()?;
        let model = self.models.get(agent.models.summarizer.as_deref()).filter(|_| extracted)?;
        Some((model, summary.clone()))
    }

    pub async fn work_on(&self, key: &Key) -> Result<WorkOutcome> {
        let Some(loaded) = self.sessions.find(key).await? else {
            self.sessions.store().erase(&key.derived()).await?;
            return self.indexer.remove(key).await.map(|_| WorkOutcome::Done);
        };
        let loaded = self.turns.end_expired(loaded).await?;
        self.indexer.bring_up(&loaded).await?;
        if !self.is_due(&loaded) {
            return self.store_index(&loaded).await.map(|()| WorkOutcome::Done);
        }
        let Some(lease) = self.lease(key).await? else { return Ok(WorkOutcome::HeldElsewhere) };
        let outcome = async {
            // Another server may have done it before this one got the lease.
            let loaded = self.sessions.load(key).await?;
            self.condense(&loaded).await?;
            self.look_up_things(&loaded).await
        }
        .await;
        self.sessions.store().erase(&lease).await?;
        outcome?;
        // Last, because it needs the latest version of the session.
        let loaded = self.sessions.load(key).await?;
        self.store_index(&loaded).await.map(|()| WorkOutcome::Done)
    }

    /// Lets a model rewrite a summary that was extracted. It is used from the next compaction on. If the model
    /// fails, the extracted summary stays.
    async fn condense(&self, loaded: &LoadedSession) -> Result<()> {
        let Some((model, before)) = self.summarizer(loaded) else { return Ok(()) };
        let mut turns = self.sessions.turns(loaded, before.modelled_to..before.to).await?;
        turns.retain(|turn| loaded.head.shows(turn));
        let most = self.limits.summary_tokens_max;
        let written = summary::by_model(model.as_ref(), Some(&before.text), &turns, most).await;
        let text = match written {
            Ok(text) => text,
            Err(error) => {
                tracing::warn!(%error, "summarizing failed; keeping the extracted summary");
                return Ok(());
            }
        };
        let made = Summary {
            tokens: tokens::count(&text),
            text,
            by: model.name().to_owned(),
            at: self.clock.now(),
            modelled_to: before.to,
            ..before.clone()
        };
        let unused = loaded.head.unused_turns();
        self.sessions
            .update(&loaded.key, |head, _| {
                if head.summary.as_ref() != Some(&before) || head.unused_turns() != unused {
                    return Ok(Step::Leave(()));
                }
                head.summary = Some(made.clone());
                Ok(Step::Commit(None, ()))
            })
            .await?;
        Ok(())
    }

    /// Looks up entities that were mentioned but not found yet, using the user's tools.
    async fn look_up_things(&self, loaded: &LoadedSession) -> Result<()> {
        if resolve::open(&loaded.head, &self.packs).next().is_none() {
            return Ok(());
        }
        let agent = self.agents.current().get(loaded.head.agent.as_ref())?;
        let tools = self.catalog.of(&agent).await?;
        let tools = session_tools(&agent, &session_items(&agent, &loaded.head, &tools), tools);
        let policy = self.turns.rules.of(&loaded.key.scope, agent, &loaded.head.tool_rules).await?;
        let found = self.resolver.look_up_open(loaded, &policy, &tools).await?;
        let at = crate::entity::Moment { turn: loaded.head.turns, now: self.clock.now() };
        self.sessions
            .update(&loaded.key, |head, _| {
                if head.looked_up_turn >= at.turn {
                    return Ok(Step::Leave(()));
                }
                head.looked_up_turn = at.turn;
                let mut known = crate::entity::KnownEntities::new();
                head.entities.apply_harvest(&found, &mut known, &self.packs, at);
                Ok(Step::Commit(None, ()))
            })
            .await?;
        Ok(())
    }

    /// Leases a session's costly work; `None` if another server holds it.
    async fn lease(&self, key: &Key) -> Result<Option<Key>> {
        let name = crate::hash::ContentHash::of(&key.to_string());
        let at = Key { scope: system_scope(), kind: Kind::Job, id: ThreadId::new(name.as_str())? };
        let now = self.clock.now();
        let expected = match self.sessions.store().head(&at, None).await? {
            Found::Head(head) => {
                let held = serde_json::from_slice::<Lease>(&head.bytes).ok();
                if held.is_some_and(|lease| lease.until > now) {
                    return Ok(None);
                }
                Expected::At(head.version)
            }
            Found::Missing | Found::Unchanged => Expected::Absent,
        };
        let lease = Lease { holder: self.clock.id(), until: now + LEASE };
        let head = serde_json::to_vec(&lease).map_err(|error| Error::Unreadable {
            what: at.to_string(),
            reason: error.to_string(),
        })?;
        let expires_at = Some(lease.until);
        let change = Change { expires_at, ..Change::of_head(head, now, lease.holder) };
        match self.sessions.store().commit(&at, expected, change).await {
            Ok(_) => Ok(Some(at)),
            Err(StoreError::Conflict { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}
