//! Why a store did not do what it was asked, alike for every backend.
//!
//! Invariant: `outcome_unknown` is false only where nothing has changed.

use super::{Key, Version};

/// Why a store could not do what it was asked.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// The thread is not at the expected version; nothing was changed.
    #[error("{key} has changed: it is at version {}", current.map_or("none".into(), |v| v.to_string()))]
    Conflict {
        /// Which thread.
        key: Key,
        /// Where it is now, if the backend could tell.
        current: Option<Version>,
    },
    /// What is stored cannot be read.
    #[error("{what} is damaged: {reason}")]
    Damaged {
        /// Which file, object, row or key.
        what: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The store was made by a newer version, lacks what we need, or its settings are unsafe.
    #[error("{what} is refused: {reason}")]
    Refused {
        /// Which store.
        what: String,
        /// Why.
        reason: String,
        /// What to try.
        hint: String,
    },
    /// A head, an entry or a change is larger than the backend takes.
    #[error("{what} has {size} bytes; the limit is {limit}")]
    TooLarge {
        /// Which.
        what: String,
        /// Its size in bytes.
        size: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// The store did not answer, or not in time. Nothing is known to have changed unless `outcome_unknown`.
    #[error("the store {what} cannot be reached: {reason}")]
    Unavailable {
        /// Which store.
        what: String,
        /// What happened.
        reason: String,
        /// Whether a commit may have been applied all the same.
        outcome_unknown: bool,
    },
}

/// The contract's results.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;
