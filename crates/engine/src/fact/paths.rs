//! Paths below `/memories`, and the display of folders, lines and sizes. Pure functions.
//!
//! Invariant: a checked path has plain segments only.

use std::collections::BTreeMap;

use super::files::{Failed, MemoryFile, Outcome};

/// The root of all files.
pub(super) const ROOT: &str = "/memories";
/// Depth of a folder listing.
pub(super) const LEVELS: usize = 2;
const PATH_BYTES_MAX: usize = 1_024;

/// Normalises a path: no slash at the end, no segment that leads elsewhere.
pub(super) fn checked_path(path: &str) -> Outcome {
    let wrong = |reason: &str| {
        let shown: String = path.chars().take(80).collect();
        Failed::Told(format!("Error: The path {shown} is not valid: {reason}"))
    };
    let trimmed = path.strip_suffix('/').unwrap_or(path);
    let below = match trimmed.strip_prefix(ROOT) {
        Some("") => return Ok(ROOT.to_owned()),
        Some(below) if below.starts_with('/') => &below[1..],
        _ => return Err(wrong("it must be below /memories")),
    };
    if trimmed.len() > PATH_BYTES_MAX {
        return Err(wrong("it is longer than 1024 bytes"));
    }
    let plain = |segment: &str| {
        !matches!(segment, "" | "." | "..")
            && !segment.chars().any(|c| c.is_control() || matches!(c, '\\' | '%'))
    };
    if !below.split('/').all(plain) {
        return Err(wrong("a part of it is empty, . or .., or has a control character, \\ or %"));
    }
    Ok(trimmed.to_owned())
}

/// The path of a file, which cannot be the root.
pub(super) fn file_path(path: &str) -> Outcome {
    let path = checked_path(path)?;
    if path == ROOT {
        return Err(Failed::Told(format!("Error: {ROOT} is a directory")));
    }
    Ok(path)
}

pub(super) fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// The folder and its content up to two levels deep, without hidden files, with sizes.
pub(super) fn listing(folder: &str, files: &[MemoryFile]) -> BTreeMap<String, usize> {
    let mut entries = BTreeMap::from([(folder.to_owned(), 0)]);
    for file in files {
        let below = &file.path[folder.len() + 1..];
        let parts: Vec<&str> = below.split('/').collect();
        if parts.iter().any(|part| part.starts_with('.') || *part == "node_modules") {
            continue;
        }
        let mut path = folder.to_owned();
        *entries.entry(path.clone()).or_default() += file.text.len();
        for part in parts.iter().take(LEVELS) {
            path = format!("{path}/{part}");
            *entries.entry(path.clone()).or_default() += file.text.len();
        }
    }
    entries
}

/// A size in the format of `du -h`.
#[expect(clippy::cast_precision_loss, reason = "a size for people")]
pub(super) fn human(bytes: usize) -> String {
    match bytes {
        0..1_024 => format!("{bytes}B"),
        1_024..1_048_576 => format!("{:.1}K", bytes as f64 / 1_024.0),
        _ => format!("{:.1}M", bytes as f64 / 1_048_576.0),
    }
}

pub(super) fn shown_lines(range: Option<[i64; 2]>, count: usize) -> Outcome<(usize, usize)> {
    let Some([first, last]) = range else { return Ok((1, count)) };
    let start = usize::try_from(first).ok().filter(|at| (1..=count).contains(at));
    let end =
        if last == -1 { Some(count) } else { usize::try_from(last).ok().map(|at| at.min(count)) };
    match (start, end) {
        (Some(start), Some(end)) if start <= end => Ok((start, end)),
        _ => Err(Failed::Told(format!(
            "Error: Invalid `view_range` parameter: [{first}, {last}]. It should be within the range of lines of the file: [1, {count}]"
        ))),
    }
}

/// Lines `first` to `last`, counted from 1, with line numbers.
pub(super) fn numbered(lines: &[&str], first: usize, last: usize) -> String {
    let shown = lines.iter().enumerate().skip(first - 1).take((last + 1).saturating_sub(first));
    shown.map(|(at, line)| format!("{:6}\t{line}", at + 1)).collect::<Vec<_>>().join("\n")
}

pub(super) fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

pub(super) fn no_path(path: &str) -> String {
    format!("The path {path} does not exist. Please provide a valid path.")
}
