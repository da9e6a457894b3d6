//! The only thread that writes, with group commit.
//!
//! All changes that are waiting become one transaction with one fsync. Each change has its own savepoint, so
//! a refused one does not affect the others. Callers are answered after the fsync. Other processes may write
//! to the same file; SQLite's lock and the busy timeout serialise them.
//!
//! Invariant: `Ok` is sent only after COMMIT has returned.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rusqlite::{Connection, Transaction, TransactionBehavior};
use throughline_engine::store::{Change, Erased, Expected, Key, Result, StoreError, Version};
use tokio::sync::{mpsc, oneshot};

use super::apply::{self, Failure};
use super::fault::{Outcome, translate};
use super::scrub;
use super::worker::WAITING_MAX;
use crate::disk;

/// Maximum number of changes per transaction.
const GROUP_CHANGES_MAX: usize = 256;
/// No more changes join a transaction that has reached this size.
const GROUP_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Size of the WAL, in pages, at which a checkpoint runs.
const CHECKPOINT_PAGES: i32 = 4000;
/// How long truncating the WAL may wait for readers, while commits wait as well.
const TRUNCATE_WAIT: Duration = Duration::from_millis(250);
/// Delay before truncating the WAL is tried again.
const TRUNCATE_PAUSE: Duration = Duration::from_secs(2);

/// A request to the writer thread.
#[expect(clippy::large_enum_variant, reason = "nearly all requests are commits")]
pub(crate) enum Request {
    Commit(Commit),
    Erase(Erasure),
    Probe {
        answer: oneshot::Sender<Result<()>>,
    },
    /// Rebuilds the index for listings.
    Reindex {
        answer: oneshot::Sender<Result<()>>,
    },
}

/// A change to be written.
pub(crate) struct Commit {
    pub(crate) key: Key,
    pub(crate) expected: Expected,
    pub(crate) change: Change,
    pub(crate) answer: oneshot::Sender<Result<Version>>,
}

/// Threads to be erased.
pub(crate) struct Erasure {
    pub(crate) keys: Vec<Key>,
    pub(crate) answer: oneshot::Sender<Result<Vec<Erased>>>,
}

impl Commit {
    fn bytes(&self) -> usize {
        self.change.head.len() + self.change.append.iter().map(bytes::Bytes::len).sum::<usize>()
    }
}

/// The handle of the writer thread.
#[derive(Debug)]
pub(crate) struct Writer {
    requests: Option<mpsc::Sender<Request>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(crate) fn start(path: PathBuf, mut connection: Connection, busy: Duration) -> Result<Self> {
        let fail = |error: &dyn std::fmt::Display, path: &PathBuf| StoreError::Unavailable {
            what: path.display().to_string(),
            reason: error.to_string(),
            outcome_unknown: false,
        };
        let wal_pages = Arc::new(AtomicI32::new(0));
        let seen = Arc::clone(&wal_pages);
        connection
            .wal_hook(Some(move |_: &mut rusqlite::hooks::Wal, pages| {
                seen.store(pages, Ordering::Relaxed);
                Ok(())
            }))
            .map_err(|error| fail(&error, &path))?;
        let (requests, waiting) = mpsc::channel(WAITING_MAX);
        let at = path.clone();
        let state = WriterState { path: at, connection, busy, wal_pages, truncate: Truncate::Done };
        let thread = std::thread::Builder::new()
            .name("store-writer".into())
            .spawn(move || state.work(waiting))
            .map_err(|error| fail(&error, &path))?;
        Ok(Self { requests: Some(requests), thread: Some(thread) })
    }

    /// Sends a request; returns `None` if the thread has ended.
    pub(crate) async fn send(&self, request: Request) -> Option<()> {
        self.requests.as_ref()?.send(request).await.ok()
    }
}

impl Drop for Writer {
    /// Waits for queued requests, so that the file is closed when the store is dropped.
    fn drop(&mut self) {
        self.requests = None;
        if let Some(thread) = self.thread.take() {
            // The panic of a thread has already been reported.
            let _ = thread.join();
        }
    }
}

/// The state of the writer thread.
struct WriterState {
    path: PathBuf,
    connection: Connection,
    busy: Duration,
    wal_pages: Arc<AtomicI32>,
    truncate: Truncate,
}

/// Whether erased bytes may still be in the WAL.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Truncate {
    Done,
    Due,
    /// A reader was in the way; do not retry before this time.
    After(Instant),
}

impl WriterState {
    fn work(mut self, mut waiting: mpsc::Receiver<Request>) {
        let mut held: Option<Request> = None;
        while let Some(request) = held.take().or_else(|| waiting.blocking_recv()) {
            match request {
                Request::Erase(first) => {
                    let (group, next) = gather_erasures(first, &mut waiting);
                    held = next;
                    self.erase(group);
                }
                Request::Probe { answer } => {
                    let _ = answer.send(self.probe());
                }
                Request::Reindex { answer } => {
                    let rebuilt = self.connection.execute_batch("REINDEX thread_recent");
                    let _ =
                        answer
                            .send(rebuilt.map_err(|error| {
                                translate(&self.path, Outcome::Unchanged, &error)
                            }));
                }
                Request::Commit(first) => {
                    let (group, next) = gather(first, &mut waiting);
                    held = next;
                    self.commit(group);
                }
            }
            self.checkpoint();
        }
    }

    fn commit(&mut self, group: Vec<Commit>) {
        if group.iter().any(|commit| !commit.change.overwrite.is_empty()) {
            self.truncate = Truncate::Due;
        }
        let mut outcome = Outcome::Unchanged;
        match apply_group(&mut self.connection, &group, &mut outcome) {
            Ok(results) => {
                for (commit, result) in group.into_iter().zip(results) {
                    let result = result.map_err(|failure| self.store_error(failure));
                    let _ = commit.answer.send(result);
                }
            }
            Err(error) => {
                tracing::warn!(store.path = %self.path.display(), %error, "a commit failed");
                for commit in group {
                    let _ = commit.answer.send(Err(translate(&self.path, outcome, &error)));
                }
            }
        }
    }

    fn store_error(&self, failure: Failure) -> StoreError {
        match failure {
            Failure::Store(error) => error,
            Failure::Sqlite(error) => translate(&self.path, Outcome::Unchanged, &error),
        }
    }

    /// Erases a group of threads in one transaction, and empties the WAL once for all of them. Erases even if a
    /// caller is gone.
    fn erase(&mut self, group: Vec<Erasure>) {
        let mut outcome = Outcome::Unchanged;
        let erased = (|| {
            let transaction = begin(&mut self.connection)?;
            let erase = |key| apply::erase(&transaction, key);
            let erased: Vec<Vec<Erased>> = group
                .iter()
                .map(|erasure| erasure.keys.iter().map(erase).collect())
                .collect::<rusqlite::Result<_>>()?;
            outcome = Outcome::Unknown;
            transaction.commit()?;
            Ok(erased)
        })();
        let erased: Vec<Vec<Erased>> = match erased {
            Ok(erased) => erased,
            Err(error) => {
                for erasure in group {
                    let _ = erasure.answer.send(Err(translate(&self.path, outcome, &error)));
                }
                return;
            }
        };
        // Also where nothing was there: an erasure that was cut short is asked for again.
        self.truncate = Truncate::Due;
        self.checkpoint();
        for (erasure, mut erased) in group.into_iter().zip(erased) {
            for erased in erased.iter_mut().filter(|it| it.records > 0) {
                if self.truncate != Truncate::Done {
                    erased.left = 1;
                    let note =
                        "erased data stays in the write-ahead log until its readers are done";
                    erased.notes.push(note.into());
                }
            }
            let _ = erasure.answer.send(Ok(erased));
        }
    }

    /// Takes the lock that a commit takes, and checks that the disk accepts a file beside the database.
    fn probe(&mut self) -> Result<()> {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let locked = begin(&mut self.connection).and_then(|transaction| transaction.rollback());
        let what = self.path.display().to_string();
        let reason = match (locked, disk::probe(folder.unwrap_or(std::path::Path::new(".")))) {
            (Ok(()), Ok(())) => return Ok(()),
            (_, Err(error)) if disk::is_full(&error) => {
                return Err(StoreError::Full { what, reason: error.to_string() });
            }
            (Err(error), _) => error.to_string(),
            (_, Err(error)) => error.to_string(),
        };
        let reason = format!("it cannot be written to: {reason}");
        Err(StoreError::Unavailable { what, reason, outcome_unknown: false })
    }

    /// Runs a checkpoint if one is due. After an erasure it truncates the WAL, which contains the old pages.
    fn checkpoint(&mut self) {
        let now = Instant::now();
        match self.truncate {
            Truncate::After(moment) if now < moment => {}
            Truncate::Due | Truncate::After(_) => {
                let emptied =
                    self.connection.busy_timeout(TRUNCATE_WAIT).is_ok() && self.empty_wal();
                self.truncate =
                    if emptied { Truncate::Done } else { Truncate::After(now + TRUNCATE_PAUSE) };
                if let Err(error) = self.connection.busy_timeout(self.busy) {
                    tracing::warn!(%error, "the busy timeout could not be set");
                }
                return;
            }
            Truncate::Done => {}
        }
        if self.wal_pages.load(Ordering::Relaxed) >= CHECKPOINT_PAGES {
            let question = "PRAGMA wal_checkpoint(PASSIVE)";
            let busy = self.connection.query_row(question, [], |row| row.get(0));
            self.is_checkpointed(busy);
        }
    }

    fn empty_wal(&self) -> bool {
        self.is_checkpointed(scrub::empty_wal(&self.connection).map(|done| done.is_none()))
    }

    fn is_checkpointed(&self, busy: rusqlite::Result<bool>) -> bool {
        match busy {
            Ok(false) => {
                self.wal_pages.store(0, Ordering::Relaxed);
                true
            }
            Ok(true) => {
                tracing::debug!("a reader holds the WAL; the checkpoint will be retried");
                false
            }
            Err(error) => {
                tracing::warn!(%error, "the checkpoint failed and will be retried");
                false
            }
        }
    }
}

/// Collects waiting commits up to the limits; a request of another kind ends the group and comes next.
fn gather(first: Commit, waiting: &mut mpsc::Receiver<Request>) -> (Vec<Commit>, Option<Request>) {
    let mut bytes = first.bytes();
    let mut group = vec![first];
    while group.len() < GROUP_CHANGES_MAX && bytes < GROUP_BYTES_MAX {
        match waiting.try_recv() {
            Ok(Request::Commit(commit)) => {
                bytes += commit.bytes();
                group.push(commit);
            }
            Ok(request) => return (group, Some(request)),
            Err(_) => break,
        }
    }
    (group, None)
}

/// Collects waiting erasures; a request of another kind ends the group and comes next.
fn gather_erasures(
    first: Erasure,
    waiting: &mut mpsc::Receiver<Request>,
) -> (Vec<Erasure>, Option<Request>) {
    let mut group = vec![first];
    while group.len() < GROUP_CHANGES_MAX {
        match waiting.try_recv() {
            Ok(Request::Erase(erasure)) => group.push(erasure),
            Ok(request) => return (group, Some(request)),
            Err(_) => break,
        }
    }
    (group, None)
}

fn begin(connection: &mut Connection) -> rusqlite::Result<Transaction<'_>> {
    connection.transaction_with_behavior(TransactionBehavior::Immediate)
}

type Results = Vec<std::result::Result<Version, Failure>>;

fn apply_group(
    connection: &mut Connection,
    group: &[Commit],
    outcome: &mut Outcome,
) -> rusqlite::Result<Results> {
    let mut transaction = begin(connection)?;
    let mut results = Vec::with_capacity(group.len());
    for commit in group {
        let savepoint = transaction.savepoint()?;
        let result = apply::commit(&savepoint, &commit.key, commit.expected, &commit.change);
        if result.is_ok() {
            savepoint.commit()?;
        } else {
            savepoint.finish()?;
        }
        results.push(result);
    }
    if results.iter().any(std::result::Result::is_ok) {
        *outcome = Outcome::Unknown;
        transaction.commit()?;
    }
    Ok(results)
}
