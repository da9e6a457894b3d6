//! Backups of the store, and restoring one without what was erased since.
//!
//! A backup is an SQLite file, whatever the store: a snapshot of an SQLite store, or a copy of all threads of
//! another. It is read completely before it gets its name. Every erasure is also logged beside the backups, as
//! hashes only, so that a restore of an older copy can erase again.
//!
//! # Layout
//!
//! - [`make`]: makes a backup. [`restore`]: restores one. [`daily`]: at an interval.
//! - [`erasures`]: the erasure log. [`watched`]: the store that writes it. [`again`]: erases again.
//! - [`kept`]: replaced stores and purged contexts.
//! - [`unfinished`]: marks a store that is not completely filled.

use std::path::{Path, PathBuf};

use throughline_store::sqlite::Sqlite;

pub mod again;
pub mod daily;
pub mod erasures;
pub mod kept;
pub mod make;
pub mod restore;
pub mod unfinished;
pub mod watched;

/// Files in a backup folder that exist only if the store ever held data.
pub fn traces(folder: &Path) -> Vec<PathBuf> {
    let log = erasures::ErasureLog::new(folder).path();
    let log = Some(log).filter(|log| log.metadata().is_ok_and(|found| found.len() > 0));
    // A backup of an empty store proves nothing.
    let newest = make::backups(folder).pop();
    let newest = newest.filter(|file| Sqlite::threads_in(file).is_ok_and(|count| count > 0));
    newest.into_iter().chain(log).collect()
}
