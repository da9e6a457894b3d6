//! Loads and commits sessions.
//!
//! Reads go through a cache whose entries are validated against the store's version; writes are compare-and-swap
//! with a bounded number of attempts. Writers of one session in this process queue, which saves attempts, and
//! waiting turns are written in one [group commit](super::group_commit); correctness does not depend on it.
//!
//! Invariant: the result of [`Sessions::load`] was the store's state at some time during the call.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use jiff::{SignedDuration, Timestamp};

use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::id::SessionId;
use crate::store::{
    Change, Erased, Expected, Found, Key, Kind, ListedThread, Page, Scope, Store, StoreError,
    Version,
};

use super::cache::{Cache, CacheStatistics, Cached, TAIL_TURNS_MAX};
use super::group_commit::Queue;
use super::head::{FORMAT, SessionHead};
use super::record::TurnRecord;

/// Number of queues for writers of sessions.
const QUEUES: usize = 256;
/// Maximum pause between two attempts to commit.
const PAUSE_MAX: Duration = Duration::from_millis(50);

#[derive(Debug, Clone)]
pub struct LoadedSession {
    pub key: Key,
    pub version: Version,
    pub head: Arc<SessionHead>,
}

/// What an update writes.
pub enum Step<T> {
    /// The head, and the record at the end of the log.
    Commit(Option<Arc<TurnRecord>>, T),
    /// Nothing.
    Leave(T),
}

pub struct Sessions {
    pub(super) store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    pub(super) cache: Arc<Cache>,
    queues: Vec<Queue>,
    pub(super) attempts_max: usize,
    /// How long a session without a persona lives after its last activity.
    time_to_live: Option<SignedDuration>,
}

impl Sessions {
    /// Caches up to `cache_bytes` for `cache_age`.
    pub fn new(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        cache_bytes: u64,
        cache_age: Duration,
        attempts_max: usize,
    ) -> Self {
        let queues = (0..QUEUES).map(|_| Queue::default()).collect();
        let cache = Arc::new(Cache::new(cache_bytes, cache_age));
        Self { store, clock, cache, queues, attempts_max, time_to_live: None }
    }

    /// Sets a time to live for sessions without a persona, which has its own.
    pub fn with_time_to_live(self, time: Option<SignedDuration>) -> Self {
        Self { time_to_live: time, ..self }
    }

    pub fn time_to_live(&self) -> Option<SignedDuration> {
        self.time_to_live
    }

    /// Extends the expiry if sessions have a time to live.
    pub(super) fn set_expiry(&self, head: &mut SessionHead, last_activity: Timestamp) {
        if head.persona.is_none() {
            let end = |time| last_activity.checked_add(time).ok();
            head.expires_at = self.time_to_live.and_then(end);
        }
    }

    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub fn cache_statistics(&self) -> CacheStatistics {
        self.cache.statistics()
    }

    pub async fn find(&self, key: &Key) -> Result<Option<LoadedSession>> {
        let cached = self.cache.get(key);
        let found = self.store.head(key, cached.as_ref().map(|c| c.version)).await?;
        match (found, cached) {
            (Found::Unchanged, Some(cached)) => {
                self.cache.note(true);
                let head = cached.head.clone();
                Ok(Some(LoadedSession { key: key.clone(), version: cached.version, head }))
            }
            (Found::Head(head), _) => {
                self.cache.note(false);
                let parsed: Arc<SessionHead> = Arc::new(parse_head(key, &head.bytes)?);
                let cached = Cached {
                    version: head.version,
                    head: parsed.clone(),
                    tail: VecDeque::new(),
                    bytes: head.bytes.len() * 2,
                };
                self.cache.put(key.clone(), Arc::new(cached));
                Ok(Some(LoadedSession { key: key.clone(), version: head.version, head: parsed }))
            }
            (Found::Missing | Found::Unchanged, _) => {
                self.cache.forget(key);
                Ok(None)
            }
        }
    }

    /// The session as last seen here; it may have changed since.
    pub(crate) fn cached(&self, key: &Key) -> Option<LoadedSession> {
        let cached = self.cache.get(key)?;
        Some(LoadedSession { key: key.clone(), version: cached.version, head: cached.head.clone() })
    }

    /// The session, or an error if it does not exist.
    pub async fn load(&self, key: &Key) -> Result<LoadedSession> {
        self.find(key).await?.ok_or_else(|| no_session(key))
    }

    /// Creates a session; fails if it exists.
    pub async fn create(
        &self,
        key: &Key,
        mut head: SessionHead,
        log: Vec<Bytes>,
    ) -> Result<LoadedSession> {
        head.life = Some(self.clock.id());
        // The lifetime of an imported session starts now.
        self.set_expiry(&mut head, self.clock.now());
        let change = self.change(&head, log, Vec::new())?;
        match self.store.commit(key, Expected::Absent, change).await {
            Ok(version) => {
                let head = Arc::new(head);
                Ok(LoadedSession { key: key.clone(), version, head })
            }
            Err(StoreError::Conflict { .. }) => Err(Error::SessionExists(key.id.clone().into())),
            Err(error) => Err(error.into()),
        }
    }

    /// Changes a session: `step` sees the current head and says what to write. It runs again on a newer head if
    /// another writer was faster, so it must be a pure function of the head.
    ///
    /// The cached head is tried first without reading the store: a commit on it succeeds only if it is current.
    /// Any other result of `step` is repeated on a confirmed head.
    pub async fn update<T>(
        &self,
        key: &Key,
        mut step: impl FnMut(&mut SessionHead, Version) -> Result<Step<T>>,
    ) -> Result<(LoadedSession, T)> {
        let mut place = self.queue(key).take().await;
        self.write_waiting(&mut place).await?;
        let mut cached = self.cached(key);
        let mut attempt = 0;
        while attempt < self.attempts_max {
            let unconfirmed = cached.is_some();
            let loaded = match cached.take() {
                Some(loaded) => loaded,
                None => self.load(key).await?,
            };
            let mut head = SessionHead::clone(&loaded.head);
            let (record, answer) = match step(&mut head, loaded.version) {
                Ok(Step::Commit(record, answer)) => (record, answer),
                Ok(Step::Leave(_)) | Err(_) if unconfirmed => continue,
                Ok(Step::Leave(answer)) => return Ok((loaded, answer)),
                Err(error) => return Err(error),
            };
            let last_activity = head.last_activity;
            self.set_expiry(&mut head, last_activity);
            let log = record.iter().map(|r| encode(key, r)).collect::<Result<Vec<Bytes>>>()?;
            let size = log.iter().map(Bytes::len).sum::<usize>();
            let change = self.change(&head, log, Vec::new())?;
            match self.store.commit(key, Expected::At(loaded.version), change).await {
                Ok(version) => {
                    let record = record.map(|record| (record, size));
                    return Ok((remember(&self.cache, &loaded, version, head, record), answer));
                }
                Err(StoreError::Conflict { .. }) if unconfirmed => {}
                Err(StoreError::Conflict { .. }) => {
                    self.pause(attempt).await;
                    attempt += 1;
                }
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::Contended { session: key.id.clone().into(), attempts: self.attempts_max })
    }

    /// Changes the head and replaces the records that `step` returns; for erasures.
    pub async fn overwrite(
        &self,
        key: &Key,
        mut step: impl FnMut(&mut SessionHead) -> Result<Vec<TurnRecord>>,
    ) -> Result<LoadedSession> {
        let mut place = self.queue(key).take().await;
        self.write_waiting(&mut place).await?;
        for attempt in 0..self.attempts_max {
            let loaded = self.load(key).await?;
            let mut head = SessionHead::clone(&loaded.head);
            let records = step(&mut head)?;
            let last_activity = head.last_activity;
            self.set_expiry(&mut head, last_activity);
            let overwrite = records
                .iter()
                .map(|record| Ok((record.turn - 1, encode(key, record)?)))
                .collect::<Result<Vec<_>>>()?;
            let change = self.change(&head, Vec::new(), overwrite)?;
            self.cache.forget(key);
            match self.store.commit(key, Expected::At(loaded.version), change).await {
                Ok(_) => return self.load(key).await,
                Err(StoreError::Conflict { .. }) => self.pause(attempt).await,
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::Contended { session: key.id.clone().into(), attempts: self.attempts_max })
    }

    /// Sessions of a scope, most recently changed first.
    pub async fn list(&self, scope: &Scope, page: Page) -> Result<Vec<ListedThread>> {
        Ok(self.store.list(scope, Kind::Session, page).await?)
    }

    /// Erases a session and its recall index from the store and from memory. Records and bytes of both are
    /// counted.
    pub async fn erase(&self, key: &Key) -> Result<Erased> {
        self.cache.forget(key);
        let mut erased = self.store.erase(key).await?;
        self.cache.forget(key);
        let derived = self.store.erase(&key.derived()).await?;
        erased.add(Erased { heads: 0, entries: 0, ..derived });
        Ok(erased)
    }

    /// Removes a session from the cache.
    pub fn forget(&self, key: &Key) {
        self.cache.forget(key);
    }

    pub(super) fn queue(&self, key: &Key) -> &Queue {
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        let place = usize::try_from(hasher.finish() % QUEUES as u64).unwrap_or(0);
        &self.queues[place]
    }

    /// Waits a random time that grows with the attempts.
    pub(super) async fn pause(&self, attempt: usize) {
        let most =
            PAUSE_MAX.min(Duration::from_micros(200) * u32::try_from(attempt + 1).unwrap_or(1));
        let chance = u32::from(self.clock.id().as_bytes()[15]) + 1;
        tokio::time::sleep(most * chance / 256).await;
    }

    pub(super) fn change(
        &self,
        head: &SessionHead,
        append: Vec<Bytes>,
        overwrite: Vec<(u64, Bytes)>,
    ) -> Result<Change> {
        let bytes = serde_json::to_vec(head).map_err(|error| Error::Unreadable {
            what: format!("the head of session {}", head.id),
            reason: error.to_string(),
        })?;
        Ok(Change {
            at: self.clock.now(),
            head: bytes.into(),
            append,
            overwrite,
            expires_at: head.purge_at(),
            write_id: self.clock.id(),
        })
    }
}

/// Caches what was just written: the head, and its turns with their sizes.
pub(super) fn remember(
    cache: &Cache,
    before: &LoadedSession,
    version: Version,
    head: SessionHead,
    turns: impl IntoIterator<Item = (Arc<TurnRecord>, usize)>,
) -> LoadedSession {
    let head = Arc::new(head);
    let cached = cache.get(&before.key).filter(|c| c.version == before.version);
    let (mut tail, mut bytes) = match cached {
        Some(cached) => (cached.tail.clone(), cached.bytes),
        None => (VecDeque::new(), 4_096),
    };
    for (record, record_bytes) in turns {
        tail.push_back(record);
        bytes += record_bytes * 2;
        while tail.len() > TAIL_TURNS_MAX {
            tail.pop_front();
            bytes -= bytes / (TAIL_TURNS_MAX + 1);
        }
    }
    cache.put(before.key.clone(), Arc::new(Cached { version, head: head.clone(), tail, bytes }));
    LoadedSession { key: before.key.clone(), version, head }
}

fn no_session(key: &Key) -> Error {
    Error::NoSession(SessionId::from(key.id.clone()))
}

fn parse_head(key: &Key, bytes: &[u8]) -> Result<SessionHead> {
    let unreadable =
        |reason: String| Error::Unreadable { what: format!("the head of {key}"), reason };
    let head: SessionHead =
        serde_json::from_slice(bytes).map_err(|error| unreadable(error.to_string()))?;
    if head.format > FORMAT {
        return Err(unreadable(format!("its format {} is newer than {FORMAT}", head.format)));
    }
    Ok(head)
}

/// The record as bytes for the log.
pub fn encode(key: &Key, record: &TurnRecord) -> Result<Bytes> {
    serde_json::to_vec(record).map(Bytes::from).map_err(|error| Error::Unreadable {
        what: format!("turn {} of {key}", record.turn),
        reason: error.to_string(),
    })
}
