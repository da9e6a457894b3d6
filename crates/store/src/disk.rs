//! Files that last: written, synced, and only then named.
//!
//! For everything that is kept beside or below a store. It knows nothing of what is in the files.
//!
//! Invariant: what is made here is private to its owner: folders 0700, files 0600.

use std::ffi::OsStr;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{ErrorKind, Result, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use throughline_engine::sabotage::{self, Switch};

/// How often folders are made again because an erasure removed an empty one meanwhile.
const ATTEMPTS_MAX: usize = 100;

/// Makes a folder and those above it, and makes their names last.
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

/// Makes the content of a file last.
pub fn sync(file: &File) -> Result<()> {
    if sabotage::is(Switch::SkipSyncs) { Ok(()) } else { file.sync_data() }
}

/// Makes the names in a folder last.
pub fn sync_folder(folder: &Path) -> Result<()> {
    let folder = File::open(folder)?;
    if sabotage::is(Switch::SkipSyncs) { Ok(()) } else { folder.sync_all() }
}

/// Makes the name of `path` itself last.
pub fn sync_folder_of(path: &Path) -> Result<()> {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => sync_folder(parent),
        _ => sync_folder(Path::new(".")),
    }
}

/// Writes a file anew and syncs its content; its name is synced by the caller.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<File> {
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    file.write_all(bytes)?;
    sync(&file)?;
    Ok(file)
}

/// Writes a file whole or not at all: its name stands for the old content or the new one, also after a crash.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    let next = beside(path, &format!(".next-{}", std::process::id()));
    write_file(&next, bytes)?;
    std::fs::rename(&next, path)?;
    sync_folder_of(path)
}

/// Bytes that a probe writes: more than a file system keeps within a folder's own entry.
const PROBE_BYTES: usize = 4096;

/// Shows that something can be written to a folder and kept there: writes a file, syncs it and removes it.
pub fn probe(folder: &Path) -> Result<()> {
    let place = folder.join(format!(".probe-{}", std::process::id()));
    let written = write_file(&place, &[0; PROBE_BYTES]).map(drop);
    match std::fs::remove_file(&place) {
        Err(error) if error.kind() != ErrorKind::NotFound => written.and(Err(error)),
        _ => written,
    }
}

/// `path` with something at the end of its name.
pub fn beside(path: &Path, ending: &str) -> PathBuf {
    // A folder may have been named with a slash at its end.
    let mut name = path.components().as_path().as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// Paths next to `path` whose name is that of `path` and then begins with `ending`, in order.
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

/// Removes a file, or a folder with its files, if it is there; answers how many files went.
pub fn remove(path: &Path) -> Result<u64> {
    match path.symlink_metadata() {
        Ok(found) if found.is_dir() => remove_folder(path),
        Ok(_) => std::fs::remove_file(path).map(|()| 1),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(0),
        Err(error) => Err(error),
    }
}

/// Removes a folder with its files, if it is there; answers how many files went.
pub fn remove_folder(folder: &Path) -> Result<u64> {
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
