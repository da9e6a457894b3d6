//! Durable file operations: content and directory entries are synced.
//!
//! Used for everything stored beside or below a store. File contents are opaque here.
//!
//! Invariant: everything created here is private to its owner: folders 0700, files 0600.

use std::ffi::OsStr;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{ErrorKind, Result, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use throughline_engine::sabotage::{self, Switch};

/// Attempts to create a folder whose parent an erasure may be removing concurrently.
const ATTEMPTS_MAX: usize = 100;

/// Creates a folder and its parents, and syncs their directory entries.
pub fn make_folders(folder: &Path) -> Result<()> {
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

/// Syncs the content of a file.
pub fn sync(file: &File) -> Result<()> {
    if sabotage::is(Switch::SkipSyncs) { Ok(()) } else { file.sync_data() }
}

/// Syncs the directory entries of a folder.
pub fn sync_folder(folder: &Path) -> Result<()> {
    let folder = File::open(folder)?;
    if sabotage::is(Switch::SkipSyncs) { Ok(()) } else { folder.sync_all() }
}

/// Syncs the directory entry of `path`.
pub fn sync_folder_of(path: &Path) -> Result<()> {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => sync_folder(parent),
        _ => sync_folder(Path::new(".")),
    }
}

/// Creates or truncates a file and syncs its content. The caller syncs its directory entry.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<File> {
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    file.write_all(bytes)?;
    sync(&file)?;
    Ok(file)
}

/// Replaces a file atomically: even after a crash, `path` has either the old content or the new.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    let next = beside(path, &format!(".next-{}", std::process::id()));
    write_file(&next, bytes)?;
    std::fs::rename(&next, path)?;
    sync_folder_of(path)
}

/// Whether something failed because there was no room for it.
pub fn is_full(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
}

/// Size of the probe: too large for the file system to store inline in the inode.
const PROBE_BYTES: usize = 4096;

/// Checks that a folder accepts durable writes: writes a file, syncs it and removes it.
pub fn probe(folder: &Path) -> Result<()> {
    let place = folder.join(format!(".probe-{}", std::process::id()));
    let written = write_file(&place, &[0; PROBE_BYTES]).map(drop);
    match std::fs::remove_file(&place) {
        Err(error) if error.kind() != ErrorKind::NotFound => written.and(Err(error)),
        _ => written,
    }
}

/// Appends a suffix to the last component of `path`.
pub fn beside(path: &Path, ending: &str) -> PathBuf {
    // `path` may end with a slash.
    let mut name = path.components().as_path().as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// Siblings of `path` whose names start with its own name followed by `ending`, sorted.
pub fn all_beside(path: &Path, ending: &str) -> Vec<PathBuf> {
    let Some(name) = path.file_name() else { return Vec::new() };
    let mut prefix = name.to_owned();
    prefix.push(ending);
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let is_ours = |found: &OsStr| found.as_encoded_bytes().starts_with(prefix.as_encoded_bytes());
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let ours = entries.map(|entry| entry.file_name()).filter(|found| is_ours(found));
    let mut found: Vec<PathBuf> = ours.map(|found| path.with_file_name(found)).collect();
    found.sort();
    found
}

/// Removes a file or a folder with its content, if present; returns the number of files removed. A symbolic link is
/// removed, never what it points to.
pub fn remove(path: &Path) -> Result<u64> {
    match path.symlink_metadata() {
        Ok(found) if found.is_dir() => remove_folder(path),
        Ok(_) => std::fs::remove_file(path).map(|()| 1),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(0),
        Err(error) => Err(error),
    }
}

/// Removes what is in a folder and the folder itself.
fn remove_folder(folder: &Path) -> Result<u64> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(error),
    };
    let mut removed = 0;
    for entry in entries {
        removed += remove(&entry?.path())?;
    }
    std::fs::remove_dir(folder)?;
    Ok(removed)
}
