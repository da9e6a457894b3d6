//! Copies of the store, and bringing one back without what was erased since.
//!
//! A backup is one SQLite file, whatever the store: one moment of an SQLite store, and for the others a
//! thread-by-thread copy through the contract. It is opened and read whole before it gets its name.
//! Every erasure is also written to a log beside the backups, as hashes only, so that restoring an older
//! copy can erase again what the copy still has.
//!
//! # Layout
//!
//! - [`make`]: a backup. [`restore`]: bringing one back. [`daily`]: at its interval.
//! - [`erasures`]: the log. [`watched`]: the store that writes it. [`again`]: erasing again.
//! - [`kept`]: what a restore replaced, and what was purged.
//! - [`unfinished`]: what tells of a store in which only a part has arrived.

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

/// Files in a folder of backups that exist only where the store has held something.
pub fn traces(folder: &Path) -> Vec<PathBuf> {
    let log = erasures::ErasureLog::new(folder).path();
    let log = Some(log).filter(|log| log.metadata().is_ok_and(|found| found.len() > 0));
    // A backup of an empty store shows nothing.
    let newest = make::backups(folder).pop();
    let newest = newest.filter(|file| Sqlite::threads_in(file).is_ok_and(|count| count > 0));
    newest.into_iter().chain(log).collect()
}
