//! What went wrong with a file, in the terms of the contract.

use std::io::{Error, ErrorKind};
use std::path::Path;

use throughline_engine::store::StoreError;

/// The contract's error for a failure at `what`. A commit whose outcome is not known says so itself.
pub(super) fn translate(what: impl std::fmt::Display, error: &Error) -> StoreError {
    match error.kind() {
        ErrorKind::InvalidData => {
            StoreError::Damaged { what: what.to_string(), reason: error.to_string() }
        }
        _ => StoreError::Unavailable {
            what: what.to_string(),
            reason: error.to_string(),
            outcome_unknown: false,
        },
    }
}

/// The same, after the new head may have been put in place.
pub(super) fn unknown(what: impl std::fmt::Display, error: &Error) -> StoreError {
    StoreError::Unavailable {
        what: what.to_string(),
        reason: error.to_string(),
        outcome_unknown: true,
    }
}

/// What tells that nothing can be written.
pub(super) fn unwritable(folder: &Path, error: &Error) -> StoreError {
    StoreError::Unavailable {
        what: folder.display().to_string(),
        reason: format!("it cannot be written to: {error}"),
        outcome_unknown: false,
    }
}

/// The refusal of a folder.
pub(super) fn refused(root: &Path, reason: impl Into<String>, hint: &str) -> StoreError {
    StoreError::Refused {
        what: root.display().to_string(),
        reason: reason.into(),
        hint: hint.into(),
    }
}
