//! Writes turns of one session that are waiting at the same time in one commit.
//!
//! Each writer applies its turn to the head of the previous one and passes both on while others are waiting; the
//! last one writes. So concurrent turns of a busy session cost the store one commit, on any backend. A single
//! writer is not delayed.
//!
//! Not for changes that name an expected version, because a batch has no version between two turns. Those use
//! [`Sessions::update`], which writes a waiting batch first.
//!
//! Invariant: no result is returned that depends on an unwritten turn. A batch that loses against another process
//! is dropped, and each of its writers starts again on the newer head.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use tokio::sync::{Mutex, MutexGuard, watch};

use crate::error::{Error, Result};
use crate::store::{Change, Expected, Key, Store, StoreError, Version};

use super::cache::Cache;
use super::head::SessionHead;
use super::record::TurnRecord;
use super::sessions::{LoadedSession, Sessions, Step, encode, remember};

/// Maximum turns per commit.
const BATCH_TURNS_MAX: usize = 64;
/// Size at which a batch accepts no more turns.
const BATCH_BYTES_MAX: usize = 1024 * 1024;

/// The queue for writers of a session; sessions share queues.
#[derive(Default)]
pub(super) struct Queue {
    place: Mutex<Option<Batch>>,
    /// Writers that have not applied their turn yet.
    waiting: AtomicUsize,
}

/// Turns that are about to be written together.
pub(super) struct Batch {
    base: LoadedSession,
    /// The base with every turn so far.
    head: SessionHead,
    turns: Vec<(Arc<TurnRecord>, Bytes)>,
    outcome: watch::Sender<Option<Outcome>>,
}

/// The version of a batch, or why it failed.
type Outcome = std::result::Result<Version, StoreError>;

impl Batch {
    fn new(base: LoadedSession) -> Self {
        let head = SessionHead::clone(&base.head);
        Self { base, head, turns: Vec::new(), outcome: watch::Sender::new(None) }
    }

    /// Whether another turn of the session `key` may join.
    fn takes(&self, key: &Key) -> bool {
        let bytes: usize = self.turns.iter().map(|(_, bytes)| bytes.len()).sum();
        self.base.key == *key && self.turns.len() < BATCH_TURNS_MAX && bytes < BATCH_BYTES_MAX
    }

    /// Whether all its writers are gone, so that nobody needs it written.
    fn is_abandoned(&self) -> bool {
        self.outcome.receiver_count() == 0
    }

    async fn write(self, store: Arc<dyn Store>, cache: Arc<Cache>, change: Change) {
        let expected = Expected::At(self.base.version);
        let outcome = store.commit(&self.base.key, expected, change).await;
        if let Ok(version) = outcome {
            let turns = self.turns.into_iter().map(|(turn, bytes)| (turn, bytes.len()));
            remember(&cache, &self.base, version, self.head, turns);
        }
        self.outcome.send_replace(Some(outcome));
    }
}

impl Queue {
    /// Waits for the lock, first come first served.
    pub(super) async fn take(&self) -> MutexGuard<'_, Option<Batch>> {
        self.place.lock().await
    }

    /// Waits for the lock and is counted meanwhile.
    async fn take_counted(&self) -> MutexGuard<'_, Option<Batch>> {
        let _counted = Counted::new(&self.waiting);
        self.place.lock().await
    }

    fn somebody_waits(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }
}

/// A waiting writer; also counts down if the wait is cancelled.
struct Counted<'a>(&'a AtomicUsize);

impl<'a> Counted<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Sessions {
    /// Like [`Sessions::update`], but combined with concurrent turns of the same session. `step` sees the version
    /// the batch is based on; several turns may get the same new version.
    pub async fn commit_batched<T>(
        &self,
        key: &Key,
        mut step: impl FnMut(&mut SessionHead, Version) -> Result<Step<T>>,
    ) -> Result<(Version, T)> {
        let queue = self.queue(key);
        // Set once the cached head proved outdated; from then on it is reloaded.
        let mut ask = false;
        let mut held = None;
        let mut attempt = 0;
        while attempt < self.attempts_max {
            let mut place = match held.take() {
                Some(place) => place,
                None => queue.take_counted().await,
            };
            if place.as_ref().is_some_and(|batch| !batch.takes(key)) {
                self.write_waiting(&mut place).await?;
            }
            let joined = place.take().filter(|batch| !batch.is_abandoned());
            let sure = ask && joined.is_none();
            let batch = match (joined, self.cached(key).filter(|_| !ask)) {
                (Some(batch), _) => place.insert(batch),
                (None, Some(base)) => place.insert(Batch::new(base)),
                (None, None) => place.insert(Batch::new(self.load(key).await?)),
            };
            let (first, base) = (batch.turns.is_empty(), batch.base.version);
            let mut head = batch.head.clone();
            let stepped = step(&mut head, base).and_then(|step| match step {
                Step::Leave(answer) => Ok((None, answer)),
                Step::Commit(turn, answer) => {
                    let bytes = turn.as_ref().map(|turn| encode(key, turn)).transpose()?;
                    Ok((Some(turn.zip(bytes)), answer))
                }
            });
            let (turn, answer) = match stepped {
                Ok((Some(turn), answer)) => (turn, answer),
                Ok((None, answer)) if sure => return Ok((base, answer)),
                Err(error) if sure => return Err(error),
                // The decision depends on unwritten turns or a possibly outdated head: write them, reload the
                // head, and decide again before anybody else does.
                Ok((None, _)) | Err(_) => {
                    self.write_waiting(&mut place).await?;
                    ask = true;
                    held = Some(place);
                    continue;
                }
            };
            let last_activity = head.last_activity;
            self.set_expiry(&mut head, last_activity);
            batch.head = head;
            batch.turns.extend(turn);
            let mut outcome = batch.outcome.subscribe();
            if queue.somebody_waits() {
                drop(place);
                // Queue behind all current waiters, so that they join first.
                place = queue.take().await;
            } else if first && let Some(batch) = place.take() {
                // Nobody else is waiting.
                let change = self.change_of(&batch)?;
                batch.write(Arc::clone(self.store()), Arc::clone(&self.cache), change).await;
            }
            if outcome.borrow().is_none() {
                self.write_waiting(&mut place).await?;
            }
            drop(place);
            let outcome = match outcome.wait_for(Option::is_some).await {
                Ok(outcome) => outcome.clone(),
                Err(_) => None,
            };
            match outcome {
                Some(Ok(version)) => return Ok((version, answer)),
                Some(Err(StoreError::Conflict { .. })) if !ask => ask = true,
                Some(Err(StoreError::Conflict { .. })) => {
                    self.pause(attempt).await;
                    attempt += 1;
                }
                Some(Err(error)) => return Err(error.into()),
                None => return Err(self.nobody_knows().into()),
            }
        }
        Err(Error::Contended { session: key.id.clone().into(), attempts: self.attempts_max })
    }

    /// Writes the batch that waits here, if anybody needs it.
    ///
    /// In a separate task: if the caller is cancelled meanwhile, the others still get the result, and nobody
    /// writes the same turns again because the first result is missing.
    pub(super) async fn write_waiting(&self, place: &mut Option<Batch>) -> Result<()> {
        let Some(batch) = place.take().filter(|batch| !batch.is_abandoned()) else {
            return Ok(());
        };
        let change = self.change_of(&batch)?;
        let writing = batch.write(Arc::clone(self.store()), Arc::clone(&self.cache), change);
        // Waiters see a failure of the task through its outcome.
        let _ = tokio::spawn(writing).await;
        Ok(())
    }

    fn change_of(&self, batch: &Batch) -> Result<Change> {
        let log = batch.turns.iter().map(|(_, bytes)| bytes.clone()).collect();
        self.change(&batch.head, log, Vec::new())
    }

    fn nobody_knows(&self) -> StoreError {
        StoreError::Unavailable {
            what: self.store().facts().location,
            reason: "the write was interrupted".into(),
            outcome_unknown: true,
        }
    }
}
