//! Copies every thread of one store into another; a repeated copy transfers only what has changed.
//!
//! Threads are copied one by one in key order, in full or only the missing part, and then read back and
//! compared by hash. An interrupted copy is simply run again: it skips identical threads, detected by
//! length, head and time of change, or by every byte with [`Compare::Everything`]. No state is kept outside
//! the two stores.
//!
//! An expiry stored in the head is copied. A time to live from a Redis store's own settings is not, because
//! the target has its own settings. Version numbers and incarnations start afresh, because only the target
//! can assign them. Threads that exist only in the target are counted and left alone.
//!
//! Invariant: a thread reported as copied or identical has the same head and log in both stores; with
//! [`Compare::Quickly`], identical means same head, length and time of change.

use std::collections::VecDeque;
use std::ops::Range;

use bytes::Bytes;
use sha2::{Digest as _, Sha256};
use throughline_engine::engine::stored_expiry;
use throughline_engine::store::{
    Change, Expected, Found, Head, Key, Kind, ListedThread, Result, Store, StoreError, Version,
};
use uuid::Uuid;

/// Threads listed at a time. Large, because an unordered store scans all its keys for each batch.
const BATCH_THREADS: usize = 5_000;
/// Entries read and compared at a time.
const BATCH_ENTRIES: u64 = 256;
/// Maximum bytes of entries per commit.
const COMMIT_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Attempts to copy a thread that is being written to.
const ATTEMPTS_MAX: usize = 5;

/// How to compare a thread that both stores have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Compare {
    /// Length, head and time of change.
    #[default]
    Quickly,
    /// Every byte, by hash.
    Everything,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The target had no such thread, or a different one.
    Copied,
    /// The missing entries were appended.
    CaughtUp,
    /// The target was already up to date.
    Same,
}

/// Passed to the caller after each thread.
#[derive(Debug, Clone)]
pub struct Progress<'a> {
    /// The thread just processed.
    pub key: &'a Key,
    pub outcome: Outcome,
    /// Totals so far.
    pub report: &'a CopyReport,
    /// Number of threads in the source when the copy began.
    pub total: u64,
}

/// Totals of a copy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CopyReport {
    /// Threads written in full.
    pub copied: u64,
    /// Threads to which entries were appended.
    pub caught_up: u64,
    /// Threads that were already up to date.
    pub same: u64,
    /// Entries written.
    pub entries: u64,
    /// Bytes of heads and entries written.
    pub bytes: u64,
    /// Threads that exist only in the target; they are left alone.
    pub only_in_target: u64,
    /// One message per thread that could not be copied.
    pub problems: Vec<String>,
}

impl CopyReport {
    /// Number of threads processed.
    pub fn threads(&self) -> u64 {
        self.copied + self.caught_up + self.same
    }
}

/// Copies all threads from `from` to `to`. A thread that fails is listed in the report and the copy
/// continues; only an unreachable store aborts it.
pub async fn copy(
    from: &dyn Store,
    to: &dyn Store,
    compare: Compare,
    mut progress: impl FnMut(Progress<'_>) + Send,
) -> Result<CopyReport> {
    let mut copier = Copier { from, to, compare, report: CopyReport::default() };
    let total = Rows::new(from).count_unmatched().await?;
    let mut target = Rows::new(to);
    let mut after: Option<Key> = None;
    loop {
        let rows = from.scan(after.as_ref(), BATCH_THREADS).await?;
        let Some(last) = rows.last() else { break };
        after = Some(last.key.clone());
        for row in rows.into_iter().filter(|row| !row.key.kind.is_derived()) {
            let there = target.find(&row.key).await?;
            match copier.thread(&row, there.as_ref()).await {
                Ok(outcome) => {
                    let report = &copier.report;
                    progress(Progress { key: &row.key, outcome, report, total });
                }
                Err(error @ (StoreError::Unavailable { .. } | StoreError::Full { .. })) => {
                    return Err(error);
                }
                Err(error) => {
                    // Leave no partial thread in the target.
                    if there.is_none() {
                        to.erase(&row.key).await?;
                    }
                    copier.report.problems.push(format!("{}: {error}", row.key));
                }
            }
        }
    }
    copier.report.only_in_target = target.count_unmatched().await?;
    Ok(copier.report)
}

/// Iterates over a store's threads in key order, in step with those of the other store.
struct Rows<'a> {
    store: &'a dyn Store,
    waiting: VecDeque<ListedThread>,
    after: Option<Key>,
    requested: Option<Key>,
    ended: bool,
    unmatched: u64,
}

impl<'a> Rows<'a> {
    fn new(store: &'a dyn Store) -> Self {
        let waiting = VecDeque::new();
        Self { store, waiting, after: None, requested: None, ended: false, unmatched: 0 }
    }

    /// Returns the row of `key`, which must be greater than every key requested before.
    async fn find(&mut self, key: &Key) -> Result<Option<ListedThread>> {
        // All rows up to the last requested key were seen; rows that appear now were copied since.
        if self.waiting.is_empty() {
            self.after = self.after.take().max(self.requested.take());
        }
        self.requested = Some(key.clone());
        while let Some(row) = self.next().await? {
            if row.key == *key {
                return Ok(Some(row));
            }
            if row.key > *key {
                self.waiting.push_front(row);
                return Ok(None);
            }
            self.unmatched += 1;
        }
        Ok(None)
    }

    async fn next(&mut self) -> Result<Option<ListedThread>> {
        while self.waiting.is_empty() && !self.ended {
            let rows = self.store.scan(self.after.as_ref(), BATCH_THREADS).await?;
            self.after = rows.last().map(|row| row.key.clone()).or(self.after.take());
            // Rows after the end were copied there, or belong to another writer.
            self.ended = rows.is_empty();
            self.waiting = rows.into_iter().filter(|row| !row.key.kind.is_derived()).collect();
        }
        Ok(self.waiting.pop_front())
    }

    /// Counts the rows that were never requested.
    async fn count_unmatched(mut self) -> Result<u64> {
        while self.next().await?.is_some() {
            self.unmatched += 1;
        }
        Ok(self.unmatched)
    }
}

struct Copier<'a> {
    from: &'a dyn Store,
    to: &'a dyn Store,
    compare: Compare,
    report: CopyReport,
}

impl Copier<'_> {
    async fn thread(
        &mut self,
        row: &ListedThread,
        there: Option<&ListedThread>,
    ) -> Result<Outcome> {
        let key = &row.key;
        let same_time = there.is_some_and(|there| there.changed_at == row.changed_at);
        for _ in 0..ATTEMPTS_MAX {
            let Found::Head(source) = self.from.head(key, None).await? else {
                return Ok(Outcome::Same);
            };
            let done = match self.to.head(key, None).await? {
                Found::Head(target) => self.update(row, &source, &target, same_time).await,
                _ => self.append(row, &source, 0, Expected::Absent).await.map(|()| Outcome::Copied),
            };
            let outcome = match done {
                // Another process is writing to the target; look again.
                Err(StoreError::Conflict { .. }) => continue,
                done => done?,
            };
            if outcome == Outcome::Same || self.is_same(key, &source).await? {
                match outcome {
                    Outcome::Copied => self.report.copied += 1,
                    Outcome::CaughtUp => self.report.caught_up += 1,
                    Outcome::Same => self.report.same += 1,
                }
                return Ok(outcome);
            }
        }
        Err(StoreError::Damaged {
            what: format!("the copy of {key}"),
            reason: format!(
                "it still differs after {ATTEMPTS_MAX} attempts; is it being written to?"
            ),
        })
    }

    /// Appends what the target lacks, or rewrites it if its log is not a prefix of the source's.
    async fn update(
        &mut self,
        row: &ListedThread,
        source: &Head,
        target: &Head,
        same_time: bool,
    ) -> Result<Outcome> {
        let equal = target.entries == source.entries && target.bytes == source.bytes;
        if equal && same_time && self.compare == Compare::Quickly {
            return Ok(Outcome::Same);
        }
        let shared = 0..target.entries.min(source.entries);
        let is_prefix = target.entries <= source.entries
            && hash(self.from, &row.key, shared.clone()).await?
                == hash(self.to, &row.key, shared).await?;
        if !is_prefix {
            self.to.erase(&row.key).await?;
            if row.key.kind == Kind::Session {
                self.to.erase(&row.key.derived()).await?;
            }
            self.append(row, source, 0, Expected::Absent).await?;
            return Ok(Outcome::Copied);
        }
        if equal && same_time {
            return Ok(Outcome::Same);
        }
        self.append(row, source, target.entries, Expected::At(target.version)).await?;
        Ok(Outcome::CaughtUp)
    }

    /// Writes the log from entry `next` on, and the head, in commits of bounded size.
    async fn append(
        &mut self,
        row: &ListedThread,
        source: &Head,
        mut next: u64,
        mut expected: Expected,
    ) -> Result<()> {
        let mut waiting: Vec<Bytes> = Vec::new();
        let mut size = 0;
        while next < source.entries {
            let end = source.entries.min(next.saturating_add(BATCH_ENTRIES));
            for entry in self.from.entries(&row.key, next..end).await? {
                if size + entry.len() > COMMIT_BYTES_MAX && !waiting.is_empty() {
                    let batch = std::mem::take(&mut waiting);
                    expected = Expected::At(self.commit(row, source, expected, batch).await?);
                    size = 0;
                }
                size += entry.len();
                waiting.push(entry);
            }
            next = end;
        }
        self.commit(row, source, expected, waiting).await.map(|_| ())
    }

    async fn commit(
        &mut self,
        row: &ListedThread,
        source: &Head,
        expected: Expected,
        append: Vec<Bytes>,
    ) -> Result<Version> {
        let entries = append.len() as u64;
        let bytes = append.iter().map(Bytes::len).sum::<usize>() + source.bytes.len();
        let change = Change {
            at: row.changed_at,
            head: source.bytes.clone(),
            append,
            overwrite: Vec::new(),
            expires_at: stored_expiry(row.key.kind, &source.bytes),
            write_id: Uuid::now_v7(),
        };
        let version = self.to.commit(&row.key, expected, change).await?;
        self.report.entries += entries;
        self.report.bytes += bytes as u64;
        Ok(version)
    }

    /// Compares head and log by hash with the state of `source`.
    async fn is_same(&self, key: &Key, source: &Head) -> Result<bool> {
        let Found::Head(target) = self.to.head(key, None).await? else { return Ok(false) };
        if target.entries != source.entries || target.bytes != source.bytes {
            return Ok(false);
        }
        let all = 0..source.entries;
        Ok(hash(self.from, key, all.clone()).await? == hash(self.to, key, all).await?)
    }
}

/// Hashes a range of a log. Each entry's length is included, so entry boundaries matter.
async fn hash(store: &dyn Store, key: &Key, range: Range<u64>) -> Result<[u8; 32]> {
    let mut hash = Sha256::new();
    let mut next = range.start;
    while next < range.end {
        let end = range.end.min(next + BATCH_ENTRIES);
        for entry in store.entries(key, next..end).await? {
            hash.update((entry.len() as u64).to_le_bytes());
            hash.update(&entry);
        }
        next = end;
    }
    Ok(hash.finalize().into())
}
