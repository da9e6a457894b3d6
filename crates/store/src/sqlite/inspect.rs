//! Inspects the file before SQLite opens it, and creates a missing one.
//!
//! Reads only the 100-byte header; the rest is up to `check`.
//!
//! Invariant: a refused file has not been written to, not even by the recovery of its journal.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use throughline_engine::store::{Result, StoreError};

use super::fault::{Outcome, not_ours, translate};
use super::schema::newer;
use crate::disk;

/// Suffix of a file that is being created; the process id follows.
const UNFINISHED: &str = ".new-";
const HEADER_BYTES: usize = 100;
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// Identifies our files.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FileSignature {
    /// The application id in the file header.
    pub(crate) application_id: i32,
    /// The newest schema version that this build supports.
    pub(crate) version_max: i32,
}

/// Inspects the file, and creates and fills it if it is missing or empty.
pub(crate) fn prepare(
    path: &Path,
    signature: FileSignature,
    fill: impl FnOnce(&mut Connection) -> Result<()>,
) -> Result<()> {
    match file_state(path, signature)? {
        FileState::Missing | FileState::Empty => create(path, fill),
        FileState::Ours => Ok(()),
    }
}

/// The state of the file at a path.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FileState {
    Missing,
    Empty,
    Ours,
}

/// Returns the state of the file; refuses one that is foreign, newer or truncated.
pub(crate) fn file_state(path: &Path, signature: FileSignature) -> Result<FileState> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(FileState::Missing),
        Err(error) => return Err(unreadable(path, &error)),
    };
    let metadata = file.metadata().map_err(|error| unreadable(path, &error))?;
    if metadata.is_dir() {
        return Err(not_ours(path, "it is a folder"));
    }
    if metadata.len() == 0 {
        return Ok(FileState::Empty);
    }
    let mut header = [0; HEADER_BYTES];
    if metadata.len() < HEADER_BYTES as u64 {
        return Err(not_ours(path, "it is not an SQLite database"));
    }
    file.read_exact(&mut header).map_err(|error| unreadable(path, &error))?;
    check_header(path, signature, &header, metadata.len())
}

fn check_header(
    path: &Path,
    signature: FileSignature,
    header: &[u8; HEADER_BYTES],
    length: u64,
) -> Result<FileState> {
    if !header.starts_with(MAGIC) {
        return Err(not_ours(path, "it is not an SQLite database"));
    }
    let number = |at: usize| {
        i32::from_be_bytes(header[at..at + 4].try_into().expect("four bytes of the header"))
    };
    if number(68) != signature.application_id {
        return Err(not_ours(path, "it is an SQLite database of another program"));
    }
    if number(60) > signature.version_max {
        return Err(newer(path, number(60), signature.version_max));
    }
    let page_bytes = match u16::from_be_bytes([header[16], header[17]]) {
        1 => 65536,
        bytes => u64::from(bytes),
    };
    let pages = u64::from(number(28).unsigned_abs());
    // The missing pages may still be in a WAL.
    let wal_holds_frames = fs::metadata(wal_path(path)).is_ok_and(|wal| wal.len() > 0);
    if length < pages * page_bytes && !wal_holds_frames {
        return Err(StoreError::Damaged {
            what: path.display().to_string(),
            reason: format!(
                "it has {length} bytes instead of the {} in its header and was left untouched; restore a backup",
                pages * page_bytes
            ),
        });
    }
    Ok(FileState::Ours)
}

/// The write-ahead log of the database at `path`.
pub(crate) fn wal_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    name.into()
}

/// Creates a database and its folder, private to the owner. The file gets its name only once it is complete, so
/// that a crash leaves none.
fn create(path: &Path, fill: impl FnOnce(&mut Connection) -> Result<()>) -> Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        disk::make_folders(folder).map_err(|error| unreadable(folder, &error))?;
    }
    let unfinished = disk::beside(path, &format!("{UNFINISHED}{}", std::process::id()));
    disk::write_file(&unfinished, b"").map_err(|error| unreadable(&unfinished, &error))?;
    Connection::open(&unfinished)
        .map_err(|error| translate(&unfinished, Outcome::Unchanged, &error))
        .and_then(|mut connection| fill(&mut connection))?;
    let named = (|| {
        disk::sync(&File::open(&unfinished)?)?;
        match fs::hard_link(&unfinished, path) {
            // Another process was faster, or an older version was killed before it wrote anything.
            Err(_) if fs::metadata(path).is_ok_and(|found| found.len() > 0) => {}
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                fs::rename(&unfinished, path)?
            }
            linked => linked?,
        }
        disk::sync_folder_of(path)
    })();
    for left in disk::all_beside(path, UNFINISHED) {
        // Left by killed processes, or about to be abandoned by a process that lost the race.
        let _ = fs::remove_file(left);
    }
    named.map_err(|error| unreadable(path, &error))
}

pub(crate) fn unreadable(path: &Path, error: &std::io::Error) -> StoreError {
    let (what, reason) = (path.display().to_string(), error.to_string());
    if disk::is_full(error) {
        return StoreError::Full { what, reason };
    }
    StoreError::Unavailable { what, reason, outcome_unknown: false }
}
