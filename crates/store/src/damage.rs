//! Tracks threads that cannot be read, or only in part, for backends that notice damage.
//!
//! Invariant: a thread stays recorded until it is erased, repaired or overwritten.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use throughline_engine::store::{Key, Result, StoreError};

/// The damaged threads and what is wrong with them.
#[derive(Debug, Default)]
pub(crate) struct Damage {
    known: Mutex<BTreeMap<Key, String>>,
}

impl Damage {
    fn known(&self) -> MutexGuard<'_, BTreeMap<Key, String>> {
        // An entry is inserted or removed as a whole, so a panic elsewhere leaves none half-written.
        self.known.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Records a damaged thread; logs it the first time.
    pub(crate) fn record(&self, key: &Key, reason: &str) {
        if self.known().insert(key.clone(), reason.to_owned()).is_none() {
            tracing::warn!(thread = %key, reason, "a thread is damaged; run throughline check for details and throughline repair to repair it");
        }
    }

    /// Records the damage if `answer` is such an error.
    pub(crate) fn record_error<T>(&self, key: &Key, answer: Result<T>) -> Result<T> {
        if let Err(StoreError::Damaged { reason, .. }) = &answer {
            self.record(key, reason);
        }
        answer
    }

    pub(crate) fn forget(&self, key: &Key) {
        self.known().remove(key);
    }

    pub(crate) fn count(&self) -> u64 {
        self.known().len() as u64
    }
}
