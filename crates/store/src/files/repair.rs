//! Repairs a damaged thread on request: sets it aside, or rebuilds it from what its log still has.
//!
//! Never runs by itself, only for `throughline repair`.
//!
//! Invariant: damaged data is moved, never removed; only erasing removes it.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Error, ErrorKind, Result as IoResult};
use std::path::PathBuf;

use bytes::Bytes;
use throughline_engine::store::{Change, Key, Result};

use super::commit;
use super::damage::{RELEASED, newest};
use super::fault::translate;
use super::head::{HeadFile, Stamp};
use super::layout::{Layout, REASON, names_in, parse_segment_name};
use super::line;
use super::log::numbered;
use crate::disk;

/// A log entry, or why it cannot be read.
pub type Salvaged = std::result::Result<Bytes, String>;

/// Moves a thread to `damaged/` and releases its id. Returns its new location. The caller holds the lock.
pub(super) fn set_aside(layout: &Layout, key: &Key, reason: &str) -> IoResult<PathBuf> {
    let target = move_aside(layout, key, reason)?;
    release_id(layout, key)?;
    Ok(target)
}

/// Sets a thread aside and creates a new one from `change`. The caller holds the lock.
pub(super) fn rebuild(
    layout: &Layout,
    key: &Key,
    change: &Change,
    reason: &str,
) -> Result<(PathBuf, HeadFile, Stamp)> {
    let fail = |error: Error| translate(key, &error);
    // The id stays blocked until the new thread exists, whatever happens in between.
    let target = move_aside(layout, key, reason).map_err(fail)?;
    let (head, stamp) = commit::create(layout, key, change)?;
    release_id(layout, key).map_err(fail)?;
    Ok((target, head, stamp))
}

fn move_aside(layout: &Layout, key: &Key, reason: &str) -> IoResult<PathBuf> {
    layout.refuse_linked_thread(key)?;
    let (thread, aside) = (layout.thread(key), layout.set_aside(key));
    let last = newest(&aside)?;
    if !thread.exists() {
        return last.ok_or_else(|| Error::new(ErrorKind::NotFound, "there is no such thread"));
    }
    disk::make_folders(&aside)?;
    disk::remove(&aside.join(RELEASED))?;
    let number =
        names_in(&aside, |name| name.parse::<u32>().ok())?.last().map_or(1, |last| last + 1);
    let target = aside.join(number.to_string());
    disk::write_file(&thread.join(REASON), format!("{key}: {reason}\n").as_bytes())?;
    fs::rename(&thread, &target)?;
    disk::sync_folder(&aside)?;
    disk::sync_folder_of(&thread)?;
    Ok(target)
}

fn release_id(layout: &Layout, key: &Key) -> IoResult<()> {
    let aside = layout.set_aside(key);
    disk::write_whole(&aside.join(RELEASED), b"The id may be used again.\n")
}

/// Reads every entry that the log of a thread still has, in order, whatever the state of its head.
pub(super) fn salvage(layout: &Layout, key: &Key) -> IoResult<Vec<Salvaged>> {
    layout.refuse_linked_thread(key)?;
    let mut folder = layout.thread(key);
    if !folder.exists() {
        folder = newest(&layout.set_aside(key))?
            .ok_or_else(|| Error::new(ErrorKind::NotFound, "there is no such thread"))?;
    }
    let head = HeadFile::read(&folder, key).ok().map(|(head, _)| head);
    let mut segments: BTreeMap<u64, String> = BTreeMap::new();
    // Of several versions of a segment, the last one written counts; names sort in that order.
    for (first, _, name) in
        names_in(&folder, |name| Some((parse_segment_name(name)?, name.len(), name.to_owned())))?
    {
        let named = head.as_ref().is_none_or(|head| head.segment(first) == name);
        if named {
            segments.insert(first, name);
        }
    }
    let mut found: BTreeMap<u64, Salvaged> = BTreeMap::new();
    for (first, name) in segments {
        for (number, line) in numbered(&fs::read(folder.join(name))?, first) {
            let entry = line::read(line, number);
            if entry.is_ok() || !found.contains_key(&number) {
                found.insert(number, entry);
            }
        }
    }
    let last = found.iter().rev().find(|(_, entry)| entry.is_ok()).map(|(number, _)| number + 1);
    let length = head.map_or(last.unwrap_or(0), |head| head.entries);
    Ok((0..length)
        .map(|number| found.remove(&number).unwrap_or_else(|| Err("it is missing".into())))
        .collect())
}
