//! What look-ups found, kept for a while: by who asked, what for, and with which call.
//!
//! A thing that was not found is forgotten soon, since it may be made at any moment. A call that changes
//! something clears everything, so that nothing is told as it was before.
//!
//! Invariant: what one tenant or user found is never given to another.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use crate::entity::{Entity, Kind, Mention, Resolution};
use crate::store::Scope;
use crate::tool::ToolName;

/// Look-ups that are kept at most.
const KEPT_MAX: u64 = 10_000;
/// How long "there is none" holds, in seconds.
const NOTHING_SECONDS: u64 = 60;

/// What identifies a look-up.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Place {
    scope: Scope,
    kind: Kind,
    tool: ToolName,
    arguments: String,
}

impl Place {
    pub fn new(scope: &Scope, mention: &Mention, tool: &ToolName, arguments: &Value) -> Self {
        Self {
            scope: scope.clone(),
            kind: mention.kind.clone(),
            tool: tool.clone(),
            arguments: arguments.to_string(),
        }
    }
}

/// Look-ups and their figures.
pub struct LookUps {
    kept: moka::sync::Cache<Place, (Timestamp, Resolution)>,
    life: Duration,
    made: AtomicU64,
    failed: AtomicU64,
    spared: AtomicU64,
}

/// How look-ups are doing since the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct LookUpStatistics {
    /// Calls of tools.
    pub made: u64,
    /// Of those, calls that failed or took too long.
    pub failed: u64,
    /// Look-ups answered from memory.
    pub spared: u64,
}

impl LookUps {
    /// Nothing looked up yet; what is found holds for `life`.
    pub fn new(life: Duration) -> Self {
        let kept = moka::sync::Cache::builder().max_capacity(KEPT_MAX).time_to_live(life).build();
        let zero = || AtomicU64::new(0);
        Self { kept, life, made: zero(), failed: zero(), spared: zero() }
    }

    pub(super) fn get(&self, place: &Place, now: Timestamp) -> Option<Resolution> {
        let (_, found) = self.kept.get(place).filter(|(until, _)| now < *until)?;
        self.spared.fetch_add(1, Ordering::Relaxed);
        Some(match found {
            Resolution::One(entity) => Resolution::One(Box::new(seen(*entity, now))),
            Resolution::Several(entities) => {
                Resolution::Several(entities.into_iter().map(|entity| seen(entity, now)).collect())
            }
            Resolution::None => Resolution::None,
        })
    }

    pub(super) fn keep(&self, place: Place, resolution: &Resolution, now: Timestamp) {
        let life = match resolution {
            Resolution::None => self.life.min(Duration::from_secs(NOTHING_SECONDS)),
            Resolution::One(_) | Resolution::Several(_) => self.life,
        };
        let Ok(until) = now.checked_add(life) else { return };
        self.kept.insert(place, (until, resolution.clone()));
    }

    pub(super) fn count(&self, ok: bool) {
        self.made.fetch_add(1, Ordering::Relaxed);
        self.failed.fetch_add(u64::from(!ok), Ordering::Relaxed);
    }

    /// Forgets everything: something was changed.
    pub fn clear(&self) {
        self.kept.invalidate_all();
    }

    /// The figures.
    pub fn statistics(&self) -> LookUpStatistics {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        LookUpStatistics {
            made: count(&self.made),
            failed: count(&self.failed),
            spared: count(&self.spared),
        }
    }
}

/// An entity as if it were seen now; its data keeps the time until which it holds.
fn seen(entity: Entity, now: Timestamp) -> Entity {
    Entity { first_mentioned: now, last_mentioned: now, ..entity }
}
