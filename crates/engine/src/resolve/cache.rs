//! A cache of look-ups, by user and call.
//!
//! In memory, and in a cache shared by all servers if the store offers one. A "not found" expires soon, because
//! the thing may be created at any moment. A call that changes something, on any server, invalidates all earlier
//! look-ups: see [`changes`](super::changes).
//!
//! Invariant: a result is never given to another tenant or user, and no result is older than the last change.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::changes::{ChangeMark, Changes};
use crate::entity::{Entity, Kind, Mention, Resolution};
use crate::hash::ContentHash;
use crate::shared::SharedCache;
use crate::store::Scope;
use crate::tool::ToolName;

/// Maximum entries.
const KEPT_MAX: u64 = 10_000;
/// How long "not found" is valid.
const NOTHING_SECONDS: u64 = 60;
/// Maximum size of a shared entry.
const SHARED_BYTES_MAX: usize = 64 * 1024;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct LookUpKey {
    scope: Scope,
    kind: Kind,
    tool: ToolName,
    arguments: String,
}

impl LookUpKey {
    pub(super) fn new(
        scope: &Scope,
        mention: &Mention,
        tool: &ToolName,
        arguments: &Value,
    ) -> Self {
        Self {
            scope: scope.clone(),
            kind: mention.kind.clone(),
            tool: tool.clone(),
            arguments: arguments.to_string(),
        }
    }

    /// The key in the shared cache. It does not reveal what was looked up.
    fn name(&self) -> String {
        let call = format!("{}\n{}\n{}", self.tool.server, self.tool.name, self.arguments);
        format!("{}:{}", self.kind, ContentHash::of(&call))
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct CacheEntry {
    mark: ChangeMark,
    until: Timestamp,
    resolution: Resolution,
}

impl CacheEntry {
    fn holds(&self, mark: ChangeMark, now: Timestamp) -> bool {
        self.mark == mark && now < self.until
    }
}

pub struct LookUps {
    kept: moka::sync::Cache<LookUpKey, CacheEntry>,
    shared: Option<Arc<dyn SharedCache>>,
    pub(crate) changes: Changes,
    life: Duration,
    made: AtomicU64,
    failed: AtomicU64,
    spared: AtomicU64,
    shared_spared: AtomicU64,
    shared_failed: AtomicU64,
}

/// Statistics since startup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct LookUpStatistics {
    pub made: u64,
    /// Calls that failed or took too long.
    pub failed: u64,
    /// Look-ups answered from a cache.
    pub spared: u64,
    /// Of those, from the shared cache.
    pub shared: u64,
    /// Failed reads of the shared cache; each counts as a miss.
    pub shared_failed: u64,
}

impl LookUps {
    /// Results are valid for `life`.
    pub fn new(life: Duration, changes: Changes, shared: Option<Arc<dyn SharedCache>>) -> Self {
        let kept = moka::sync::Cache::builder()
            .max_capacity(KEPT_MAX)
            .time_to_live(life)
            .support_invalidation_closures()
            .build();
        let zero = || AtomicU64::new(0);
        Self {
            kept,
            shared,
            changes,
            life,
            made: zero(),
            failed: zero(),
            spared: zero(),
            shared_spared: zero(),
            shared_failed: zero(),
        }
    }

    /// The cached result, if nothing has changed up to `mark`, which must have been read just now.
    pub(super) async fn get(
        &self,
        key: &LookUpKey,
        mark: ChangeMark,
        now: Timestamp,
    ) -> Option<Resolution> {
        let kept = match self.kept.get(key).filter(|kept| kept.holds(mark, now)) {
            Some(kept) => kept,
            None => {
                let kept = self.ask(key).await.filter(|kept| kept.holds(mark, now))?;
                self.shared_spared.fetch_add(1, Ordering::Relaxed);
                self.kept.insert(key.clone(), kept.clone());
                kept
            }
        };
        self.spared.fetch_add(1, Ordering::Relaxed);
        Some(match kept.resolution {
            Resolution::One(entity) => Resolution::One(Box::new(seen(*entity, now))),
            Resolution::Several(entities) => {
                Resolution::Several(entities.into_iter().map(|entity| seen(entity, now)).collect())
            }
            Resolution::None => Resolution::None,
        })
    }

    /// Stores the result of a look-up that began at `mark`.
    pub(super) async fn keep(
        &self,
        key: LookUpKey,
        mark: ChangeMark,
        resolution: &Resolution,
        now: Timestamp,
    ) {
        let life = match resolution {
            Resolution::None => self.life.min(Duration::from_secs(NOTHING_SECONDS)),
            Resolution::One(_) | Resolution::Several(_) => self.life,
        };
        let Ok(until) = now.checked_add(life) else { return };
        let kept = CacheEntry { mark, until, resolution: resolution.clone() };
        self.tell(&key, &kept, life).await;
        self.kept.insert(key, kept);
    }

    /// The result in the shared cache.
    async fn ask(&self, key: &LookUpKey) -> Option<CacheEntry> {
        let found = self.shared.as_ref()?.get(&key.scope, &key.name()).await;
        let found = found.map_err(|error| self.fails(&error)).ok()??;
        serde_json::from_slice(&found).map_err(|error| self.fails(&error)).ok()
    }

    async fn tell(&self, key: &LookUpKey, kept: &CacheEntry, life: Duration) {
        let (Some(shared), Ok(value)) = (&self.shared, serde_json::to_vec(kept)) else { return };
        if value.len() <= SHARED_BYTES_MAX
            && let Err(error) = shared.put(&key.scope, &key.name(), value.into(), life).await
        {
            self.fails(&error);
        }
    }

    fn fails(&self, error: &dyn std::error::Error) {
        self.shared_failed.fetch_add(1, Ordering::Relaxed);
        tracing::warn!(%error, "the shared cache failed; look-ups are not shared with other servers");
    }

    pub(super) fn count(&self, ok: bool) {
        self.made.fetch_add(1, Ordering::Relaxed);
        self.failed.fetch_add(u64::from(!ok), Ordering::Relaxed);
    }

    /// Drops a user's look-ups, because something was erased that they may contain.
    pub(crate) async fn forget(&self, scope: &Scope) {
        let of = scope.clone();
        if self.kept.invalidate_entries_if(move |key, _| key.scope == of).is_err() {
            self.kept.invalidate_all();
        }
        if let Some(shared) = &self.shared
            && let Err(error) = shared.forget(scope).await
        {
            self.fails(&error);
        }
    }

    pub fn statistics(&self) -> LookUpStatistics {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        LookUpStatistics {
            made: count(&self.made),
            failed: count(&self.failed),
            spared: count(&self.spared),
            shared: count(&self.shared_spared),
            shared_failed: count(&self.shared_failed),
        }
    }
}

/// The entity as if seen now; its data keeps its expiry.
fn seen(entity: Entity, now: Timestamp) -> Entity {
    Entity { first_mentioned: now, last_mentioned: now, ..entity }
}
