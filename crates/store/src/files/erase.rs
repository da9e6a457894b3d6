//! Erases a thread, under its lock: renames it out of sight, then removes its files.
//!
//! A symbolic link in a thread's place is removed, never what it points to. Damaged copies that were set aside are erased, too. File systems that keep old blocks or snapshots are
//! out of our control.

use std::fs;
use std::io::{ErrorKind, Result};

use throughline_engine::store::{Erased, Key};

use super::head::HeadFile;
use super::layout::{Layout, segment_of};
use super::log;
use crate::disk;

/// Removes the thread and counts what was removed. The caller holds the lock.
pub(super) fn erase(layout: &Layout, key: &Key) -> Result<Erased> {
    layout.refuse_linked_place(&key.scope, key.kind)?;
    let (folder, erased) = (layout.thread(key), layout.erased(key));
    // Left over from an interrupted process.
    disk::remove(&erased)?;
    disk::remove(&layout.staging(key))?;
    let mut counted = Erased::default();
    if let Ok(found) = folder.symlink_metadata() {
        if found.is_dir() {
            counted = count(&folder, key);
        }
        fs::rename(&folder, &erased)?;
        disk::sync_folder_of(&erased)?;
        counted.records = disk::remove(&erased)?;
        disk::sync_folder_of(&erased)?;
    }
    let aside = layout.set_aside(key);
    counted.records += disk::remove(&aside)?;
    remove_empty_above(&aside, layout)?;
    remove_empty_above(&folder, layout)?;
    Ok(counted)
}

/// Counts the content of a thread; of a damaged one, as much as can be read.
fn count(folder: &std::path::Path, key: &Key) -> Erased {
    let mut counted = Erased { heads: 1, ..Erased::default() };
    let Ok((head, _)) = HeadFile::read(folder, key) else { return counted };
    counted.bytes = head.bytes.len() as u64;
    let mut at = 0;
    while at < head.entries {
        let end = head.entries.min(segment_of(at) + super::layout::SEGMENT_ENTRIES);
        if let Ok(entries) = log::read(folder, &head, at..end) {
            counted.entries += entries.len() as u64;
            counted.bytes += entries.iter().map(|entry| entry.len() as u64).sum::<u64>();
        }
        at = end;
    }
    counted
}

/// Removes the folders of kind, user and tenant if they are empty: their names are personal data, too.
fn remove_empty_above(folder: &std::path::Path, layout: &Layout) -> Result<()> {
    for above in folder.ancestors().skip(1).take(3) {
        if above == layout.root {
            break;
        }
        match fs::remove_dir(above) {
            Ok(()) => disk::sync_folder_of(above)?,
            Err(error)
                if matches!(error.kind(), ErrorKind::DirectoryNotEmpty | ErrorKind::NotFound) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
