//! The one thread that writes, with group commit.
//!
//! Whatever waits when the thread comes round becomes one transaction and one fsync. Each change has
//! its own savepoint, so one that is refused does not fail its neighbours. Callers are answered after
//! the fsync. Other processes may write to the same file; SQLite's lock and the busy timeout order them.
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

use super::apply::{self, Refusal};
use super::fault::{Outcome, translate};
use super::worker::WAITING_MAX;
use crate::disk;

/// How many changes share one transaction at most.
const GROUP_CHANGES_MAX: usize = 256;
/// How many bytes share one transaction, after which no more changes join.
const GROUP_BYTES_MAX: usize = 8 * 1024 * 1024;
/// A checkpoint is due when the WAL has this many pages.
const CHECKPOINT_PAGES: i32 = 4000;
/// How long emptying the WAL may wait for readers; commits wait meanwhile.
const TRUNCATE_WAIT: Duration = Duration::from_millis(250);
/// How long after a vain attempt it is tried again.
const TRUNCATE_PAUSE: Duration = Duration::from_secs(2);

/// What the writer is asked for.
pub(crate) enum Order {
    Commit(Commit),
    Erase { key: Key, answer: oneshot::Sender<Result<Erased>> },
    Probe { answer: oneshot::Sender<Result<()>> },
}

/// A change that waits to be written.
pub(crate) struct Commit {
    pub(crate) key: Key,
    pub(crate) expected: Expected,
    pub(crate) change: Change,
    pub(crate) answer: oneshot::Sender<Result<Version>>,
}

impl Commit {
    fn bytes(&self) -> usize {
        self.change.head.len() + self.change.append.iter().map(bytes::Bytes::len).sum::<usize>()
    }
}

/// The handle that callers hold.
#[derive(Debug)]
pub(crate) struct Writer {
    orders: Option<mpsc::Sender<Order>>,
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
        let (orders, waiting) = mpsc::channel(WAITING_MAX);
        let at = path.clone();
        let desk = WriterState { path: at, connection, busy, wal_pages, truncate: Truncate::Done };
        let thread = std::thread::Builder::new()
            .name("store-writer".into())
            .spawn(move || desk.work(waiting))
            .map_err(|error| fail(&error, &path))?;
        Ok(Self { orders: Some(orders), thread: Some(thread) })
    }

    /// Hands an order in; `None` when the writer has ended.
    pub(crate) async fn send(&self, order: Order) -> Option<()> {
        self.orders.as_ref()?.send(order).await.ok()
    }
}

impl Drop for Writer {
    /// Waits for the orders at hand, so that the file is closed when the store is gone.
    fn drop(&mut self) {
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has already said so.
            let _ = thread.join();
        }
    }
}

/// What the thread owns.
struct WriterState {
    path: PathBuf,
    connection: Connection,
    busy: Duration,
    wal_pages: Arc<AtomicI32>,
    truncate: Truncate,
}

/// Whether erased bytes may still lie in the WAL.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Truncate {
    Done,
    Due,
    /// A reader was in the way; not before this moment again.
    After(Instant),
}

impl WriterState {
    fn work(mut self, mut waiting: mpsc::Receiver<Order>) {
        let mut held: Option<Order> = None;
        while let Some(order) = held.take().or_else(|| waiting.blocking_recv()) {
            match order {
                Order::Erase { key, answer } => {
                    // A caller that went away is no reason not to erase.
                    let _ = answer.send(self.erase(&key));
                }
                Order::Probe { answer } => {
                    let _ = answer.send(self.probe());
                }
                Order::Commit(first) => {
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
                    let result = result.map_err(|refusal| self.explain(refusal));
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

    fn explain(&self, refusal: Refusal) -> StoreError {
        match refusal {
            Refusal::Contract(error) => error,
            Refusal::Sqlite(error) => translate(&self.path, Outcome::Unchanged, &error),
        }
    }

    fn erase(&mut self, key: &Key) -> Result<Erased> {
        let mut outcome = Outcome::Unchanged;
        let mut erased = (|| {
            let transaction = begin(&mut self.connection)?;
            let erased = apply::erase(&transaction, key)?;
            outcome = Outcome::Unknown;
            transaction.commit()?;
            Ok(erased)
        })()
        .map_err(|error| translate(&self.path, outcome, &error))?;
        if erased.records > 0 {
            self.truncate = Truncate::Due;
            self.checkpoint();
            if self.truncate != Truncate::Done {
                erased.left = 1;
                let note = "the write-ahead log holds what was erased until its readers are done";
                erased.notes.push(note.into());
            }
        }
        Ok(erased)
    }

    /// Takes the lock that a commit takes, and shows that the disk takes a file beside the database.
    fn probe(&mut self) -> Result<()> {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let locked = begin(&mut self.connection).and_then(|transaction| transaction.rollback());
        let reason = match (locked, disk::probe(folder.unwrap_or(std::path::Path::new(".")))) {
            (Ok(()), Ok(())) => return Ok(()),
            (Err(error), _) => error.to_string(),
            (_, Err(error)) => error.to_string(),
        };
        Err(StoreError::Unavailable {
            what: self.path.display().to_string(),
            reason: format!("it cannot be written to: {reason}"),
            outcome_unknown: false,
        })
    }

    /// Moves the WAL into the database. After an erasure the WAL is emptied too: it held the old pages.
    fn checkpoint(&mut self) {
        let now = Instant::now();
        match self.truncate {
            Truncate::After(moment) if now < moment => {}
            Truncate::Due | Truncate::After(_) => {
                let emptied = self.connection.busy_timeout(TRUNCATE_WAIT).is_ok()
                    && self.run_checkpoint("TRUNCATE");
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
            self.run_checkpoint("PASSIVE");
        }
    }

    fn run_checkpoint(&self, mode: &str) -> bool {
        let question = format!("PRAGMA wal_checkpoint({mode})");
        match self.connection.query_row(&question, [], |row| row.get::<_, bool>(0)) {
            Ok(false) => {
                self.wal_pages.store(0, Ordering::Relaxed);
                true
            }
            Ok(true) => {
                tracing::debug!("a reader holds the WAL; the checkpoint is tried again");
                false
            }
            Err(error) => {
                tracing::warn!(%error, "the checkpoint failed and is tried again");
                false
            }
        }
    }
}

/// Takes what waits, up to the limits; an order that is no commit ends the group and comes next.
fn gather(first: Commit, waiting: &mut mpsc::Receiver<Order>) -> (Vec<Commit>, Option<Order>) {
    let mut bytes = first.bytes();
    let mut group = vec![first];
    while group.len() < GROUP_CHANGES_MAX && bytes < GROUP_BYTES_MAX {
        match waiting.try_recv() {
            Ok(Order::Commit(commit)) => {
                bytes += commit.bytes();
                group.push(commit);
            }
            Ok(order) => return (group, Some(order)),
            Err(_) => break,
        }
    }
    (group, None)
}

fn begin(connection: &mut Connection) -> rusqlite::Result<Transaction<'_>> {
    connection.transaction_with_behavior(TransactionBehavior::Immediate)
}

type Results = Vec<std::result::Result<Version, Refusal>>;

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
