//! The segments of a log: reading stretches of them, adding to the last, rewriting one to erase.
//!
//! Invariant: bytes beyond what the head counts are never read, and are cut off before the next append.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Read, Result, Seek, SeekFrom, Write};
use std::ops::Range;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use bytes::Bytes;

use super::head::HeadFile;
use super::layout::{SEGMENT_ENTRIES, segment_name, segment_of};
use super::line;
use crate::disk;

/// What is wrong in a log, in the only error that the file functions know.
fn damaged(segment: &str, reason: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::InvalidData, format!("{segment}: {reason}"))
}

/// The entries of `range`, which lies within the log.
pub(super) fn read(folder: &Path, head: &HeadFile, range: Range<u64>) -> Result<Vec<Bytes>> {
    let mut found = Vec::new();
    let mut at = range.start;
    while at < range.end {
        let first = segment_of(at);
        let end = range.end.min(first + SEGMENT_ENTRIES);
        let bytes = segment_bytes(folder, head, first)?;
        let name = head.segment(first);
        let lines = lines_of(&bytes).skip(usize_of(at - first)).take(usize_of(end - at));
        for line in lines {
            let entry = line::read(line, at).map_err(|reason| {
                damaged(&name, format_args!("line {}: {reason}", at - first + 1))
            })?;
            found.push(entry);
            at += 1;
        }
        if at < end {
            return Err(damaged(&name, format_args!("turn {} is missing", at + 1)));
        }
    }
    Ok(found)
}

/// The committed bytes of a segment.
pub(super) fn segment_bytes(folder: &Path, head: &HeadFile, first: u64) -> Result<Vec<u8>> {
    let name = head.segment(first);
    let mut file = File::open(folder.join(&name))?;
    let mut bytes = Vec::new();
    if head.tail() == Some(first) {
        (&mut file).take(head.tail_bytes).read_to_end(&mut bytes)?;
        if (bytes.len() as u64) < head.tail_bytes {
            return Err(damaged(&name, cut_short(bytes.len() as u64, head.tail_bytes)));
        }
    } else {
        file.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// The sentence for a segment that lost its end.
pub(super) fn cut_short(there: u64, committed: u64) -> String {
    format!("it has {there} bytes where {committed} were committed")
}

/// The lines of a segment, without their ends.
pub(super) fn lines_of(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes
        .strip_suffix(b"\n")
        .unwrap_or(bytes)
        .split(|byte| *byte == b'\n')
        .filter(|l| !l.is_empty())
}

/// Appends entries after those of `head` and syncs them; answers length and tail for the next head.
pub(super) fn append(folder: &Path, head: &HeadFile, append: &[Bytes]) -> Result<(u64, u64)> {
    let (mut entries, mut tail_bytes) = (head.entries, head.tail_bytes);
    let mut left = append;
    while !left.is_empty() {
        let first = segment_of(entries);
        let (now, later) =
            left.split_at(left.len().min(usize_of(first + SEGMENT_ENTRIES - entries)));
        let mut lines = Vec::new();
        for (number, bytes) in (entries..).zip(now) {
            line::write(&mut lines, number, bytes);
        }
        let name = head.segment(first);
        if entries == first {
            disk::write_file(&folder.join(&name), &lines)?;
            disk::sync_folder(folder)?;
            tail_bytes = lines.len() as u64;
        } else {
            extend(folder, &name, tail_bytes, &lines)?;
            tail_bytes += lines.len() as u64;
        }
        entries += now.len() as u64;
        left = later;
    }
    Ok((entries, tail_bytes))
}

fn extend(folder: &Path, name: &str, committed: u64, lines: &[u8]) -> Result<()> {
    let mut file = OpenOptions::new().write(true).mode(0o600).open(folder.join(name))?;
    let length = file.metadata()?.len();
    if length < committed {
        return Err(damaged(name, cut_short(length, committed)));
    }
    if length > committed {
        // A commit that was never finished.
        file.set_len(committed)?;
    }
    file.seek(SeekFrom::Start(committed))?;
    file.write_all(lines)?;
    file.sync_data()
}

/// Writes new segments in which the named entries are replaced, and changes `head`, which has its new
/// version already, to point to them.
/// Answers the names of the old segments, to be removed once the head is in place.
pub(super) fn rewrite(
    folder: &Path,
    head: &mut HeadFile,
    overwrite: &[(u64, Bytes)],
) -> Result<Vec<String>> {
    let version = head.version.number;
    let mut by_segment: BTreeMap<u64, BTreeMap<u64, &Bytes>> = BTreeMap::new();
    for (number, bytes) in overwrite {
        by_segment.entry(segment_of(*number)).or_default().insert(*number, bytes);
    }
    let mut old = Vec::new();
    for (first, replaced) in by_segment {
        let before = segment_bytes(folder, head, first)?;
        let mut lines = Vec::with_capacity(before.len());
        for (number, existing) in (first..).zip(lines_of(&before)) {
            match replaced.get(&number) {
                Some(bytes) => line::write(&mut lines, number, bytes),
                None => {
                    lines.extend_from_slice(existing);
                    lines.push(b'\n');
                }
            }
        }
        disk::write_file(&folder.join(segment_name(first, Some(version))), &lines)?;
        old.push(head.segment(first));
        head.rewritten.insert(first, version);
        if head.tail() == Some(first) {
            head.tail_bytes = lines.len() as u64;
        }
    }
    if !old.is_empty() {
        disk::sync_folder(folder)?;
    }
    Ok(old)
}

fn usize_of(number: u64) -> usize {
    usize::try_from(number).expect("a count within one segment")
}
