//! Errors of a store, the same for every backend.
//!
//! Invariant: `outcome_unknown` is false only if nothing has changed.

use super::{Key, Version};

#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// The thread is not at the expected version; nothing has changed.
    #[error("{key} has changed: it is at version {}", current.map_or("none".into(), |v| v.to_string()))]
    Conflict {
        key: Key,
        /// The current version, if the backend knows it.
        current: Option<Version>,
    },
    #[error("{what} is damaged: {reason}")]
    Damaged {
        /// The file, object, row or key.
        what: String,
        reason: String,
    },
    /// The store was written by a newer version, lacks a required feature, or has unsafe settings.
    #[error("{what} is refused: {reason}")]
    Refused { what: String, reason: String, hint: String },
    /// A head, entry or change exceeds the backend's limit.
    #[error("{what} has {size} bytes; the limit is {limit}")]
    TooLarge { what: String, size: u64, limit: u64 },
    /// There is no room left where the store is. Nothing has changed; reading still works.
    #[error("the store {what} cannot be written: the disk is full ({reason})")]
    Full { what: String, reason: String },
    /// The store did not answer, or not in time. Nothing has changed unless `outcome_unknown`.
    #[error("the store {what} cannot be reached: {reason}")]
    Unavailable {
        what: String,
        reason: String,
        /// Whether a commit may have been applied anyway.
        outcome_unknown: bool,
    },
}

pub type Result<T, E = StoreError> = std::result::Result<T, E>;
