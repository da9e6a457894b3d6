//! Commits a change to a thread, under its lock.
//!
//! The log is written and synced first, then the head is replaced: the rename is the commit. Nothing written
//! before it counts. A new thread is built in a staging folder and then renamed.
//!
//! Invariant: the cost of an append does not depend on the length of the log.

use std::fs;
use std::path::Path;

use throughline_engine::store::{Change, Expected, Key, Result, StoreError, Version};

use super::damage::blocked_id;
use super::fault::{translate, unknown};
use super::head::{HeadError, HeadFile, Stamp};
use super::layout::{HEAD, HEAD_NEXT, Layout};
use super::log;
use crate::disk;
use crate::limit::{new_incarnation, no_such_entry};

/// Applies `change` if the thread is at `expected`. The caller holds the lock.
pub(super) fn commit(
    layout: &Layout,
    key: &Key,
    expected: Expected,
    change: &Change,
) -> Result<(HeadFile, Stamp)> {
    layout.refuse_linked_thread(key).map_err(|error| translate(key, &error))?;
    let folder = layout.thread(key);
    let current = match HeadFile::read(&folder, key) {
        Ok((head, _)) => Some(head),
        Err(HeadError::Missing) => match blocked_id(layout, key) {
            Ok(None) => None,
            Ok(Some(reason)) => {
                return Err(StoreError::Damaged { what: key.to_string(), reason });
            }
            Err(error) => return Err(translate(folder.display(), &error)),
        },
        Err(HeadError::Damaged(reason)) => {
            return Err(StoreError::Damaged { what: key.to_string(), reason });
        }
        Err(HeadError::Failed(error)) => return Err(translate(folder.display(), &error)),
    };
    let length = current.as_ref().map_or(0, |head| head.entries);
    match (expected, current) {
        (Expected::Absent, None) => {
            refuse_overwrite_from(key, change, length)?;
            create(layout, key, change)
        }
        (Expected::At(wanted), Some(head)) if head.version == wanted => {
            refuse_overwrite_from(key, change, length)?;
            update(&folder, key, head, change)
        }
        (_, current) => {
            let current = current.map(|head| head.version);
            Err(StoreError::Conflict { key: key.clone(), current })
        }
    }
}

fn refuse_overwrite_from(key: &Key, change: &Change, length: u64) -> Result<()> {
    match change.overwrite.iter().find(|(number, _)| *number >= length) {
        Some((number, _)) => Err(no_such_entry(key, *number)),
        None => Ok(()),
    }
}

/// Creates a thread in a single step.
pub(super) fn create(layout: &Layout, key: &Key, change: &Change) -> Result<(HeadFile, Stamp)> {
    let (staging, folder) = (layout.staging(key), layout.thread(key));
    let place = layout.place(&key.scope, key.kind);
    let mut head = HeadFile {
        version: Version { number: 1, incarnation: new_incarnation() },
        entries: 0,
        tail_bytes: 0,
        changed_at: change.at,
        expires_at: change.expires_at,
        rewritten: Default::default(),
        bytes: change.head.clone(),
    };
    let made = (|| {
        // Left over from an interrupted process.
        disk::remove(&staging)?;
        disk::make_folders(&staging)?;
        log::append(&staging, &mut head, &change.append)?;
        let file = disk::write_file(&staging.join(HEAD), &head.encode(key))?;
        disk::sync_folder(&staging)?;
        Ok(Stamp::of(&file.metadata()?))
    })();
    let stamp = made.map_err(|error| translate(staging.display(), &error))?;
    fs::rename(&staging, &folder).map_err(|error| translate(folder.display(), &error))?;
    disk::sync_folder(&place).map_err(|error| unknown(folder.display(), &error))?;
    Ok((head, stamp))
}

fn update(
    folder: &Path,
    key: &Key,
    mut head: HeadFile,
    change: &Change,
) -> Result<(HeadFile, Stamp)> {
    head.version.number += 1;
    let next = folder.join(HEAD_NEXT);
    let written = (|| {
        let mut old = log::rewrite(folder, &mut head, &change.overwrite)?;
        old.extend(log::append(folder, &mut head, &change.append)?);
        head.changed_at = change.at;
        head.expires_at = change.expires_at;
        head.bytes = change.head.clone();
        let file = disk::write_file(&next, &head.encode(key))?;
        Ok((old, Stamp::of(&file.metadata()?)))
    })();
    let (old, stamp) = written.map_err(|error| translate(key, &error))?;
    let placed = (|| {
        fs::rename(&next, folder.join(HEAD))?;
        disk::sync_folder(folder)?;
        for name in &old {
            fs::remove_file(folder.join(name))?;
        }
        if !old.is_empty() {
            disk::sync_folder(folder)?;
        }
        Ok(())
    })();
    placed.map_err(|error| unknown(key, &error))?;
    Ok((head, stamp))
}
