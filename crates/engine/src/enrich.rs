//! What a message is enriched with – what it means, what is known of that, older turns that fit – and a
//! cache of it by session and message.
//!
//! An application that prepares and then asks, or asks again after a failure, does not pay twice.
//! Bounded by bytes and by age. An entry says which version of the session and which agents it was made
//! from, and is only used for exactly these; so losing, expiring or racing entries costs time, never
//! correctness. Erasing a session takes its entries along.
//!
//! Invariant: what a session was before a change is never served after it.

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

/// What an entry weighs beside its texts, in bytes.
const ENTRY_BYTES: usize = 1 << 10;

/// What was gathered for a message.
#[derive(Debug)]
pub struct Enrichment {
    /// The message's vector.
    pub vector: Vec<f32>,
    /// What was noticed in the message.
    pub noticed: Noticed,
    /// What was looked up for it.
    pub found: Vec<Entity>,
    /// When that was.
    pub looked_up: LookedUp,
    /// Parts of earlier turns that fit, best first.
    pub recalled: Vec<Recalled>,
    /// What is told of the things that the message is about.
    pub about: Vec<Piece>,
}

/// What is asked for: a message to a session, for a reader.
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

/// What an enrichment was made from.
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

/// The entries and their figures.
pub struct Enrichments {
    kept: moka::sync::Cache<EnrichmentKey, CacheEntry>,
    life: Duration,
    hits: AtomicU64,
    misses: AtomicU64,
}

/// How often an enrichment was there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct EnrichmentStatistics {
    /// Messages whose enrichment was there.
    pub hits: u64,
    /// Messages that were enriched anew.
    pub misses: u64,
}

impl Enrichments {
    /// None yet; each holds for `life`, all of them `bytes_max` at most.
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

    /// Counts a message whose enrichment was there and could be used, or not.
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

    /// Forgets a session.
    pub fn forget(&self, session: &Key) {
        let session = session.clone();
        let done = self.kept.invalidate_entries_if(move |key, _| key.session == session);
        if let Err(error) = done {
            tracing::warn!(%error, "all enrichments are forgotten instead of one session's");
            self.kept.invalidate_all();
        }
    }

    /// The figures.
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
