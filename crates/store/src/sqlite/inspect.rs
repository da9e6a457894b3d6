//! A look at the file before SQLite may touch it.
//!
//! Reads the 100-byte header only. What lies deeper is the matter of `check`.
//!
//! Invariant: a file that is refused here has not been written to, not even by a journal's recovery.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use throughline_engine::store::{Result, StoreError};

use super::fault::{Outcome, not_ours, translate};
use super::schema::newer;
use crate::disk;

/// How the name of a file ends that is being made, before the number of the process.
const UNNAMED: &str = ".new-";
const HEADER_BYTES: usize = 100;
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// What tells one of our files from others.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FileSignature {
    /// The number in the header that names the program.
    pub(crate) application_id: i32,
    /// The newest schema that this build knows.
    pub(crate) version_max: i32,
}

/// Looks at the file; where there is none, one is made and filled.
pub(crate) fn prepare(
    path: &Path,
    mark: FileSignature,
    fill: impl FnOnce(&mut Connection) -> Result<()>,
) -> Result<()> {
    match look(path, mark)? {
        Look::Missing | Look::Empty => create(path, fill),
        Look::Ours => Ok(()),
    }
}

/// What was found at a path.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Look {
    Missing,
    Empty,
    Ours,
}

/// Refuses what is foreign, newer or cut short.
pub(crate) fn look(path: &Path, mark: FileSignature) -> Result<Look> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Look::Missing),
        Err(error) => return Err(unreadable(path, &error)),
    };
    let metadata = file.metadata().map_err(|error| unreadable(path, &error))?;
    if metadata.is_dir() {
        return Err(not_ours(path, "it is a folder"));
    }
    if metadata.len() == 0 {
        return Ok(Look::Empty);
    }
    let mut header = [0; HEADER_BYTES];
    if metadata.len() < HEADER_BYTES as u64 {
        return Err(not_ours(path, "it is not an SQLite database"));
    }
    file.read_exact(&mut header).map_err(|error| unreadable(path, &error))?;
    judge(path, mark, &header, metadata.len())
}

fn judge(
    path: &Path,
    mark: FileSignature,
    header: &[u8; HEADER_BYTES],
    length: u64,
) -> Result<Look> {
    if !header.starts_with(MAGIC) {
        return Err(not_ours(path, "it is not an SQLite database"));
    }
    let number = |at: usize| {
        i32::from_be_bytes(header[at..at + 4].try_into().expect("four bytes of the header"))
    };
    if number(68) != mark.application_id {
        return Err(not_ours(path, "it is an SQLite database of another program"));
    }
    if number(60) > mark.version_max {
        return Err(newer(path, number(60), mark.version_max));
    }
    let page_bytes = match u16::from_be_bytes([header[16], header[17]]) {
        1 => 65536,
        bytes => u64::from(bytes),
    };
    let pages = u64::from(number(28).unsigned_abs());
    // With a WAL beside it, the missing pages may still lie there.
    let wal_holds_frames = fs::metadata(wal_path(path)).is_ok_and(|wal| wal.len() > 0);
    if length < pages * page_bytes && !wal_holds_frames {
        return Err(StoreError::Damaged {
            what: path.display().to_string(),
            reason: format!(
                "it has {length} bytes where its header says {}; it was left untouched, restore a backup",
                pages * page_bytes
            ),
        });
    }
    Ok(Look::Ours)
}

/// Where SQLite keeps the write-ahead log of the database at `path`.
pub(crate) fn wal_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    name.into()
}

/// Makes a database with its folder, private to its owner, and gives it its name when it is whole: a process
/// that ends in the middle leaves none.
fn create(path: &Path, fill: impl FnOnce(&mut Connection) -> Result<()>) -> Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        disk::make_folders(folder).map_err(|error| unreadable(folder, &error))?;
    }
    let unnamed = disk::beside(path, &format!("{UNNAMED}{}", std::process::id()));
    disk::write_file(&unnamed, b"").map_err(|error| unreadable(&unnamed, &error))?;
    Connection::open(&unnamed)
        .map_err(|error| translate(&unnamed, Outcome::Unchanged, &error))
        .and_then(|mut connection| fill(&mut connection))?;
    let named = (|| {
        disk::sync(&File::open(&unnamed)?)?;
        match fs::hard_link(&unnamed, path) {
            // Another process was faster; or an older version was killed before it wrote anything.
            Err(_) if fs::metadata(path).is_ok_and(|found| found.len() > 0) => {}
            Err(error) if error.kind() == ErrorKind::AlreadyExists => fs::rename(&unnamed, path)?,
            linked => linked?,
        }
        disk::sync_folder_of(path)
    })();
    for left in disk::all_beside(path, UNNAMED) {
        // Of processes that were killed, or of one that will find that we were faster.
        let _ = fs::remove_file(left);
    }
    named.map_err(|error| unreadable(path, &error))
}

pub(crate) fn unreadable(path: &Path, error: &std::io::Error) -> StoreError {
    StoreError::Unavailable {
        what: path.display().to_string(),
        reason: error.to_string(),
        outcome_unknown: false,
    }
}
