//! What SQLite says went wrong, in the terms of the contract.
//!
//! Only here are SQLite's codes read.

use std::path::Path;

use rusqlite::ErrorCode;
use throughline_engine::store::StoreError;

/// Whether the failed step may have been applied all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Nothing changed.
    Unchanged,
    /// A commit was under way.
    Unknown,
}

/// The contract's error for `error`, met on the database at `path`.
pub(crate) fn translate(path: &Path, outcome: Outcome, error: &rusqlite::Error) -> StoreError {
    let what = path.display().to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt) => StoreError::Damaged {
            what,
            reason: format!("SQLite reports {error}; restore a backup, or copy what can be read"),
        },
        Some(ErrorCode::NotADatabase) => not_ours(path, "it is not an SQLite database"),
        Some(ErrorCode::TooBig) => StoreError::Refused {
            what,
            reason: error.to_string(),
            hint: "store less in one entry".into(),
        },
        _ => StoreError::Unavailable {
            what,
            reason: error.to_string(),
            outcome_unknown: outcome == Outcome::Unknown,
        },
    }
}

/// The refusal of a file that another program made.
pub(crate) fn not_ours(path: &Path, reason: &str) -> StoreError {
    StoreError::Refused {
        what: path.display().to_string(),
        reason: format!("{reason}, and it was left untouched"),
        hint: "name another file, or restore a backup made by throughline".into(),
    }
}
