//! A cache of recently used sessions.
//!
//! Bounded by bytes and age. An entry is used only after the store has confirmed its version, so a lost, expired
//! or racing entry costs time, never correctness.
//!
//! Invariant: `tail` is contiguous and ends at the head's last turn.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde::Serialize;

use crate::store::{Key, Version};

use super::head::SessionHead;
use super::record::TurnRecord;

/// Maximum turns per session.
pub(super) const TAIL_TURNS_MAX: usize = 64;

/// A session at a version.
#[derive(Debug, Clone)]
pub(super) struct Cached {
    pub version: Version,
    pub head: Arc<SessionHead>,
    pub tail: VecDeque<Arc<TurnRecord>>,
    /// Approximate size.
    pub bytes: usize,
}

pub(super) struct Cache {
    entries: moka::sync::Cache<Key, Arc<Cached>>,
    hits: AtomicU64,
    misses: AtomicU64,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CacheStatistics {
    pub sessions: u64,
    /// Their approximate size.
    pub bytes: u64,
    /// Loads served from the cache, after the version was confirmed.
    pub hits: u64,
    /// Loads that read the store.
    pub misses: u64,
    /// Share of `hits`.
    pub hit_rate: f64,
}

impl Cache {
    pub(super) fn new(bytes_max: u64, age_max: Duration) -> Self {
        let entries = moka::sync::Cache::builder()
            .max_capacity(bytes_max)
            .weigher(|_, cached: &Arc<Cached>| u32::try_from(cached.bytes).unwrap_or(u32::MAX))
            .time_to_live(age_max)
            .build();
        Self { entries, hits: AtomicU64::new(0), misses: AtomicU64::new(0) }
    }

    pub(super) fn get(&self, key: &Key) -> Option<Arc<Cached>> {
        self.entries.get(key)
    }

    pub(super) fn put(&self, key: Key, cached: Arc<Cached>) {
        self.entries.insert(key, cached);
    }

    pub(super) fn forget(&self, key: &Key) {
        self.entries.invalidate(key);
    }

    pub(super) fn note(&self, hit: bool) {
        let counter = if hit { &self.hits } else { &self.misses };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn statistics(&self) -> CacheStatistics {
        self.entries.run_pending_tasks();
        let (hits, misses) =
            (self.hits.load(Ordering::Relaxed), self.misses.load(Ordering::Relaxed));
        #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
        let hit_rate = if hits + misses == 0 { 0.0 } else { hits as f64 / (hits + misses) as f64 };
        CacheStatistics {
            sessions: self.entries.entry_count(),
            bytes: self.entries.weighted_size(),
            hits,
            misses,
            hit_rate,
        }
    }
}
