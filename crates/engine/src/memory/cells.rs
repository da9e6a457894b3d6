//! A cache of indexes, bounded by bytes.
//!
//! An index grows while in use, but the cache only weighs it when it is inserted, so it must be
//! [weighed](Cells::weigh) again after growing. Losing an index costs time, never correctness: it is loaded or
//! rebuilt.
//!
//! Invariant: weighing does not bring back a dropped index.

use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

use moka::ops::compute::Op;
use tokio::sync::Mutex;

/// An index is weighed again after growing by one part in this many.
const GROWTH_SHARE: u64 = 8;
/// Minimum weight.
const BYTES_MIN: u32 = 4_096;

pub(super) struct Cells<K, T>(moka::sync::Cache<K, Cell<T>>);

struct Cell<T> {
    index: Arc<Mutex<T>>,
    bytes: u32,
    /// Number of turns when it was weighed.
    turns: u64,
}

impl<T> Clone for Cell<T> {
    fn clone(&self) -> Self {
        Self { index: self.index.clone(), ..*self }
    }
}

impl<K, T> Cells<K, T>
where
    K: Hash + Eq + Clone + Send + Sync + 'static,
    T: Send + 'static,
{
    /// `idle` is the time after the last use at which an index is dropped.
    pub(super) fn new(bytes_max: u64, idle: Duration) -> Self {
        let cells = moka::sync::Cache::builder()
            .max_capacity(bytes_max)
            .weigher(|_: &K, cell: &Cell<T>| cell.bytes)
            .time_to_idle(idle)
            .build();
        Self(cells)
    }

    /// The index of `key`, created if missing.
    pub(super) fn get_or(&self, key: &K, make: impl FnOnce() -> T) -> Arc<Mutex<T>> {
        let new = || Cell { index: Arc::new(Mutex::new(make())), bytes: BYTES_MIN, turns: 0 };
        self.0.get_with(key.clone(), new).index
    }

    pub(super) fn get(&self, key: &K) -> Option<Arc<Mutex<T>>> {
        self.0.get(key).map(|cell| cell.index)
    }

    pub(super) fn forget(&self, key: &K) {
        self.0.invalidate(key);
    }

    /// Weighs an index that now has `turns`, if it has grown enough since.
    pub(super) fn weigh(
        &self,
        key: &K,
        index: &Arc<Mutex<T>>,
        turns: u64,
        bytes: impl FnOnce() -> usize,
    ) {
        let is_it = |cell: &Cell<T>| Arc::ptr_eq(&cell.index, index);
        let grown = |cell: &Cell<T>| turns > cell.turns + cell.turns / GROWTH_SHARE;
        if self.0.get(key).is_none_or(|cell| !is_it(&cell) || !grown(&cell)) {
            return;
        }
        let bytes = u32::try_from(bytes()).unwrap_or(u32::MAX).max(BYTES_MIN);
        self.0.entry(key.clone()).and_compute_with(|entry| match entry {
            Some(entry) if is_it(entry.value()) => {
                Op::Put(Cell { index: index.clone(), bytes, turns })
            }
            _ => Op::Nop,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indexes_that_grew_make_room() {
        let cells = Cells::new(100_000, Duration::from_secs(60));
        for key in 0..10 {
            let index = cells.get_or(&key, || ());
            cells.weigh(&key, &index, 100, || 40_000);
        }
        cells.0.run_pending_tasks();
        assert!(cells.0.weighted_size() <= 100_000, "{}", cells.0.weighted_size());
        assert!(cells.0.entry_count() <= 2);
    }

    #[test]
    fn what_was_forgotten_does_not_come_back_by_being_weighed() {
        let cells = Cells::new(100_000, Duration::from_secs(60));
        let index = cells.get_or(&1, || ());
        cells.forget(&1);
        cells.weigh(&1, &index, 100, || 10);
        assert!(cells.get(&1).is_none());
        let other = cells.get_or(&1, || ());
        cells.weigh(&1, &index, 100, || 10);
        assert!(Arc::ptr_eq(&cells.get(&1).unwrap(), &other));
    }

    #[test]
    fn a_small_growth_is_not_weighed() {
        let cells = Cells::new(100_000, Duration::from_secs(60));
        let index = cells.get_or(&1, || ());
        cells.weigh(&1, &index, 80, || 5_000);
        cells.weigh(&1, &index, 81, || unreachable!("not before an eighth more"));
    }
}
