//! What happens after a turn, in the background: index, condense, look things up, give up waiting.
//!
//! Each is derived from the log, so nothing needs to be queued durably: what is behind can always be
//! told from a session's head, and [`Engine::tend_all`] finds it after a restart. Work that costs (a
//! model, a tool) is leased in the store, so that several copies of the server do it once. Every result
//! loses politely to a newer version.
//!
//! Invariant: nothing here delays a reply or rewrites history.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::access::system_scope;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::id::ThreadId;
use crate::resolve;
use crate::session::Loaded;
use crate::session::head::Summary;
use crate::session::keep::Step;
use crate::store::{Change, Expected, Found, Key, Kind, Listed, StoreError};
use crate::{summary, tokens};

/// Attempts at one session's work before it waits for the next turn or restart.
const ATTEMPTS_MAX: u32 = 5;
/// How long after the first failed attempt the next one is made.
const RETRY_FIRST: Duration = Duration::from_secs(1);
/// How many times longer each further wait is: 1, 5, 25 and 125 seconds.
const RETRY_GROWTH: u32 = 5;
/// How long a lease holds; a copy that died gives way after it.
const LEASE: SignedDuration = SignedDuration::from_secs(120);
/// How long turns are gathered before their sessions are tended, so that a busy session is not indexed
/// with every turn. A search does not wait for it: it catches up first.
const GATHERING: Duration = Duration::from_millis(300);
/// How far back a restart looks for more than an index that is behind.
const CHANGED_LATELY: SignedDuration = SignedDuration::from_hours(7 * 24);
/// Sessions looked at per step of a sweep.
const SWEEP_SESSIONS: usize = 256;

/// What became of a session's work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tended {
    /// All that was due is done.
    Done,
    /// Another copy holds the lease; a copy that died still holds it for a while.
    HeldElsewhere,
}

/// Sessions that wait for background work.
#[derive(Default)]
pub struct Worklist {
    waiting: Mutex<VecDeque<Key>>,
    /// Sessions to be looked at later: another copy held their lease, a turn of theirs waits, or it failed.
    later: Mutex<Vec<(Instant, Key)>>,
    attempts: Mutex<HashMap<Key, u32>>,
    wake: Notify,
    done: AtomicU64,
    failed: AtomicU64,
}

/// How the background work is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct WorkStatistics {
    /// Sessions that wait.
    pub waiting: u64,
    /// Sessions tended since the start.
    pub done: u64,
    /// Attempts that failed since the start.
    pub failed: u64,
}

impl Worklist {
    /// Adds a session unless it waits already.
    pub fn add(&self, key: &Key) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if !waiting.contains(key) {
            waiting.push_back(key.clone());
            drop(waiting);
            self.wake.notify_one();
        }
    }

    fn take_all(&self) -> Vec<Key> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let mut later = self.later.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let due = later.extract_if(.., |(at, _)| *at <= now).map(|(_, key)| key);
        let mut taken: Vec<Key> = waiting.drain(..).collect();
        taken.extend(due);
        taken
    }

    /// Has a session looked at after `wait`, or earlier where that was asked for before.
    pub fn look_later(&self, key: &Key, wait: Duration) {
        let at = Instant::now() + wait;
        let mut later = self.later.lock().unwrap_or_else(PoisonError::into_inner);
        match later.iter_mut().find(|(_, other)| other == key) {
            Some((earlier, _)) => *earlier = at.min(*earlier),
            None => later.push((at, key.clone())),
        }
        drop(later);
        self.wake.notify_one();
    }

    /// Waits until a session is to be looked at; for ever where none is.
    async fn next_due(&self) {
        match self.first_due() {
            Some(at) => tokio::time::sleep_until(at).await,
            None => std::future::pending().await,
        }
    }

    fn first_due(&self) -> Option<Instant> {
        let later = self.later.lock().unwrap_or_else(PoisonError::into_inner);
        later.iter().map(|(at, _)| *at).min()
    }

    /// The figures.
    pub fn statistics(&self) -> WorkStatistics {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).len();
        let waiting = waiting + self.later.lock().unwrap_or_else(PoisonError::into_inner).len();
        WorkStatistics {
            waiting: waiting as u64,
            done: self.done.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
        }
    }

    /// When to try a session again after a failure; not before its next turn where it failed too often.
    fn failed(&self, key: &Key) -> Option<Duration> {
        self.failed.fetch_add(1, Ordering::Relaxed);
        let mut attempts = self.attempts.lock().unwrap_or_else(PoisonError::into_inner);
        let count = attempts.entry(key.clone()).or_default();
        *count += 1;
        if *count < ATTEMPTS_MAX {
            return Some(RETRY_FIRST * RETRY_GROWTH.pow(*count - 1));
        }
        attempts.remove(key);
        None
    }

    fn succeeded(&self, key: &Key) {
        self.done.fetch_add(1, Ordering::Relaxed);
        self.attempts.lock().unwrap_or_else(PoisonError::into_inner).remove(key);
    }
}

/// A lease on the costly work of one session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Lease {
    holder: uuid::Uuid,
    pub(crate) until: Timestamp,
}

impl Engine {
    /// Works through the list until `stop`.
    pub async fn tend_until(&self, stop: CancellationToken) {
        while !stop.is_cancelled() {
            for key in self.work.take_all() {
                if stop.is_cancelled() {
                    return;
                }
                match self.tend(&key).await {
                    Ok(Tended::Done) | Err(Error::NoSession(_)) => self.work.succeeded(&key),
                    Ok(Tended::HeldElsewhere) => {
                        // Another copy works on it, or died over it.
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

    /// Puts every session that is behind on the list: after a restart, or after others wrote.
    pub async fn tend_all(&self) -> Result<u64> {
        let mut after: Option<Key> = None;
        let mut found = 0;
        loop {
            let listed = self.store().scan(after.as_ref(), SWEEP_SESSIONS).await?;
            let Some(last) = listed.last() else { return Ok(found) };
            after = Some(last.key.clone());
            for listed in listed.iter().filter(|listed| listed.key.kind == Kind::Session) {
                if self.is_behind(listed).await? {
                    self.work.add(&listed.key);
                    found += 1;
                }
            }
        }
    }

    /// Whether the index is behind; for a session that was changed lately, also whether something else
    /// is due, since a search may have brought the index up before the rest was done.
    async fn is_behind(&self, listed: &Listed) -> Result<bool> {
        let key = &listed.key;
        if let Some(index) = &self.index {
            let position = index.position(&key.scope, &key.id.clone().into()).await?;
            if position.is_none_or(|position| position.version != listed.version) {
                return Ok(true);
            }
        }
        if listed.changed_at + CHANGED_LATELY < self.now() {
            return Ok(false);
        }
        let loaded = self.sessions.find(key).await?;
        Ok(loaded.is_some_and(|loaded| loaded.head.pending.is_some() || self.is_due(&loaded)))
    }

    /// Whether work that costs is due.
    fn is_due(&self, loaded: &Loaded) -> bool {
        summary::due(&loaded.head, self.limits()).is_some()
            || resolve::open(&loaded.head, self.packs()).next().is_some()
    }

    /// Does what is due for one session.
    pub async fn tend(&self, key: &Key) -> Result<Tended> {
        let Some(loaded) = self.sessions.find(key).await? else {
            return self.unindex(key).await.map(|_| Tended::Done);
        };
        let loaded = self.end_expired(loaded).await?;
        self.index_session(&loaded).await?;
        if !self.is_due(&loaded) {
            return Ok(Tended::Done);
        }
        let Some(lease) = self.lease(key).await? else { return Ok(Tended::HeldElsewhere) };
        let outcome = async {
            // Another copy may have done it between the look above and the lease.
            let loaded = self.sessions.load(key).await?;
            self.condense(&loaded).await?;
            self.look_up_things(&loaded).await
        }
        .await;
        self.store().erase(&lease).await?;
        outcome.map(|()| Tended::Done)
    }

    /// Condenses the turns that are due.
    async fn condense(&self, loaded: &Loaded) -> Result<()> {
        let Some((from, to)) = summary::due(&loaded.head, self.limits()) else { return Ok(()) };
        let turns = self.sessions.turns(loaded, from - 1..to).await?;
        let previous = loaded.head.summary.as_ref();
        let text = previous.map(|summary| summary.text.as_str());
        let agent = self.agents().get(loaded.head.agent.as_ref())?;
        let model = self.models.get(agent.models.summarizer.as_deref());
        let by_model = match &model {
            Some(model) => summary::by_model(model.as_ref(), text, &turns).await.map_or_else(
                |error| {
                    tracing::warn!(%error, "the summary is made by extraction");
                    None
                },
                |text| Some((text, model.name().to_owned())),
            ),
            None => None,
        };
        let (text, by) =
            by_model.unwrap_or_else(|| (summary::extract(text, &turns), "extraction".into()));
        let made = Summary { from: 1, to, tokens: tokens::count(&text), text, by, at: self.now() };
        let covered = previous.map_or(0, |summary| summary.to);
        let erased = loaded.head.erased_turns;
        self.sessions
            .update(&loaded.key, |head, _| {
                let now_covered = head.summary.as_ref().map_or(0, |summary| summary.to);
                if now_covered != covered || head.erased_turns != erased {
                    return Ok(Step::Leave(()));
                }
                head.summary = Some(made.clone());
                Ok(Step::Commit(Box::new(None), ()))
            })
            .await?;
        Ok(())
    }

    /// Looks up, through the user's own tools, things that were named but not yet found.
    async fn look_up_things(&self, loaded: &Loaded) -> Result<()> {
        if resolve::open(&loaded.head, self.packs()).next().is_none() {
            return Ok(());
        }
        let found = resolve::look_up_open(self, loaded).await?;
        let at = crate::entity::Moment { turn: loaded.head.turns, now: self.now() };
        self.sessions
            .update(&loaded.key, |head, _| {
                if head.looked_up_turn >= at.turn {
                    return Ok(Step::Leave(()));
                }
                head.looked_up_turn = at.turn;
                let mut known = crate::entity::KnownEntities::new();
                head.entities.apply_harvest(&found, &mut known, self.packs(), at);
                Ok(Step::Commit(Box::new(None), ()))
            })
            .await?;
        Ok(())
    }

    /// The lease on a session's costly work, if no other copy holds it.
    async fn lease(&self, key: &Key) -> Result<Option<Key>> {
        let name = crate::hash::ContentHash::of(&key.to_string());
        let at = Key { scope: system_scope(), kind: Kind::Job, id: ThreadId::new(name.as_str())? };
        let now = self.now();
        let expected = match self.store().head(&at, None).await? {
            Found::Head(head) => {
                let held = serde_json::from_slice::<Lease>(&head.bytes).ok();
                if held.is_some_and(|lease| lease.until > now) {
                    return Ok(None);
                }
                Expected::At(head.version)
            }
            Found::Missing | Found::Unchanged => Expected::Absent,
        };
        let lease = Lease { holder: self.new_id(), until: now + LEASE };
        let change = Change {
            at: now,
            head: serde_json::to_vec(&lease).unwrap_or_default().into(),
            append: Vec::new(),
            overwrite: Vec::new(),
            expires_at: Some(lease.until),
            write_id: lease.holder,
        };
        match self.store().commit(&at, expected, change).await {
            Ok(_) => Ok(Some(at)),
            Err(StoreError::Conflict { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_work_waits_longer_each_time_then_for_the_next_turn() {
        let id = ThreadId::new("s").expect("valid");
        let key = Key { scope: system_scope(), kind: Kind::Session, id };
        let work = Worklist::default();
        let waits = || work.failed(&key).map(|wait| wait.as_secs());
        let first: Vec<_> = (0..5).map(|_| waits()).collect();
        assert_eq!(first, [Some(1), Some(5), Some(25), Some(125), None]);
        assert_eq!(waits(), Some(1), "the next turn starts anew");
        work.succeeded(&key);
        assert_eq!(work.failed(&key), Some(RETRY_FIRST));
        assert_eq!((work.statistics().failed, work.statistics().done), (7, 1));
    }
}
