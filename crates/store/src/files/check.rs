//! Reads every thread and names what is wrong.
//!
//! Found: heads that are cut, edited or of another thread, segments that are missing or short, lines
//! that are not JSON, out of order or with a checksum that does not fit, counts that do not match,
//! files that belong to nothing, and what was set aside earlier. Repairs nothing.

use std::io::{ErrorKind, Result};
use std::path::Path;

use throughline_engine::store::{CheckReport, Key};

use super::head::{HeadFile, NoHead};
use super::layout::{
    HEAD, HEAD_NEXT, Layout, SEGMENT_ENTRIES, names_in, place_in, places_in, thread_ids,
};
use super::line;
use super::load::left_over;
use super::log::{lines_of, segment_bytes};

/// At most this many sentences of one thread.
const PROBLEMS_PER_THREAD_MAX: usize = 20;
/// How often a thread is read again because it was changed meanwhile.
const READINGS_MAX: usize = 10;

pub(super) fn check(layout: &Layout) -> Result<CheckReport> {
    let mut report = CheckReport::default();
    for (scope, kind) in places_in(&layout.threads())? {
        for id in thread_ids(&layout.place(&scope, kind))? {
            let key = Key { scope: scope.clone(), kind, id };
            report.threads += 1;
            let (entries, mut problems) = check_thread(&layout.thread(&key), &key)?;
            report.entries += entries;
            problems.truncate(PROBLEMS_PER_THREAD_MAX);
            report.problems.extend(problems.into_iter().map(|problem| format!("{key}: {problem}")));
        }
    }
    for (scope, kind) in places_in(&layout.damaged())? {
        for id in thread_ids(&place_in(&layout.damaged(), &scope, kind))? {
            let key = Key { scope: scope.clone(), kind, id };
            let aside = layout.set_aside(&key);
            report.problems.push(format!("{key}: a damaged copy is in {}", aside.display()));
        }
    }
    Ok(report)
}

/// Entries that were read and what is wrong. A thread that changes meanwhile is read again.
fn check_thread(folder: &Path, key: &Key) -> Result<(u64, Vec<String>)> {
    let mut seen = (0, Vec::new());
    for _ in 0..READINGS_MAX {
        let head = match HeadFile::read(folder, key) {
            Ok((head, _)) => head,
            Err(NoHead::Missing) => return Ok((0, Vec::new())),
            Err(NoHead::Damaged(reason)) => return Ok((0, vec![reason])),
            Err(NoHead::Failed(error)) => return Err(error),
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
    let mut first = 0;
    while first < head.entries {
        let name = head.segment(first);
        let expected = (head.entries - first).min(SEGMENT_ENTRIES);
        match segment_bytes(folder, head, first) {
            Ok(bytes) => {
                let mut number = first;
                for line in lines_of(&bytes) {
                    match line::read(line, number) {
                        Ok(_) => entries += 1,
                        Err(reason) => {
                            problems.push(format!("{name} line {}: {reason}", number - first + 1));
                        }
                    }
                    number += 1;
                }
                if number - first != expected {
                    let there = number - first;
                    problems
                        .push(format!("{name} has {there} lines where the head counts {expected}"));
                }
            }
            Err(error) if error.kind() == ErrorKind::InvalidData => {
                problems.push(error.to_string())
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                problems.push(format!("{name} is missing"));
            }
            Err(error) => return Err(error),
        }
        first += SEGMENT_ENTRIES;
    }
    for name in left_over(folder, key)? {
        problems.push(format!("{name} was left over from a write that was not finished"));
    }
    for name in names_in(folder, |name| (!known(name)).then(|| name.to_owned()))? {
        problems.push(format!("{name} does not belong here"));
    }
    Ok((entries, problems))
}

fn known(name: &str) -> bool {
    name == HEAD || name == HEAD_NEXT || name.starts_with("turns-")
}
