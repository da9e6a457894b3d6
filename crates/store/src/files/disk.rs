//! Files that last: written, synced, and only then named.
//!
//! Everything is private to its owner: folders 0700, files 0600.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{ErrorKind, Result, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

/// How often folders are made again because an erasure removed an empty one meanwhile.
const ATTEMPTS_MAX: usize = 100;

/// Makes a folder and those above it, and makes their names last.
pub(super) fn make_folders(folder: &Path) -> Result<()> {
    for _ in 1..ATTEMPTS_MAX {
        match try_make_folders(folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            result => return result,
        }
    }
    try_make_folders(folder)
}

fn try_make_folders(folder: &Path) -> Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    if let Some(parent) = folder.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        try_make_folders(parent)?;
    }
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    sync_folder_of(folder)
}

/// Makes the names in a folder last.
pub(super) fn sync_folder(folder: &Path) -> Result<()> {
    File::open(folder)?.sync_all()
}

/// Makes the name of `path` itself last.
pub(super) fn sync_folder_of(path: &Path) -> Result<()> {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => sync_folder(parent),
        _ => sync_folder(Path::new(".")),
    }
}

/// Writes a file anew and syncs its content; its name is synced by the caller.
pub(super) fn write_file(path: &Path, bytes: &[u8]) -> Result<File> {
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    file.write_all(bytes)?;
    file.sync_data()?;
    Ok(file)
}

/// Removes a folder with its files, if it is there; answers how many files went.
pub(super) fn remove_folder(folder: &Path) -> Result<u64> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(error),
    };
    let mut removed = 0;
    for entry in entries {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            removed += remove_folder(&entry.path())?;
        } else {
            std::fs::remove_file(entry.path())?;
            removed += 1;
        }
    }
    std::fs::remove_dir(folder)?;
    Ok(removed)
}
