//! A store that lives as long as the process, for tests, demos and short-lived work.
//!
//! It is also the simplest implementation of the contract, and the reference for other backends.
//!
//! Invariant: every method takes the only lock exactly once, so each is atomic.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard};

use async_trait::async_trait;
use bytes::Bytes;
use jiff::Timestamp;
use throughline_engine::store::{
    Change, CheckReport, Durability, Erased, Expected, Found, Head, Key, Kind, ListedThread, Page,
    Result, Scope, Store, StoreError, StoreFacts, Version,
};

use crate::limit::{PAGE_THREADS_MAX, check_sizes, new_incarnation, no_such_entry};
use crate::listing::page_of;

/// Threads held in memory.
#[derive(Debug, Default)]
pub struct Memory {
    threads: Mutex<BTreeMap<Key, Thread>>,
}

#[derive(Debug)]
struct Thread {
    version: Version,
    changed_at: Timestamp,
    head: Bytes,
    log: Vec<Bytes>,
}

impl Thread {
    fn listed(&self, key: &Key) -> ListedThread {
        ListedThread {
            key: key.clone(),
            version: self.version,
            entries: self.log.len() as u64,
            changed_at: self.changed_at,
        }
    }
}

impl Memory {
    pub fn new() -> Self {
        Self::default()
    }

    /// Inserts a thread of another store unchanged.
    #[cfg(feature = "sabotage")]
    pub(crate) fn seed(&self, listed: ListedThread, head: Bytes, log: Vec<Bytes>) {
        let thread = Thread { version: listed.version, changed_at: listed.changed_at, head, log };
        self.threads().insert(listed.key, thread);
    }

    fn threads(&self) -> MutexGuard<'_, BTreeMap<Key, Thread>> {
        // No code panics half-way through a change while holding the lock, so the map is consistent.
        self.threads.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

#[async_trait]
impl Store for Memory {
    async fn head(&self, key: &Key, known: Option<Version>) -> Result<Found> {
        Ok(match self.threads().get(key) {
            None => Found::Missing,
            Some(thread) if known == Some(thread.version) => Found::Unchanged,
            Some(thread) => Found::Head(Head {
                version: thread.version,
                entries: thread.log.len() as u64,
                bytes: thread.head.clone(),
            }),
        })
    }

    async fn entries(&self, key: &Key, range: Range<u64>) -> Result<Vec<Bytes>> {
        let threads = self.threads();
        let Some(thread) = threads.get(key) else { return Ok(Vec::new()) };
        let within = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(thread.log.len());
        let (start, end) = (within(range.start), within(range.end));
        Ok(thread.log.get(start..end).unwrap_or_default().to_vec())
    }

    async fn commit(&self, key: &Key, expected: Expected, change: Change) -> Result<Version> {
        check_sizes(key, &change)?;
        let mut threads = self.threads();
        let current = threads.get(key).map(|thread| thread.version);
        let version = match (expected, current) {
            (Expected::Absent, None) => Version { number: 1, incarnation: new_incarnation() },
            (Expected::At(wanted), Some(at)) if wanted == at => {
                Version { number: at.number + 1, ..at }
            }
            _ => return Err(StoreError::Conflict { key: key.clone(), current }),
        };
        let length = threads.get(key).map_or(0, |thread| thread.log.len() as u64);
        if let Some((number, _)) = change.overwrite.iter().find(|(number, _)| *number >= length) {
            return Err(no_such_entry(key, *number));
        }
        let thread = threads.entry(key.clone()).or_insert_with(|| Thread {
            version,
            changed_at: change.at,
            head: Bytes::new(),
            log: Vec::new(),
        });
        thread.version = version;
        thread.changed_at = change.at;
        thread.head = change.head;
        for (number, bytes) in change.overwrite {
            thread.log[usize::try_from(number).expect("checked against the length")] = bytes;
        }
        thread.log.extend(change.append);
        Ok(version)
    }

    async fn list(&self, scope: &Scope, kind: Kind, page: Page) -> Result<Vec<ListedThread>> {
        let found = self
            .threads()
            .iter()
            .filter(|(key, _)| key.scope == *scope && key.kind == kind)
            .map(|(key, thread)| thread.listed(key))
            .collect();
        Ok(page_of(found, &page))
    }

    async fn scan(&self, after: Option<&Key>, limit: usize) -> Result<Vec<ListedThread>> {
        Ok(self
            .threads()
            .iter()
            .filter(|(key, _)| after.is_none_or(|after| *key > after))
            .take(limit.min(PAGE_THREADS_MAX))
            .map(|(key, thread)| thread.listed(key))
            .collect())
    }

    async fn erase(&self, key: &Key) -> Result<Erased> {
        let Some(thread) = self.threads().remove(key) else { return Ok(Erased::default()) };
        let entries = thread.log.len() as u64;
        let bytes = thread.head.len() + thread.log.iter().map(Bytes::len).sum::<usize>();
        let (records, bytes) = (1 + entries, bytes as u64);
        Ok(Erased { heads: 1, entries, records, bytes, ..Erased::default() })
    }

    fn facts(&self) -> StoreFacts {
        StoreFacts {
            backend: "memory",
            location: "memory:".into(),
            durability: Durability::Memory,
            many_writers: false,
            damaged: 0,
            notes: vec!["all data is lost when the process ends".into()],
        }
    }

    async fn ping(&self) -> Result<()> {
        Ok(())
    }

    async fn check(&self) -> Result<CheckReport> {
        let threads = self.threads();
        let entries = threads.values().map(|thread| thread.log.len() as u64).sum();
        Ok(CheckReport { threads: threads.len() as u64, entries, ..CheckReport::default() })
    }
}
