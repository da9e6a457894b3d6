//! Integrity check: reads every thread and reports problems. Repairs nothing.
//!
//! Detects heads that are truncated, edited or belong to another thread; segments that are missing or
//! truncated; lines that are not JSON, out of order or have a checksum mismatch; wrong counts; and threads
//! that an earlier version set aside. Foreign files are noted.

use std::io::{ErrorKind, Result};
use std::path::Path;

use throughline_engine::store::{CheckReport, Key};

use super::damage::blocked_id;
use super::head::{HeadError, HeadFile};
use super::layout::{Layout, SEGMENT_ENTRIES, Strays, place_in, places_in, thread_ids};
use super::line;
use super::load::{left_over, strays_in};
use super::log::{cut_short, numbered, segment_bytes};

/// Maximum number of reported problems per thread.
const PROBLEMS_PER_THREAD_MAX: usize = 20;
/// Maximum number of reported foreign files.
const STRAYS_MAX: usize = 100;
/// Attempts to read a thread that is being changed.
const READINGS_MAX: usize = 10;

pub(super) fn check(layout: &Layout) -> Result<CheckReport> {
    let mut report = CheckReport::default();
    let mut strays = Strays::new();
    for (scope, kind) in places_in(&layout.threads(), &mut strays)? {
        for id in thread_ids(&layout.place(&scope, kind), &mut strays)? {
            let key = Key { scope: scope.clone(), kind, id };
            report.threads += 1;
            let folder = layout.thread(&key);
            let (entries, mut problems) = check_thread(&folder, &key)?;
            report.entries += entries;
            problems.truncate(PROBLEMS_PER_THREAD_MAX);
            report.problems.extend(problems.into_iter().map(|problem| format!("{key}: {problem}")));
            strays.extend(strays_in(&folder)?);
        }
    }
    for (scope, kind) in places_in(&layout.damaged(), &mut strays)? {
        for id in thread_ids(&place_in(&layout.damaged(), &scope, kind), &mut strays)? {
            let key = Key { scope: scope.clone(), kind, id };
            match blocked_id(layout, &key)? {
                Some(reason) => report.problems.push(format!("{key}: {reason}")),
                None => {
                    let aside = layout.set_aside(&key);
                    report.notes.push(format!("{key}: a damaged copy is in {}", aside.display()));
                }
            }
        }
    }
    strays.truncate(STRAYS_MAX);
    let strays = strays.iter().map(|stray| format!("{} is a foreign file", stray.display()));
    report.notes.extend(strays);
    Ok(report)
}

/// Returns the number of readable entries and the problems. Starts over if the thread changes meanwhile.
fn check_thread(folder: &Path, key: &Key) -> Result<(u64, Vec<String>)> {
    let mut seen = (0, Vec::new());
    for _ in 0..READINGS_MAX {
        let head = match HeadFile::read(folder, key) {
            Ok((head, _)) => head,
            Err(HeadError::Missing) => return Ok((0, Vec::new())),
            Err(HeadError::Damaged(reason)) => return Ok((0, vec![reason])),
            Err(HeadError::Failed(error)) => return Err(error),
        };
        seen = read_log(folder, &head, key)?;
        let unchanged = HeadFile::read(folder, key).is_ok_and(|(again, _)| again == head);
        if seen.1.is_empty() || unchanged {
            break;
        }
    }
    Ok(seen)
}

fn read_log(folder: &Path, head: &HeadFile, key: &Key) -> Result<(u64, Vec<String>)> {
    let (mut entries, mut problems) = (0, Vec::new());
    for first in
        (0..head.entries).step_by(usize::try_from(SEGMENT_ENTRIES).expect("a small number"))
    {
        match segment_bytes(folder, head, first) {
            Ok(bytes) => entries += read_segment(head, first, &bytes, &mut problems),
            Err(error) if error.kind() == ErrorKind::InvalidData => {
                problems.push(error.to_string());
            }
            Err(error) => return Err(error),
        }
    }
    for name in left_over(folder, key)? {
        problems.push(format!("{name} is left over from an unfinished write"));
    }
    Ok((entries, problems))
}

/// Returns the number of readable entries of a segment; adds what is wrong with the others to `problems`.
fn read_segment(head: &HeadFile, first: u64, bytes: &[u8], problems: &mut Vec<String>) -> u64 {
    let name = head.segment(first);
    let there = bytes.len() as u64;
    if head.tail() == Some(first) && there < head.tail_bytes {
        problems.push(format!("{name}: {}", cut_short(there, head.tail_bytes)));
    }
    let (mut lines, mut sound, mut next) = (0, 0, first);
    for (place, (number, line)) in (1..).zip(numbered(bytes, first)) {
        // Lines past the end belong to an unfinished commit.
        if number >= head.entries {
            continue;
        }
        lines += 1;
        match line::read(line, number) {
            Ok(_) => sound += 1,
            Err(reason) => problems.push(format!("{name} line {place}: {reason}")),
        }
        if number != next {
            problems.push(format!("{name} line {place}: it is numbered as turn {}", number + 1));
        }
        next = next.max(number + 1);
    }
    let expected = (head.entries - first).min(SEGMENT_ENTRIES);
    if lines != expected {
        problems.push(format!("{name} has {lines} lines, the head counts {expected}"));
    }
    sound
}
