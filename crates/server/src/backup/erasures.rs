//! The log of what was erased, kept beside the backups.
//!
//! A line holds the hash of a key, the time, and the turns where only those went; nothing tells what it
//! was. Lines are only ever added.
//!
//! Invariant: a line is on disk before the erasure it tells of is acknowledged.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use throughline_engine::hash::ContentHash;

/// The log's name in the backups' folder.
pub const FILE_NAME: &str = "erasures.jsonl";

/// One erasure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Erasure {
    /// Hash of the key.
    pub key: ContentHash,
    /// When.
    pub at: Timestamp,
    /// The turns, counted from 1, where not all of it went.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub turns: BTreeSet<u64>,
}

/// The log in a folder of backups.
#[derive(Debug, Clone)]
pub struct ErasureLog {
    folder: PathBuf,
}

impl ErasureLog {
    /// The log in `folder`, which is made when it is needed.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Its file.
    pub fn path(&self) -> PathBuf {
        self.folder.join(FILE_NAME)
    }

    /// Makes the folder and the log, if they are not there, and shows that a line can be added.
    pub fn prepare(&self) -> std::io::Result<()> {
        self.open().map(drop)
    }

    fn open(&self) -> std::io::Result<File> {
        fs::create_dir_all(&self.folder)?;
        File::options().create(true).append(true).open(self.path())
    }

    /// Adds a line and waits until it is on disk.
    pub fn add(&self, erasure: &Erasure) -> std::io::Result<()> {
        let mut line = serde_json::to_vec(erasure)?;
        line.push(b'\n');
        let mut file = self.open()?;
        // One write: lines of several processes do not mix.
        file.write_all(&line)?;
        file.sync_all()
    }

    /// All lines; none where there is no log. A line that was cut short is passed over.
    pub fn read(&self) -> std::io::Result<Vec<Erasure>> {
        read(&self.path())
    }
}

fn read(path: &Path) -> std::io::Result<Vec<Erasure>> {
    let file = match File::open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        file => file?,
    };
    let mut erasures = Vec::new();
    for line in BufReader::new(file).split(b'\n') {
        if let Ok(erasure) = serde_json::from_slice(&line?) {
            erasures.push(erasure);
        }
    }
    Ok(erasures)
}

/// What has to stay erased, by key.
#[derive(Debug, Default)]
pub struct Graves {
    whole: BTreeMap<ContentHash, Timestamp>,
    turns: BTreeMap<ContentHash, Vec<(Timestamp, BTreeSet<u64>)>>,
}

impl Graves {
    /// Adds one; of several of one key the latest counts.
    pub fn add(&mut self, erasure: Erasure) {
        if erasure.turns.is_empty() {
            let at = self.whole.entry(erasure.key).or_insert(erasure.at);
            *at = erasure.at.max(*at);
        } else {
            self.turns.entry(erasure.key).or_default().push((erasure.at, erasure.turns));
        }
    }

    /// Whether a thread that was last changed at `changed_at` is one that was erased, and not a new one
    /// of the same name.
    pub fn holds(&self, key: &ContentHash, changed_at: Timestamp) -> bool {
        self.whole.get(key).is_some_and(|at| changed_at <= *at)
    }

    /// Turns of a thread that were erased after it was last changed at `changed_at`.
    pub fn turns(&self, key: &ContentHash, changed_at: Timestamp) -> BTreeSet<u64> {
        let erased = self.turns.get(key).into_iter().flatten();
        erased.filter(|(at, _)| changed_at <= *at).flat_map(|(_, turns)| turns).copied().collect()
    }

    /// Keys that were erased whole.
    pub fn keys(&self) -> impl Iterator<Item = (&ContentHash, Timestamp)> {
        self.whole.iter().map(|(key, at)| (key, *at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).expect("a time")
    }

    fn erasure(second: i64, turns: &[u64]) -> Erasure {
        let turns = turns.iter().copied().collect();
        Erasure { key: ContentHash::of("k"), at: at(second), turns }
    }

    #[test]
    fn lines_come_back_and_a_torn_one_is_passed_over() {
        let folder = tempfile::tempdir().expect("a folder");
        let log = ErasureLog::new(folder.path().join("backups"));
        assert!(log.read().expect("no log").is_empty());
        log.add(&erasure(1, &[])).expect("written");
        log.add(&erasure(2, &[3, 4])).expect("written");
        let mut file = File::options().append(true).open(log.path()).expect("the log");
        file.write_all(b"{\"key\":").expect("written");
        assert_eq!(log.read().expect("the log"), [erasure(1, &[]), erasure(2, &[3, 4])]);
    }

    #[test]
    fn a_new_thread_of_an_erased_name_is_not_the_erased_one() {
        let mut graves = Graves::default();
        graves.add(erasure(10, &[]));
        graves.add(erasure(5, &[]));
        graves.add(erasure(20, &[2]));
        let key = ContentHash::of("k");
        assert!(graves.holds(&key, at(10)));
        assert!(!graves.holds(&key, at(11)));
        assert_eq!(graves.turns(&key, at(15)), BTreeSet::from([2]));
        assert!(graves.turns(&key, at(21)).is_empty());
    }
}
