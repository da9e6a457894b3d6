//! Copies the database while it is in use, and verifies the copy before it gets its name.
//!
//! The copy is consistent: it is read in one snapshot, whatever is written meanwhile. It has no WAL, so it
//! is a single file. Restoring a backup is the same operation in the other direction.
//!
//! Invariant: a file at the target path has been read back completely, checked and synced.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};
use throughline_engine::store::{CheckReport, Result, StoreError};

use super::apply::Failure;
use super::check::check;
use super::fault::{Outcome, translate};
use super::inspect::{self, FileState};
use super::schema::{self, Purpose};
use crate::{disk, replace};

/// Pages copied between two progress reports.
const STEP_PAGES: i32 = 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyProgress {
    /// Pages copied so far.
    pub done: u64,
    /// Pages in total.
    pub total: u64,
}

/// The content of a finished copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Copied {
    pub threads: u64,
    pub entries: u64,
    /// Size of the file in bytes.
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
    replace::finish_switch(from).map_err(|error| inspect::unreadable(from, &error))?;
    if inspect::file_state(from, schema::SIGNATURE)? != FileState::Ours {
        return Err(refuse(from, "there is no database", "check the path"));
    }
    if to.symlink_metadata().is_ok() {
        return Err(refuse(to, "it already exists", "name a new file, or move the old one away"));
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
        // A left-over partial file is overwritten by the next attempt, so only the first error matters.
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
    let report = copied.map_err(|failure| match failure {
        Failure::Store(error) => error,
        Failure::Sqlite(error) => translate(partial, Outcome::Unchanged, &error),
    })?;
    match report.problems.first() {
        None => Ok(report),
        Some(problem) => Err(StoreError::Damaged {
            what: from.display().to_string(),
            reason: format!("its copy failed the check: {problem}"),
        }),
    }
}

fn copy_pages(
    source: &Connection,
    target: &mut Connection,
    progress: &dyn Fn(CopyProgress),
) -> std::result::Result<(), Failure> {
    // Hold one snapshot: otherwise every write of the server would restart the copy.
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
