//! Threads that cannot be read, or only in part: known by name and counted.
//!
//! A damaged thread stays where it is. One that was set aside keeps its name to itself until somebody decides what
//! becomes of it ([`super::repair`]).

use std::collections::BTreeMap;
use std::io::Result as IoResult;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use throughline_engine::store::{Key, Result, StoreError};

use super::layout::{Layout, names_in};

/// In the folder of what was set aside: somebody decided, and the name may be used again.
pub(super) const DECIDED: &str = "decided.txt";

/// What is known to be damaged, and how.
#[derive(Debug, Default)]
pub(super) struct Damage {
    known: Mutex<BTreeMap<Key, String>>,
}

impl Damage {
    fn known(&self) -> MutexGuard<'_, BTreeMap<Key, String>> {
        // An entry is put in or taken out whole, so a panic elsewhere leaves none half-written.
        self.known.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Notes that a thread is damaged; says so in the log the first time.
    pub(super) fn note(&self, key: &Key, reason: &str) {
        if self.known().insert(key.clone(), reason.to_owned()).is_none() {
            tracing::warn!(thread = %key, reason, "a thread is damaged; throughline check names what is, throughline repair mends it");
        }
    }

    /// Notes what an answer tells.
    pub(super) fn note_in<T>(&self, key: &Key, answer: Result<T>) -> Result<T> {
        if let Err(StoreError::Damaged { reason, .. }) = &answer {
            self.note(key, reason);
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

/// Why the name of a thread that is not there must not be used: an earlier one was set aside, and nobody decided.
pub(super) fn held_back(layout: &Layout, key: &Key) -> IoResult<Option<String>> {
    let aside = layout.set_aside(key);
    match newest(&aside)? {
        Some(newest) if !aside.join(DECIDED).exists() => {
            Ok(Some(format!("it was set aside in {}", newest.display())))
        }
        _ => Ok(None),
    }
}

/// The last of the damaged lives of a thread.
pub(super) fn newest(aside: &Path) -> IoResult<Option<PathBuf>> {
    let lives = names_in(aside, |name| name.parse::<u32>().ok())?;
    Ok(lives.last().map(|number| aside.join(number.to_string())))
}
