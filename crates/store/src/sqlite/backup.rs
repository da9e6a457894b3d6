//! A copy of the file while it is in use, proven before it gets its name.
//!
//! The copy is one moment of the store: it is read in one snapshot, whatever is written meanwhile. It
//! has no WAL beside it, so it is one file to carry away. Restoring is the same copy, the other way.
//!
//! Invariant: a file at the target has been read back whole, found sound and synced.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};
use throughline_engine::store::{CheckReport, Result, StoreError};

use super::apply::Refusal;
use super::check::check;
use super::fault::{Outcome, translate};
use super::inspect::{self, Look};
use super::schema::{self, Purpose};
use crate::{disk, replace};

/// Pages that are copied between two reports of progress.
const STEP_PAGES: i32 = 1024;

/// How far a copy is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyProgress {
    /// Pages copied.
    pub done: u64,
    /// Pages in all.
    pub total: u64,
}

/// What a finished copy holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Copied {
    /// Threads in it.
    pub threads: u64,
    /// Log entries in it.
    pub entries: u64,
    /// Its size in bytes.
    pub bytes: u64,
}

/// Copies the database at `from` to `to`, which must not exist yet.
pub(super) fn copy(
    from: &Path,
    to: &Path,
    busy: Duration,
    progress: &dyn Fn(CopyProgress),
) -> Result<Copied> {
    let refuse = |path: &Path, reason: &str, hint: &str| StoreError::Refused {
        what: path.display().to_string(),
        reason: reason.into(),
        hint: hint.into(),
    };
    replace::settle(from).map_err(|error| inspect::unreadable(from, &error))?;
    if inspect::look(from, schema::MARK)? != Look::Ours {
        return Err(refuse(from, "there is no database", "check the path"));
    }
    if to.symlink_metadata().is_ok() {
        return Err(refuse(to, "it exists already", "name a new file, or move the old one away"));
    }
    let partial = partial_path(to);
    let copied = copy_to(from, &partial, busy, progress).and_then(|report| {
        let place = || -> std::io::Result<u64> {
            let file = File::open(&partial)?;
            disk::sync(&file)?;
            fs::rename(&partial, to)?;
            disk::sync_folder_of(to)?;
            Ok(file.metadata()?.len())
        };
        let bytes = place().map_err(|error| inspect::unreadable(to, &error))?;
        Ok(Copied { threads: report.threads, entries: report.entries, bytes })
    });
    if copied.is_err() {
        // The reason is what matters to the caller; a left-over partial file is replaced next time.
        let _ = fs::remove_file(&partial);
    }
    copied
}

fn partial_path(to: &Path) -> PathBuf {
    let mut name = to.as_os_str().to_owned();
    name.push(".partial");
    name.into()
}

fn copy_to(
    from: &Path,
    partial: &Path,
    busy: Duration,
    progress: &dyn Fn(CopyProgress),
) -> Result<CheckReport> {
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(partial)
        .map_err(|error| inspect::unreadable(partial, &error))?;
    let source = schema::connect(from, Purpose::Read, busy)?;
    let copied = (|| {
        let mut target = Connection::open(partial)?;
        copy_pages(&source, &mut target, progress)?;
        target.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(()))?;
        check(&target)
    })();
    let report = copied.map_err(|refusal| match refusal {
        Refusal::Contract(error) => error,
        Refusal::Sqlite(error) => translate(partial, Outcome::Unchanged, &error),
    })?;
    match report.problems.first() {
        None => Ok(report),
        Some(problem) => Err(StoreError::Damaged {
            what: from.display().to_string(),
            reason: format!("its copy is not sound: {problem}"),
        }),
    }
}

fn copy_pages(
    source: &Connection,
    target: &mut Connection,
    progress: &dyn Fn(CopyProgress),
) -> std::result::Result<(), Refusal> {
    // A snapshot that is held: else every write of the server would start the copy over.
    let snapshot = source.unchecked_transaction()?;
    schema::user_version(&snapshot)?;
    let backup = Backup::new(&snapshot, target)?;
    loop {
        let step = backup.step(STEP_PAGES)?;
        let pages = backup.progress();
        let count = |pages: i32| u64::from(pages.unsigned_abs());
        let total = count(pages.pagecount);
        progress(CopyProgress { done: total - count(pages.remaining).min(total), total });
        if step == StepResult::Done {
            return Ok(());
        }
    }
}
