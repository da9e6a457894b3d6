//! Tracks threads that cannot be read, or only in part.
//!
//! A damaged thread stays where it is. The id of one that was set aside cannot be reused until somebody decides
//! what to do with it ([`super::repair`]).

use std::collections::BTreeMap;
use std::io::Result as IoResult;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use throughline_engine::store::{Key, Result, StoreError};

use super::layout::{Layout, names_in};

/// Marker file beside copies that were set aside: the id may be used again.
pub(super) const RELEASED: &str = "decided.txt";

/// The damaged threads and what is wrong with them.
#[derive(Debug, Default)]
pub(super) struct Damage {
    known: Mutex<BTreeMap<Key, String>>,
}

impl Damage {
    fn known(&self) -> MutexGuard<'_, BTreeMap<Key, String>> {
        // An entry is inserted or removed as a whole, so a panic elsewhere leaves none half-written.
        self.known.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Records a damaged thread; logs it the first time.
    pub(super) fn record(&self, key: &Key, reason: &str) {
        if self.known().insert(key.clone(), reason.to_owned()).is_none() {
            tracing::warn!(thread = %key, reason, "a thread is damaged; run throughline check for details and throughline repair to repair it");
        }
    }

    /// Records the damage if `answer` is such an error.
    pub(super) fn record_error<T>(&self, key: &Key, answer: Result<T>) -> Result<T> {
        if let Err(StoreError::Damaged { reason, .. }) = &answer {
            self.record(key, reason);
        }
        answer
    }

    pub(super) fn forget(&self, key: &Key) {
        self.known().remove(key);
    }

    pub(super) fn count(&self) -> u64 {
        self.known().len() as u64
    }
}

/// Why the id of a missing thread must not be used: a damaged copy was set aside, and nobody has decided about it.
pub(super) fn blocked_id(layout: &Layout, key: &Key) -> IoResult<Option<String>> {
    let aside = layout.set_aside(key);
    match newest(&aside)? {
        Some(newest) if !aside.join(RELEASED).exists() => {
            Ok(Some(format!("it was set aside in {}", newest.display())))
        }
        _ => Ok(None),
    }
}

/// The newest damaged copy of a thread.
pub(super) fn newest(aside: &Path) -> IoResult<Option<PathBuf>> {
    let copies = names_in(aside, |name| name.parse::<u32>().ok())?;
    Ok(copies.last().map(|number| aside.join(number.to_string())))
}
