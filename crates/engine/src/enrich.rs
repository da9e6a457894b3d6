//! A message's enrichment – its meaning, known facts about that, matching older turns – and a cache of it by
//! session and message.
//!
//! An application that prepares and then asks, or retries after a failure, does not pay twice. The cache is
//! bounded by bytes and age. An entry records the session version and agents it was made from and is used only
//! for these, so a lost, expired or racing entry costs time, never correctness. Erasing a session removes its
//! entries.
//!
//! Invariant: an entry made before a session changed is never served afterwards.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;

use crate::entity::{Entity, Noticed};
use crate::hash::ContentHash;
use crate::memory::Recalled;
use crate::piece::Piece;
use crate::resolve::{LookedUp, Reader};
use crate::store::{Key, Version};

/// Size of an entry besides its texts, in bytes.
const ENTRY_BYTES: usize = 1 << 10;

#[derive(Debug)]
pub struct Enrichment {
    pub vector: Vec<f32>,
    pub noticed: Noticed,
    /// Entities looked up for it.
    pub found: Vec<Entity>,
    pub looked_up: LookedUp,
    /// Matching parts of earlier turns, best first.
    pub recalled: Vec<Recalled>,
    /// Pieces about the entities in the message.
    pub about: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct EnrichmentKey {
    session: Key,
    message: ContentHash,
    reader: Reader,
    /// Tokens of older turns that it has room for.
    recall_tokens: u32,
}

impl EnrichmentKey {
    pub fn new(session: &Key, message: &str, reader: Reader, recall_tokens: u32) -> Self {
        let (session, message) = (session.clone(), ContentHash::of(message));
        Self { session, message, reader, recall_tokens }
    }
}

/// The inputs of an enrichment; an entry is valid only while they are unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MadeOf {
    pub version: Version,
    pub agents: u64,
}

#[derive(Clone)]
struct CacheEntry {
    made_of: MadeOf,
    until: Timestamp,
    enrichment: Arc<Enrichment>,
}

pub struct Enrichments {
    kept: moka::sync::Cache<EnrichmentKey, CacheEntry>,
    life: Duration,
    hits: AtomicU64,
    misses: AtomicU64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct EnrichmentStatistics {
    pub hits: u64,
    pub misses: u64,
}

impl Enrichments {
    /// Entries live for `life` and take at most `bytes_max` in total.
    pub fn new(bytes_max: u64, life: Duration) -> Self {
        let kept = moka::sync::Cache::builder()
            .max_capacity(bytes_max)
            .weigher(|_, kept: &CacheEntry| {
                u32::try_from(weight(&kept.enrichment)).unwrap_or(u32::MAX)
            })
            .time_to_live(life)
            .support_invalidation_closures()
            .build();
        Self { kept, life, hits: AtomicU64::new(0), misses: AtomicU64::new(0) }
    }

    pub fn get(
        &self,
        key: &EnrichmentKey,
        made_of: MadeOf,
        now: Timestamp,
    ) -> Option<Arc<Enrichment>> {
        let kept = self.kept.get(key);
        let kept = kept.filter(|kept| kept.made_of == made_of && now < kept.until);
        kept.map(|kept| kept.enrichment)
    }

    /// Counts a cache hit or miss.
    pub fn count(&self, hit: bool) {
        let counter = if hit { &self.hits } else { &self.misses };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    pub fn keep(
        &self,
        key: EnrichmentKey,
        made_of: MadeOf,
        enrichment: Arc<Enrichment>,
        now: Timestamp,
    ) {
        if let Ok(until) = now.checked_add(self.life) {
            self.kept.insert(key, CacheEntry { made_of, until, enrichment });
        }
    }

    /// Drops the entries of a session.
    pub fn forget(&self, session: &Key) {
        let session = session.clone();
        let done = self.kept.invalidate_entries_if(move |key, _| key.session == session);
        if let Err(error) = done {
            tracing::warn!(%error, "cannot drop one session's enrichments; dropping all");
            self.kept.invalidate_all();
        }
    }

    pub fn statistics(&self) -> EnrichmentStatistics {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        EnrichmentStatistics { hits: count(&self.hits), misses: count(&self.misses) }
    }
}

fn weight(enrichment: &Enrichment) -> usize {
    let pieces: usize = enrichment.about.iter().map(|piece| piece.text.len() + 256).sum();
    let recalled = enrichment.recalled.iter();
    let recalled: usize =
        recalled.map(|one| one.record.message.len() + one.record.reply.len() + 256).sum();
    ENTRY_BYTES + pieces + recalled + enrichment.vector.len() * size_of::<f32>()
}
