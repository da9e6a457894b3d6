//! Replaces a store by another one that was prepared beside it.
//!
//! Once the new store is complete and synced, a journal file is written; then the two stores are exchanged in
//! one step, the old one is renamed to its backup name, and the journal is removed. Opening a store first
//! looks for a journal and finishes the switch it describes. This works on a file with the files that SQLite
//! keeps beside it, and on a folder; contents are not inspected.
//!
//! Invariant: wherever the process dies, the next one to open the path finds the old store or the new one, complete.

use std::fs::{self, File};
use std::io::{Error, ErrorKind, Result};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use throughline_engine::sabotage::{self, Switch};
use throughline_engine::store::StoreError;

use crate::disk::{self, beside};

/// Suffix of a new store that is not in place yet, and prefix of the suffixes of temporary files beside it.
pub const STAGED: &str = ".restoring";
/// Start of the suffix of a replaced store that is kept as a backup.
pub const KEPT: &str = ".before-";
/// Suffix of the journal file.
const JOURNAL: &str = ".switching";
/// Suffixes of the files that SQLite keeps beside a database.
const PARTS: [&str; 3] = ["-wal", "-shm", "-journal"];

/// The content of the journal: how to finish a switch once both stores are complete.
#[derive(Debug, Serialize, Deserialize)]
struct Journal {
    /// Suffix of the old store after the switch.
    kept: String,
    /// Inode of the new store, under whichever name.
    inode: u64,
}

/// Locks a local store exclusively until dropped.
pub struct StoreLock(#[expect(dead_code, reason = "dropping it unlocks")] Option<Box<dyn Send>>);

impl StoreLock {
    /// For a store that is missing or needs no lock.
    pub fn none() -> Self {
        Self(None)
    }

    pub(crate) fn new(lock: impl Send + 'static) -> Self {
        Self(Some(Box::new(lock)))
    }
}

/// The error for a store that is open elsewhere.
pub(crate) fn in_use(path: &Path) -> StoreError {
    StoreError::Refused {
        what: path.display().to_string(),
        reason: "it is open in another process".into(),
        hint: "stop the server or the command that uses it, then try again".into(),
    }
}

/// The path where the new store for `path` is prepared.
pub fn staged(path: &Path) -> PathBuf {
    beside(path, STAGED)
}

/// The replaced stores kept at `path`, oldest first, without the files that SQLite keeps beside them.
pub fn kept(path: &Path) -> Vec<PathBuf> {
    let mut found = disk::all_beside(path, KEPT);
    found.retain(|path| !PARTS.iter().any(|part| path.to_string_lossy().ends_with(part)));
    found
}

/// Logs and returns the message for a switch that was finished on opening.
pub(crate) fn finished(kept: &Path) -> String {
    let sentence = format!(
        "an interrupted restore was finished; the previous store is kept as {}",
        kept.display()
    );
    tracing::warn!("{sentence}");
    sentence
}

/// Removes what an interrupted attempt left behind.
pub fn discard(path: &Path) -> Result<()> {
    for left in disk::all_beside(path, STAGED) {
        disk::remove(&left)?;
    }
    Ok(())
}

/// Removes a kept store with its SQLite files; returns the number of files removed.
pub fn remove_kept(path: &Path) -> Result<u64> {
    let mut removed = disk::remove(path)?;
    for part in PARTS {
        removed += disk::remove(&beside(path, part))?;
    }
    Ok(removed)
}

/// Puts the staged store at `path` and renames the store that was there by appending `kept`. If there was none,
/// and another process has created one meanwhile, that one is left alone and an error returned.
pub fn switch(path: &Path, kept: &str) -> Result<()> {
    let staged = staged(path);
    if inode(path)?.is_none() {
        rename(&staged, path, RenameFlags::NOREPLACE)?;
        return disk::sync_folder_of(path);
    }
    if sabotage::is(Switch::ReplaceInTwoSteps) {
        fs::rename(path, beside(path, kept))?;
        return fs::rename(&staged, path);
    }
    let Some(inode) = inode(&staged)? else { return Err(ErrorKind::NotFound.into()) };
    let journal = Journal { kept: kept.to_owned(), inode };
    disk::write_whole(&beside(path, JOURNAL), &serde_json::to_vec(&journal)?)?;
    finish_switch(path).map(drop)
}

/// Finishes an interrupted switch at `path`; returns where the old store is kept if there was one to finish.
pub fn finish_switch(path: &Path) -> Result<Option<PathBuf>> {
    let place = beside(path, JOURNAL);
    let file = match File::open(&place) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    file.lock()?;
    // Another process held the lock before and has finished the switch.
    if inode(&place)? != Some(file.metadata()?.ino()) {
        return Ok(None);
    }
    let journal: Journal = serde_json::from_reader(&file)
        .map_err(|error| Error::other(format!("{}: {error}", place.display())))?;
    let (staged, kept) = (staged(path), beside(path, &journal.kept));
    let there = inode(path)?;
    if there != Some(journal.inode) {
        for part in PARTS {
            move_if_there(&beside(path, part), &beside(&kept, part))?;
        }
        match there {
            Some(_) => exchange(path, &staged, &kept)?,
            None => fs::rename(&staged, path)?,
        }
        disk::sync_folder_of(path)?;
    }
    // After the exchange, the staged name refers to the old store.
    move_if_there(&staged, &kept)?;
    disk::sync_folder_of(path)?;
    fs::remove_file(&place)?;
    disk::sync_folder_of(path)?;
    Ok(Some(kept))
}

/// Exchanges in one step where the file system can; otherwise in two, and the journal covers the gap.
fn exchange(path: &Path, staged: &Path, kept: &Path) -> Result<()> {
    match renameat_with(CWD, staged, CWD, path, RenameFlags::EXCHANGE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
            fs::rename(path, kept)?;
            fs::rename(staged, path)
        }
        done => Ok(done?),
    }
}

fn rename(from: &Path, to: &Path, flags: RenameFlags) -> Result<()> {
    match renameat_with(CWD, from, CWD, to, flags) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => fs::rename(from, to),
        done => Ok(done?),
    }
}

fn move_if_there(from: &Path, to: &Path) -> Result<()> {
    match fs::rename(from, to) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Identifies a file or folder regardless of its name; `None` if it does not exist.
pub(crate) fn inode(path: &Path) -> Result<Option<u64>> {
    match path.symlink_metadata() {
        Ok(found) => Ok(Some(found.ino())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn two_stores() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.db");
        fs::write(&path, "old").unwrap();
        fs::write(beside(&path, "-wal"), "old wal").unwrap();
        fs::write(staged(&path), "new").unwrap();
        (folder, path)
    }

    #[test]
    fn the_old_store_is_kept_with_what_lies_beside_it() {
        let (folder, path) = two_stores();
        switch(&path, ".before-1").unwrap();
        assert_eq!(names(folder.path()), ["t.db", "t.db.before-1", "t.db.before-1-wal"]);
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(kept(&path), [beside(&path, ".before-1")]);
        assert_eq!(remove_kept(&kept(&path)[0]).unwrap(), 2);
    }

    #[test]
    fn a_switch_without_exchange_that_ended_between_its_two_steps_is_finished() {
        let (folder, path) = two_stores();
        let journal =
            Journal { kept: ".before-1".into(), inode: inode(&staged(&path)).unwrap().unwrap() };
        fs::write(beside(&path, JOURNAL), serde_json::to_vec(&journal).unwrap()).unwrap();
        fs::rename(&path, beside(&path, ".before-1")).unwrap();
        assert_eq!(finish_switch(&path).unwrap(), Some(beside(&path, ".before-1")));
        assert_eq!(names(folder.path()), ["t.db", "t.db.before-1", "t.db.before-1-wal"]);
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(finish_switch(&path).unwrap(), None);
    }

    #[test]
    fn a_store_that_has_appeared_meanwhile_is_left_alone() {
        let (_folder, path) = two_stores();
        fs::rename(&path, beside(&path, ".away")).unwrap();
        switch(&path, ".before-1").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        fs::write(staged(&path), "newer").unwrap();
        let raced = rename(&staged(&path), &path, RenameFlags::NOREPLACE);
        assert_eq!(raced.unwrap_err().kind(), ErrorKind::AlreadyExists);
    }
}
