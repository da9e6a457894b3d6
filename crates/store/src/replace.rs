//! Puts a store that was made beside another one in its place.
//!
//! When the new store is whole and synced, a note is written; then the two change places in one step, the old
//! one gets the name under which it is kept, and the note goes. Whoever opens a store looks for the note first
//! and finishes what it tells. It works on a file, with what SQLite keeps beside it, and on a folder; it does
//! not look into either.
//!
//! Invariant: wherever a process ends, the next one to open the path finds the old store or the new one, whole.

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

/// How the name of a new store ends until it is in place; also of what is needed to make it.
pub const STAGED: &str = ".restoring";
/// How the name of a store begins to end that was replaced and is kept.
pub const KEPT: &str = ".before-";
/// How the name of the note ends.
const NOTE: &str = ".switching";
/// What SQLite keeps beside a database.
const PARTS: [&str; 3] = ["-wal", "-shm", "-journal"];

/// What is left to do once both stores are whole.
#[derive(Debug, Serialize, Deserialize)]
struct Note {
    /// How the name of the old store ends from then on.
    kept: String,
    /// The new store, wherever it lies.
    inode: u64,
}

/// Keeps everybody else out of a local store until it is dropped.
pub struct Held(#[expect(dead_code, reason = "dropping it lets go")] Option<Box<dyn Send>>);

impl Held {
    /// Of a store that need not be held, or is not there.
    pub fn nothing() -> Self {
        Self(None)
    }

    pub(crate) fn by(lock: impl Send + 'static) -> Self {
        Self(Some(Box::new(lock)))
    }
}

/// The refusal of a store that somebody else has open.
pub(crate) fn in_use(path: &Path) -> StoreError {
    StoreError::Refused {
        what: path.display().to_string(),
        reason: "it is open in another process".into(),
        hint: "stop the server or the command that uses it, then try again".into(),
    }
}

/// Where the new store for `path` is made.
pub fn staged(path: &Path) -> PathBuf {
    beside(path, STAGED)
}

/// Stores that were replaced at `path` and are kept, oldest first, without what SQLite keeps beside them.
pub fn kept(path: &Path) -> Vec<PathBuf> {
    let mut found = disk::all_beside(path, KEPT);
    found.retain(|path| !PARTS.iter().any(|part| path.to_string_lossy().ends_with(part)));
    found
}

/// The sentence for a switch that was finished by who opened the store.
pub(crate) fn finished(kept: &Path) -> String {
    let sentence = format!("a restore was finished; what was there before is {}", kept.display());
    tracing::warn!("{sentence}");
    sentence
}

/// Removes what an earlier attempt left behind.
pub fn discard(path: &Path) -> Result<()> {
    for left in disk::all_beside(path, STAGED) {
        disk::remove(&left)?;
    }
    Ok(())
}

/// Removes a store that was kept, with what lies beside it; answers how many files went.
pub fn remove_kept(path: &Path) -> Result<u64> {
    let mut removed = disk::remove(path)?;
    for part in PARTS {
        removed += disk::remove(&beside(path, part))?;
    }
    Ok(removed)
}

/// Puts the staged store at `path`. What was there is kept under the name that ends with `kept`; where
/// nothing was, another store that has appeared meanwhile is left alone and an error.
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
    let note = Note { kept: kept.to_owned(), inode };
    disk::write_whole(&beside(path, NOTE), &serde_json::to_vec(&note)?)?;
    settle(path).map(drop)
}

/// Finishes a switch that was begun at `path`; answers where the old store is kept, if there was one to finish.
pub fn settle(path: &Path) -> Result<Option<PathBuf>> {
    let place = beside(path, NOTE);
    let file = match File::open(&place) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    file.lock()?;
    // Whoever had the lock before us has finished it.
    if inode(&place)? != Some(file.metadata()?.ino()) {
        return Ok(None);
    }
    let note: Note = serde_json::from_reader(&file)
        .map_err(|error| Error::other(format!("{}: {error}", place.display())))?;
    let (staged, kept) = (staged(path), beside(path, &note.kept));
    let there = inode(path)?;
    if there != Some(note.inode) {
        for part in PARTS {
            move_if_there(&beside(path, part), &beside(&kept, part))?;
        }
        match there {
            Some(_) => exchange(path, &staged, &kept)?,
            None => fs::rename(&staged, path)?,
        }
        disk::sync_folder_of(path)?;
    }
    // The two have changed places: what lies there is the old one.
    move_if_there(&staged, &kept)?;
    disk::sync_folder_of(path)?;
    fs::remove_file(&place)?;
    disk::sync_folder_of(path)?;
    Ok(Some(kept))
}

/// In one step where the file system can; else in two, between which the note tells what is missing.
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

/// Tells one file or folder from another, whatever its name; `None` where there is none.
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
        let note =
            Note { kept: ".before-1".into(), inode: inode(&staged(&path)).unwrap().unwrap() };
        fs::write(beside(&path, NOTE), serde_json::to_vec(&note).unwrap()).unwrap();
        fs::rename(&path, beside(&path, ".before-1")).unwrap();
        assert_eq!(settle(&path).unwrap(), Some(beside(&path, ".before-1")));
        assert_eq!(names(folder.path()), ["t.db", "t.db.before-1", "t.db.before-1-wal"]);
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(settle(&path).unwrap(), None);
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
