//! Translates I/O errors into those of the contract.
//!
//! Invariant: `InvalidData` means damage; every other kind means unavailable.

use std::io::{Error, ErrorKind};
use std::path::Path;

use throughline_engine::store::StoreError;

use crate::disk;

/// Translates a failure at `what` that left nothing half-done.
pub(super) fn translate(what: impl std::fmt::Display, error: &Error) -> StoreError {
    match error.kind() {
        ErrorKind::InvalidData => {
            StoreError::Damaged { what: what.to_string(), reason: error.to_string() }
        }
        _ if disk::is_full(error) => {
            StoreError::Full { what: what.to_string(), reason: error.to_string() }
        }
        _ => StoreError::Unavailable {
            what: what.to_string(),
            reason: error.to_string(),
            outcome_unknown: false,
        },
    }
}

/// Translates a failure after the new head may have taken effect.
pub(super) fn unknown(what: impl std::fmt::Display, error: &Error) -> StoreError {
    match translate(what, error) {
        StoreError::Unavailable { what, reason, .. } | StoreError::Full { what, reason } => {
            StoreError::Unavailable { what, reason, outcome_unknown: true }
        }
        damaged => damaged,
    }
}

/// The error for a folder that does not accept writes.
pub(super) fn unwritable(folder: &Path, error: &Error) -> StoreError {
    if disk::is_full(error) {
        return translate(folder.display(), error);
    }
    StoreError::Unavailable {
        what: folder.display().to_string(),
        reason: format!("it cannot be written to: {error}"),
        outcome_unknown: false,
    }
}

/// The error for a folder that is not opened.
pub(super) fn refused(root: &Path, reason: impl Into<String>, hint: &str) -> StoreError {
    StoreError::Refused {
        what: root.display().to_string(),
        reason: reason.into(),
        hint: hint.into(),
    }
}
