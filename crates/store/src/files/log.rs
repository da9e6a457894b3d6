//! The segments of a log: reading ranges, appending to the last one, rewriting one to erase.
//!
//! Each line carries its turn number, so a line that was edited, moved or removed affects only its own turn. A
//! segment that differs from what was committed is never appended to: it is rewritten with all lines it has.
//!
//! Invariant: entries past those that the head counts are never returned, and are dropped before the next append.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Read, Result, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;

use bytes::Bytes;

use super::head::HeadFile;
use super::layout::{SEGMENT_ENTRIES, segment_name, segment_of};
use super::line;
use crate::disk;

/// Reports damage as `InvalidData`, which [`super::fault`] translates.
fn damaged(segment: &str, reason: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::InvalidData, format!("{segment}: {reason}"))
}

/// Reads the entries of `range`, which must lie within the log.
pub(super) fn read(folder: &Path, head: &HeadFile, range: Range<u64>) -> Result<Vec<Bytes>> {
    let mut found = Vec::new();
    let mut at = range.start;
    while at < range.end {
        let first = segment_of(at);
        let end = range.end.min(first + SEGMENT_ENTRIES);
        let bytes = segment_bytes(folder, head, first)?;
        let mut lines = lines_of(&bytes).skip(usize_of(at - first));
        while at < end {
            let entry = match lines.next().map(|line| line::read(line, at)) {
                Some(Ok(entry)) => entry,
                _ => find_entry(&bytes, at).map_err(|reason| {
                    damaged(&head.segment(first), format_args!("turn {}: {reason}", at + 1))
                })?,
            };
            found.push(entry);
            at += 1;
        }
    }
    Ok(found)
}

/// Finds entry `number` wherever its line is; otherwise returns what is wrong with it.
fn find_entry(bytes: &[u8], number: u64) -> std::result::Result<Bytes, String> {
    let mut wrong = "it is missing".to_owned();
    for (at, line) in numbered(bytes, segment_of(number)) {
        match line::read(line, number) {
            Ok(entry) => return Ok(entry),
            Err(reason) if at == number => wrong = reason,
            Err(_) => {}
        }
    }
    Err(wrong)
}

/// The content of a segment, which may end with uncommitted lines.
pub(super) fn segment_bytes(folder: &Path, head: &HeadFile, first: u64) -> Result<Vec<u8>> {
    let name = head.segment(first);
    let mut bytes = Vec::new();
    match File::open(folder.join(&name)) {
        Ok(mut file) => file.read_to_end(&mut bytes)?,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(damaged(&name, "it is missing"));
        }
        Err(error) => return Err(error),
    };
    Ok(bytes)
}

/// The message for a truncated segment.
pub(super) fn cut_short(there: u64, committed: u64) -> String {
    format!("it has {there} bytes, but {committed} were committed")
}

/// The lines of a segment, without line breaks.
pub(super) fn lines_of(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes
        .strip_suffix(b"\n")
        .unwrap_or(bytes)
        .split(|byte| *byte == b'\n')
        .filter(|l| !l.is_empty())
}

/// The lines of the segment that starts at entry `first`, each with its number: the one it carries, or else the
/// number after the preceding line's.
pub(super) fn numbered(bytes: &[u8], first: u64) -> impl Iterator<Item = (u64, &[u8])> {
    let mut next = first;
    lines_of(bytes).map(move |line| {
        let number =
            line::number(line).filter(|number| segment_of(*number) == first).unwrap_or(next);
        next = number + 1;
        (number, line)
    })
}

/// Appends entries to the log of `head`, which already has its new version; syncs them and updates the counts of
/// `head`. Returns the names of segments to remove once the head is in place.
pub(super) fn append(folder: &Path, head: &mut HeadFile, append: &[Bytes]) -> Result<Vec<String>> {
    let mut old = Vec::new();
    let mut left = append;
    while !left.is_empty() {
        let first = segment_of(head.entries);
        let room = usize_of(first + SEGMENT_ENTRIES - head.entries);
        let (now, later) = left.split_at(left.len().min(room));
        let mut lines = Vec::new();
        for (number, bytes) in (head.entries..).zip(now) {
            line::write(&mut lines, number, bytes);
        }
        let place = folder.join(head.segment(first));
        if head.entries == first {
            disk::write_file(&place, &lines)?;
            disk::sync_folder(folder)?;
            head.tail_bytes = lines.len() as u64;
        } else if extend(folder, head, first, &lines)? {
            head.tail_bytes += lines.len() as u64;
        } else {
            old.push(rewrite_segment(folder, head, first, &BTreeMap::new(), &lines)?);
        }
        head.entries += now.len() as u64;
        left = later;
    }
    Ok(old)
}

/// Appends lines after what was committed; returns `false` if the segment differs from what was committed.
fn extend(folder: &Path, head: &HeadFile, first: u64, lines: &[u8]) -> Result<bool> {
    let name = head.segment(first);
    let mut file = match OpenOptions::new().read(true).write(true).open(folder.join(&name)) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(damaged(&name, "it is missing"));
        }
        file => file?,
    };
    let (length, committed) = (file.metadata()?.len(), head.tail_bytes);
    if length < committed {
        return Ok(false);
    }
    if length > committed {
        let mut before = vec![0; usize_of(committed)];
        file.read_exact(&mut before)?;
        let last = lines_of(&before).last().and_then(line::number);
        if !before.ends_with(b"\n") || last != Some(head.entries - 1) {
            return Ok(false);
        }
        // An unfinished commit.
        file.set_len(committed)?;
    }
    file.seek(SeekFrom::Start(committed))?;
    file.write_all(lines)?;
    disk::sync(&file)?;
    Ok(true)
}

/// Writes new segments with some entries replaced, and makes `head`, which already has its new version, refer to
/// them. Returns the names of the old segments, to be removed once the head is in place.
pub(super) fn rewrite(
    folder: &Path,
    head: &mut HeadFile,
    overwrite: &[(u64, Bytes)],
) -> Result<Vec<String>> {
    let mut by_segment: BTreeMap<u64, BTreeMap<u64, &Bytes>> = BTreeMap::new();
    for (number, bytes) in overwrite {
        by_segment.entry(segment_of(*number)).or_default().insert(*number, bytes);
    }
    let mut old = Vec::new();
    for (first, replaced) in by_segment {
        old.push(rewrite_segment(folder, head, first, &replaced, b"")?);
    }
    Ok(old)
}

/// Rewrites a segment: its committed lines unchanged, except for those replaced, followed by `more` lines.
fn rewrite_segment(
    folder: &Path,
    head: &mut HeadFile,
    first: u64,
    replaced: &BTreeMap<u64, &Bytes>,
    more: &[u8],
) -> Result<String> {
    let before = segment_bytes(folder, head, first)?;
    let mut lines = Vec::with_capacity(before.len() + more.len());
    let mut missing = replaced.clone();
    for (number, existing) in numbered(&before, first) {
        if replaced.contains_key(&number) {
            if let Some(bytes) = missing.remove(&number) {
                line::write(&mut lines, number, bytes);
            }
        } else if number < head.entries || line::read(existing, number).is_err() {
            lines.extend_from_slice(existing);
            lines.push(b'\n');
        }
    }
    for (number, bytes) in missing {
        line::write(&mut lines, number, bytes);
    }
    lines.extend_from_slice(more);
    let (old, version) = (head.segment(first), head.version.number);
    disk::write_file(&folder.join(segment_name(first, Some(version))), &lines)?;
    disk::sync_folder(folder)?;
    if head.tail() == Some(first) {
        head.tail_bytes = lines.len() as u64;
    }
    head.rewritten.insert(first, version);
    Ok(old)
}

fn usize_of(number: u64) -> usize {
    usize::try_from(number).expect("a count within one segment")
}
