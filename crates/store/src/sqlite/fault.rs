//! Translates SQLite errors into those of the contract.
//!
//! Invariant: only this module and [`super::idle`] and [`super::in_use`] interpret SQLite error codes.

use std::path::Path;

use rusqlite::ErrorCode;
use throughline_engine::store::StoreError;

/// Whether the failed operation may have been applied nevertheless.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Nothing changed.
    Unchanged,
    /// A commit was in progress.
    Unknown,
}

/// Translates an error on the database at `path`.
pub(crate) fn translate(path: &Path, outcome: Outcome, error: &rusqlite::Error) -> StoreError {
    let what = path.display().to_string();
    match error.sqlite_error_code() {
        // Part of a commit may be in the WAL, but without its end it does not count.
        _ if is_full(error) => StoreError::Full { what, reason: error.to_string() },
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

/// Whether there was no room. Opening a file also needs some, for the index of the WAL.
fn is_full(error: &rusqlite::Error) -> bool {
    const SHM_SIZE: i32 = rusqlite::ffi::SQLITE_IOERR_SHMSIZE;
    let extended = error.sqlite_error().map(|error| error.extended_code);
    error.sqlite_error_code() == Some(ErrorCode::DiskFull) || extended == Some(SHM_SIZE)
}

/// The error for a file written by another program.
pub(crate) fn not_ours(path: &Path, reason: &str) -> StoreError {
    StoreError::Refused {
        what: path.display().to_string(),
        reason: format!("{reason}; it was left untouched"),
        hint: "name another file, or restore a backup made by throughline".into(),
    }
}
