//! The erasure log, kept beside the backups.
//!
//! A record holds the hash of a key, the time, the life of the thread, and the turns if only those were erased;
//! it reveals nothing else. Each record is a line with a checksum, so a truncated write damages no other
//! record. Lines are only appended.
//!
//! Invariant: a record is on disk before its erasure is acknowledged.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use throughline_engine::hash::ContentHash;
use throughline_engine::tombstone::Tombstone;
use throughline_store::disk;
use throughline_store::reserve::Reserve;
use uuid::Uuid;

/// File name in the backup folder.
pub const FILE_NAME: &str = "erasures.jsonl";
/// Room for records on a full disk; one needs a block of the file system at most.
const RESERVE_BYTES: u64 = 64 * 1024;
/// Characters of the hash used as a checksum.
const SUM_CHARACTERS: usize = 16;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Erasure {
    /// Hash of the key.
    pub key: ContentHash,
    /// When it happened.
    pub at: Timestamp,
    /// Life of the thread; absent if not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub life: Option<Uuid>,
    /// Erased turns, from 1; empty if the whole thread was erased.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub turns: BTreeSet<u64>,
}

/// A record as a line.
#[derive(Serialize, Deserialize)]
struct Line<'a> {
    sum: &'a str,
    #[serde(borrow)]
    erased: &'a RawValue,
}

/// Content of a log.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Read {
    pub erasures: Vec<Erasure>,
    /// Numbers of unreadable complete lines, from 1: acknowledged erasures that are lost. A truncated line is
    /// not counted, because its erasure was not acknowledged.
    pub damaged: Vec<usize>,
}

/// The log in a backup folder.
#[derive(Debug, Clone)]
pub struct ErasureLog {
    folder: PathBuf,
}

impl ErasureLog {
    /// The log in `folder`, which is created when needed.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Path of the log.
    pub fn path(&self) -> PathBuf {
        self.folder.join(FILE_NAME)
    }

    /// Creates the folder and the log if missing, and checks that they are writable.
    pub fn prepare(&self) -> std::io::Result<()> {
        self.open()?;
        disk::probe(&self.folder)?;
        self.reserve().make();
        Ok(())
    }

    /// On a full disk, too, it must be possible to erase.
    fn reserve(&self) -> Reserve {
        Reserve::beside(&self.path(), RESERVE_BYTES)
    }

    fn open(&self) -> std::io::Result<File> {
        if self.folder.as_os_str().is_empty() {
            return Err(std::io::Error::new(ErrorKind::NotFound, "no folder is configured"));
        }
        disk::make_folders(&self.folder)?;
        let path = self.path();
        let new = !path.exists();
        let file = File::options().create(true).append(true).mode(0o600).open(&path)?;
        if new {
            disk::sync_folder(&self.folder)?;
        }
        Ok(file)
    }

    /// Appends records and waits until they are on disk.
    pub fn add(&self, erasures: &[Erasure]) -> std::io::Result<()> {
        let mut lines = String::new();
        for erasure in erasures {
            let text = serde_json::to_string(erasure)?;
            // The previous line may be truncated. A single write keeps records of several processes apart.
            lines.push_str(&format!("\n{{\"sum\":\"{}\",\"erased\":{text}}}\n", sum(&text)));
        }
        match self.append(lines.as_bytes()) {
            Err(error) if disk::is_full(&error) => {
                let reserve = self.reserve();
                reserve.release();
                let appended = self.append(lines.as_bytes());
                reserve.make();
                appended
            }
            appended => appended,
        }
    }

    fn append(&self, lines: &[u8]) -> std::io::Result<()> {
        let mut file = self.open()?;
        file.write_all(lines)?;
        disk::sync(&file)
    }

    /// Reads the log; empty if there is none.
    pub fn read(&self) -> std::io::Result<Read> {
        if self.folder.as_os_str().is_empty() {
            return Ok(Read::default());
        }
        read(&self.path())
    }
}

fn sum(text: &str) -> String {
    ContentHash::of(text).as_str().chars().rev().take(SUM_CHARACTERS).collect()
}

fn read(path: &Path) -> std::io::Result<Read> {
    let file = match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Read::default()),
        file => file?,
    };
    let mut read = Read::default();
    for (number, line) in (1..).zip(BufReader::new(file).split(b'\n')) {
        let line = line?;
        match record(&line) {
            Some(erasure) => read.erasures.push(erasure),
            None if line.trim_ascii_end().ends_with(b"}") => read.damaged.push(number),
            None => {}
        }
    }
    Ok(read)
}

fn record(line: &[u8]) -> Option<Erasure> {
    match serde_json::from_slice::<Line<'_>>(line) {
        Ok(found) if found.sum == sum(found.erased.get()) => {
            serde_json::from_str(found.erased.get()).ok()
        }
        Ok(_) => None,
        // The format of earlier versions.
        Err(_) => serde_json::from_slice(line).ok(),
    }
}

/// What must stay erased, by key.
#[derive(Debug, Default)]
pub struct Erasures {
    whole: BTreeMap<ContentHash, KeyErasures>,
    turns: BTreeMap<ContentHash, Vec<Erasure>>,
}

/// Erasures of a whole key.
#[derive(Debug, Default)]
struct KeyErasures {
    /// Time of the last one.
    at: Timestamp,
    lives: BTreeSet<Uuid>,
    /// Time of the last one with an unknown life.
    unknown_at: Option<Timestamp>,
}

impl Erasures {
    /// Adds an erasure.
    pub fn add(&mut self, erasure: Erasure) {
        if !erasure.turns.is_empty() {
            self.turns.entry(erasure.key).or_default().push(erasure);
            return;
        }
        let Erasure { key, at, life, .. } = erasure;
        self.bury(key, at, life, life.is_none().then_some(at));
    }

    pub fn add_tombstone(&mut self, tombstone: Tombstone) {
        let unknown_at = tombstone.unknown_at();
        self.bury(tombstone.key, tombstone.at, tombstone.lives, unknown_at);
    }

    fn bury(
        &mut self,
        key: ContentHash,
        at: Timestamp,
        lives: impl IntoIterator<Item = Uuid>,
        unknown_at: Option<Timestamp>,
    ) {
        let of_key = self.whole.entry(key).or_default();
        of_key.at = of_key.at.max(at);
        of_key.lives.extend(lives);
        of_key.unknown_at = of_key.unknown_at.max(unknown_at);
    }

    /// Whether anything of a key was erased.
    pub fn know(&self, key: &ContentHash) -> bool {
        self.whole.contains_key(key) || self.turns.contains_key(key)
    }

    /// Whether a thread was erased, and is not a later one with the same name. Its life decides; if that is
    /// unknown on either side, the time of its last change does.
    pub fn hold(&self, key: &ContentHash, life: Option<Uuid>, changed_at: Timestamp) -> bool {
        let Some(of_key) = self.whole.get(key) else { return false };
        match life {
            Some(life) if of_key.lives.contains(&life) => true,
            Some(_) => of_key.unknown_at.is_some_and(|at| changed_at <= at),
            None => changed_at <= of_key.at,
        }
    }

    /// Erased turns of a thread, even if this copy still has them.
    pub fn turns(
        &self,
        key: &ContentHash,
        life: Option<Uuid>,
        changed_at: Timestamp,
    ) -> BTreeSet<u64> {
        let erased =
            self.turns.get(key).into_iter().flatten().filter(|erased| match (life, erased.life) {
                (Some(life), Some(erased)) => life == erased,
                _ => changed_at <= erased.at,
            });
        erased.flat_map(|erased| &erased.turns).copied().collect()
    }

    /// Tombstones of the keys that were erased whole.
    pub fn tombstones(&self) -> impl Iterator<Item = Tombstone> {
        self.whole.iter().map(|(key, of_key)| Tombstone {
            key: *key,
            at: of_key.at,
            lives: of_key.lives.iter().copied().collect(),
            unknown_at: of_key.unknown_at,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).expect("a time")
    }

    fn erasure(second: i64, life: Option<u128>, turns: &[u64]) -> Erasure {
        let turns = turns.iter().copied().collect();
        Erasure {
            key: ContentHash::of("k"),
            at: at(second),
            life: life.map(Uuid::from_u128),
            turns,
        }
    }

    fn log() -> (tempfile::TempDir, ErasureLog) {
        let folder = tempfile::tempdir().expect("a folder");
        let log = ErasureLog::new(folder.path().join("backups"));
        (folder, log)
    }

    fn append(log: &ErasureLog, text: &str) {
        let mut file = File::options().append(true).open(log.path()).expect("the log");
        file.write_all(text.as_bytes()).expect("written");
    }

    #[test]
    fn a_record_that_was_cut_short_costs_no_other() {
        let (_folder, log) = log();
        assert_eq!(log.read().expect("no log"), Read::default());
        let records =
            [erasure(1, None, &[]), erasure(2, Some(7), &[3, 4]), erasure(3, Some(8), &[])];
        log.add(&records[0..=0]).expect("written");
        append(&log, "\n{\"sum\":\"0123456789abcdef\",\"erased\":{\"key\":");
        log.add(&records[1..=1]).expect("written");
        append(&log, "\n{\"su");
        log.add(&records[2..=2]).expect("written");
        let read = log.read().expect("the log");
        assert_eq!(read.erasures, records);
        assert_eq!(read.damaged, Vec::<usize>::new());
    }

    #[test]
    fn a_changed_record_is_counted_and_an_earlier_form_is_understood() {
        let (_folder, log) = log();
        log.add(&[erasure(1, None, &[])]).expect("written");
        append(&log, &format!("{}\n", serde_json::to_string(&erasure(2, None, &[5])).expect("it")));
        log.add(&[erasure(3, None, &[])]).expect("written");
        let text = std::fs::read_to_string(log.path()).expect("the log");
        std::fs::write(
            log.path(),
            text.replacen("1970-01-01T00:00:01Z", "1970-01-01T00:00:09Z", 1),
        )
        .expect("changed");
        let read = log.read().expect("the log");
        assert_eq!(read.erasures, [erasure(2, None, &[5]), erasure(3, None, &[])]);
        assert_eq!(read.damaged, [2]);
    }

    #[test]
    fn a_new_thread_of_an_erased_name_is_told_by_its_life_and_not_by_a_clock() {
        let mut erasures = Erasures::default();
        erasures.add(erasure(10, Some(1), &[]));
        erasures.add(erasure(20, Some(1), &[2]));
        let key = ContentHash::of("k");
        let life = |number| Some(Uuid::from_u128(number));
        assert!(erasures.hold(&key, life(1), at(99)), "whatever the clock said");
        assert!(!erasures.hold(&key, life(2), at(5)), "made anew while the clock was behind");
        assert_eq!(erasures.turns(&key, life(1), at(99)), BTreeSet::from([2]));
        assert!(erasures.turns(&key, life(2), at(5)).is_empty());
        // For data of earlier versions only the time is known.
        assert!(erasures.hold(&key, None, at(10)) && !erasures.hold(&key, None, at(11)));
        erasures.add(erasure(30, None, &[]));
        assert!(erasures.hold(&key, life(2), at(30)) && !erasures.hold(&key, life(2), at(31)));
        let [tombstone] = erasures.tombstones().collect::<Vec<_>>().try_into().expect("one");
        let mut again = Erasures::default();
        again.add_tombstone(tombstone);
        assert!(again.hold(&key, life(1), at(99)) && !again.hold(&key, life(2), at(31)));
    }
}
