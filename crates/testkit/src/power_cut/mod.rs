//! Power cuts: records a process's file operations, and recreates the disk as a cut at any moment may leave it.
//!
//! Unsynced writes and names may be present, missing or torn. What was acknowledged before the cut must be present. A
//! kill cannot show this, because the page cache survives it. Linux only, and it needs a C compiler, as the build does;
//! the binary is the one that ships ([`record.c`](record.c) is preloaded).
//!
//! Invariant: a cut loses nothing that was synced, and preserves the order of names in a folder, as journals do.

mod disk;

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::file_faults;
use crate::seeded::Seeded;

pub use disk::Disk;

const SOURCE: &str = include_str!("record.c");

/// Records the file operations of one process.
#[derive(Debug)]
pub struct Recorder {
    folder: TempDir,
}

/// A moment: how much had been recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(pub u64);

/// A call that changed a file or folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Call {
    /// Bytes written at an offset.
    Write { path: PathBuf, offset: u64, bytes: Vec<u8> },
    /// The file's new length.
    Truncate { path: PathBuf, length: u64 },
    /// A file was created.
    Create(PathBuf),
    /// A folder was created.
    MakeFolder(PathBuf),
    /// A rename.
    Rename(PathBuf, PathBuf),
    /// A hard link.
    Link(PathBuf, PathBuf),
    /// A name was removed.
    Unlink(PathBuf),
    /// A file or folder was synced.
    Sync(PathBuf),
}

impl Recorder {
    /// Builds the recording library.
    pub fn build() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        file_faults::build_library(folder.path(), SOURCE);
        Self { folder }
    }

    /// Records `command`.
    pub fn record(&self, command: &mut Command) {
        command.env("LD_PRELOAD", file_faults::library(self.folder.path()));
        command.env("RECORD_CALLS", self.place());
    }

    /// The current moment.
    pub fn now(&self) -> Moment {
        Moment(std::fs::metadata(self.place()).map_or(0, |found| found.len()))
    }

    /// All recorded calls, each with the moment after it.
    pub fn calls(&self) -> Vec<(Moment, Call)> {
        parse(&std::fs::read(self.place()).expect("something was recorded"))
    }

    fn place(&self) -> PathBuf {
        self.folder.path().join("calls")
    }
}

fn parse(mut bytes: &[u8]) -> Vec<(Moment, Call)> {
    let all = bytes.len();
    let mut calls = Vec::new();
    while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
        let line = String::from_utf8_lossy(&bytes[..end]).into_owned();
        bytes = &bytes[end + 1..];
        let words: Vec<&str> = line.split('\t').collect();
        let path = |at: usize| PathBuf::from(words[at]);
        let number = |at: usize| words[at].parse::<u64>().expect("a number in the record");
        let call = match words[0] {
            "write" => {
                let length = number(3) as usize;
                // The process may have been killed within a record.
                let Some((written, rest)) = bytes.split_at_checked(length) else { break };
                bytes = rest;
                Call::Write { path: path(1), offset: number(2), bytes: written.to_vec() }
            }
            "truncate" => Call::Truncate { path: path(1), length: number(2) },
            "create" => Call::Create(path(1)),
            "mkdir" => Call::MakeFolder(path(1)),
            "rename" => Call::Rename(path(1), path(2)),
            "link" => Call::Link(path(1), path(2)),
            "unlink" => Call::Unlink(path(1)),
            "sync" => Call::Sync(path(1)),
            other => panic!("{other} is not recorded"),
        };
        calls.push((Moment((all - bytes.len()) as u64), call));
    }
    calls
}

/// Recreates the disk from the initial state of `folder` and the calls up to a moment chosen by `seeded`; writes the
/// result to `to` and returns the moment.
pub fn cut(
    before: &Path,
    folder: &Path,
    calls: &[(Moment, Call)],
    seeded: &mut Seeded,
    to: &Path,
) -> Moment {
    let number = 1 + seeded.below(calls.len() as u64) as usize;
    let mut disk = Disk::of(before, folder);
    for (_, call) in &calls[..number] {
        disk.apply(call);
    }
    disk.lose_power(seeded);
    disk.write_to(folder, to);
    calls[number - 1].0
}
