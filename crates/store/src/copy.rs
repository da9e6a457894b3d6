//! Copies every thread of one store into another, and again: only what has changed since.
//!
//! Threads are copied one by one in key order, each in full or as what was added, and then read back
//! and compared by hash. A run that was stopped starts again and skips what is the same: length, head
//! and time of change tell, or with [`Compare::Everything`] every byte. Nothing is kept outside the two
//! stores.
//!
//! An expiry is carried over as the head states it; a time to live that a Redis store adds by its own
//! settings is not, for the target has settings of its own. Version numbers and incarnations begin anew
//! in the target, because only the target can give them. Threads that exist only in the target are left
//! alone and counted.
//!
//! Invariant: a thread that the report calls copied or the same has equal head and log in both stores.

use std::collections::VecDeque;
use std::ops::Range;

use bytes::Bytes;
use sha2::{Digest as _, Sha256};
use throughline_engine::engine::stored_expiry;
use throughline_engine::store::{
    Change, Expected, Found, Head, Key, Kind, ListedThread, Result, Store, StoreError, Version,
};
use uuid::Uuid;

/// Threads that are listed at a time: many, for a store without an order looks at all of them each time.
const STRETCH: usize = 5_000;
/// Entries that are read and compared at a time.
const ENTRIES_AT_ONCE: u64 = 256;
/// Bytes of entries that are sent with one commit.
const COMMIT_BYTES_MAX: usize = 8 * 1024 * 1024;
/// How often a thread is copied again because somebody wrote to it meanwhile.
const TRIES_MAX: usize = 5;

/// How a thread that seems to be the same is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Compare {
    /// Length, head and time of change.
    #[default]
    Quickly,
    /// Every byte, by hash.
    Everything,
}

/// What became of one thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It was not there, or was another one, and is now.
    Copied,
    /// What was missing was added.
    CaughtUp,
    /// There was nothing to do.
    Same,
}

/// How far a copy is.
#[derive(Debug, Clone)]
pub struct Progress<'a> {
    /// The thread that was just dealt with.
    pub key: &'a Key,
    /// What became of it.
    pub outcome: Outcome,
    /// Everything so far.
    pub report: &'a CopyReport,
    /// Threads that the source had when the copy began.
    pub total: u64,
}

/// What a copy did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CopyReport {
    /// Threads that were written in full.
    pub copied: u64,
    /// Threads to which something was added.
    pub caught_up: u64,
    /// Threads that were the same already.
    pub same: u64,
    /// Entries that were written.
    pub entries: u64,
    /// Bytes of heads and entries that were written.
    pub bytes: u64,
    /// Threads that only the target has; they were left alone.
    pub only_in_target: u64,
    /// What could not be copied, one sentence each, with the name.
    pub problems: Vec<String>,
}

impl CopyReport {
    /// Threads that were dealt with.
    pub fn threads(&self) -> u64 {
        self.copied + self.caught_up + self.same
    }
}

/// Copies everything from `from` to `to`. A thread that fails is named in the report, and the rest goes
/// on; only a store that cannot be reached ends the copy.
pub async fn copy(
    from: &dyn Store,
    to: &dyn Store,
    compare: Compare,
    mut progress: impl FnMut(Progress<'_>) + Send,
) -> Result<CopyReport> {
    let mut copier = Copier { from, to, compare, report: CopyReport::default() };
    let total = Rows::new(from).passed_by_all().await?;
    let mut target = Rows::new(to);
    let mut after: Option<Key> = None;
    loop {
        let rows = from.scan(after.as_ref(), STRETCH).await?;
        let Some(last) = rows.last() else { break };
        after = Some(last.key.clone());
        for row in rows.into_iter().filter(|row| !row.key.kind.is_derived()) {
            let there = target.find(&row.key).await?;
            match copier.thread(&row, there.as_ref()).await {
                Ok(outcome) => {
                    let report = &copier.report;
                    progress(Progress { key: &row.key, outcome, report, total });
                }
                Err(error @ StoreError::Unavailable { .. }) => return Err(error),
                Err(error) => {
                    // Of a thread that could not be read to its end, no part is left in the target.
                    if there.is_none() {
                        to.erase(&row.key).await?;
                    }
                    copier.report.problems.push(format!("{}: {error}", row.key));
                }
            }
        }
    }
    copier.report.only_in_target = target.passed_by_all().await?;
    Ok(copier.report)
}

/// A store's threads in key order: the target's, beside the source's.
struct Rows<'a> {
    store: &'a dyn Store,
    waiting: VecDeque<ListedThread>,
    after: Option<Key>,
    asked: Option<Key>,
    ended: bool,
    passed: u64,
}

impl<'a> Rows<'a> {
    fn new(store: &'a dyn Store) -> Self {
        let waiting = VecDeque::new();
        Self { store, waiting, after: None, asked: None, ended: false, passed: 0 }
    }

    /// The row of `key`, which is later than any asked for before.
    async fn find(&mut self, key: &Key) -> Result<Option<ListedThread>> {
        // All rows up to the last one asked for were seen; what is there now was copied since.
        if self.waiting.is_empty() {
            self.after = self.after.take().max(self.asked.take());
        }
        self.asked = Some(key.clone());
        while let Some(row) = self.next().await? {
            if row.key == *key {
                return Ok(Some(row));
            }
            if row.key > *key {
                self.waiting.push_front(row);
                return Ok(None);
            }
            self.passed += 1;
        }
        Ok(None)
    }

    async fn next(&mut self) -> Result<Option<ListedThread>> {
        while self.waiting.is_empty() && !self.ended {
            let rows = self.store.scan(self.after.as_ref(), STRETCH).await?;
            self.after = rows.last().map(|row| row.key.clone()).or(self.after.take());
            // What comes after the end was copied there, or is another writer's.
            self.ended = rows.is_empty();
            self.waiting = rows.into_iter().filter(|row| !row.key.kind.is_derived()).collect();
        }
        Ok(self.waiting.pop_front())
    }

    /// How many rows were never asked for.
    async fn passed_by_all(mut self) -> Result<u64> {
        while self.next().await?.is_some() {
            self.passed += 1;
        }
        Ok(self.passed)
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
        for _ in 0..TRIES_MAX {
            let Found::Head(source) = self.from.head(key, None).await? else {
                return Ok(Outcome::Same);
            };
            let done = match self.to.head(key, None).await? {
                Found::Head(target) => self.bring_up(row, &source, &target, same_time).await,
                _ => self.append(row, &source, 0, Expected::Absent).await.map(|()| Outcome::Copied),
            };
            let outcome = match done {
                // Somebody writes to the target as well; look again.
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
            reason: format!("it is not equal after {TRIES_MAX} tries; is somebody writing to it?"),
        })
    }

    /// Adds what the target lacks; makes it anew where it is not a beginning of the source.
    async fn bring_up(
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
        let begins_alike = target.entries <= source.entries
            && hash(self.from, &row.key, shared.clone()).await?
                == hash(self.to, &row.key, shared).await?;
        if !begins_alike {
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

    /// Writes the log from `next` on, and the head, in commits of bounded size.
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
            let end = source.entries.min(next.saturating_add(ENTRIES_AT_ONCE));
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

    /// Whether head and log are equal by hash, as they were when `source` was read.
    async fn is_same(&self, key: &Key, source: &Head) -> Result<bool> {
        let Found::Head(target) = self.to.head(key, None).await? else { return Ok(false) };
        if target.entries != source.entries || target.bytes != source.bytes {
            return Ok(false);
        }
        let all = 0..source.entries;
        Ok(hash(self.from, key, all.clone()).await? == hash(self.to, key, all).await?)
    }
}

/// The hash of a stretch of a log; each entry counts with its length, so borders matter.
async fn hash(store: &dyn Store, key: &Key, range: Range<u64>) -> Result<[u8; 32]> {
    let mut hash = Sha256::new();
    let mut next = range.start;
    while next < range.end {
        let end = range.end.min(next + ENTRIES_AT_ONCE);
        for entry in store.entries(key, next..end).await? {
            hash.update((entry.len() as u64).to_le_bytes());
            hash.update(&entry);
        }
        next = end;
    }
    Ok(hash.finalize().into())
}
