//! Erasures in a file whose rows were moved between its pages: no byte of them is left, plain or compressed.
//!
//! Records are compressed, so a search for a word proves little. Here every byte of the file is accounted for: rows are
//! read and unpacked, and what belongs to no row must be zero.

use std::fs;
use std::path::Path;

use bytes::Bytes;
use throughline_engine::store::{Change, Expected, Store, Version};
use throughline_store::sqlite::Sqlite;
use throughline_store::url::BUSY_WAIT;
use throughline_testkit::frames::unpacked;
use throughline_testkit::seeded::Seeded;
use throughline_testkit::trust;

use crate::sample::{change, key};

/// Sessions of each file; half of them are erased.
const SESSIONS: u64 = 40;
/// Commits that fill a file.
const COMMITS: u64 = 400;
/// Files of a usual run.
const FILES: u64 = 2;
/// Any number will do.
const SEED: u64 = 20_261_116;

fn holds(bytes: &[u8], word: &str) -> bool {
    bytes.windows(word.len()).any(|window| window == word.as_bytes())
}

/// Bytes that belong to no row and are not zero: gaps and freed places of pages with rows, and pages that are free.
fn left_behind(file: &[u8]) -> Vec<u8> {
    let long = |at: usize| u32::from_be_bytes(file[at..at + 4].try_into().unwrap()) as usize;
    let short = |at: usize| usize::from(u16::from_be_bytes([file[at], file[at + 1]]));
    let size = short(16);
    let mut left = Vec::new();
    for start in (0..file.len()).step_by(size) {
        let header = if start == 0 { 100 } else { start };
        let pointers = match file[header] {
            2 | 5 => 12,
            10 | 13 => 8,
            _ => continue,
        };
        left.extend(&file[header + pointers + 2 * short(header + 3)..start + short(header + 5)]);
        let mut freed = short(header + 1);
        while freed != 0 {
            left.extend(&file[start + freed + 4..start + freed + short(start + freed + 2)]);
            freed = short(start + freed);
        }
    }
    let mut trunk = long(32);
    while trunk != 0 {
        let (start, pages) = ((trunk - 1) * size, long((trunk - 1) * size + 4));
        left.extend(&file[start + 8 + 4 * pages..start + size]);
        for page in 0..pages {
            let leaf = (long(start + 8 + 4 * page) - 1) * size;
            left.extend(&file[leaf..leaf + size]);
        }
        trunk = long(start);
    }
    left.retain(|byte| *byte != 0);
    left
}

/// A word of a session that no other text holds.
fn word(session: u64) -> String {
    format!("canary{session:03}x")
}

/// Text of about `bytes` bytes: about half of it cannot be compressed.
fn text(session: u64, bytes: u64, seeded: &mut Seeded) -> String {
    let mut text = String::new();
    while (text.len() as u64) < bytes {
        text += &format!("{} {:x} ", word(session), seeded.next_u64());
    }
    text
}

async fn fill(store: &Sqlite, seeded: &mut Seeded) {
    let mut at: Vec<(Option<Version>, u64)> = vec![(None, 0); SESSIONS as usize];
    for _ in 0..COMMITS {
        let session = seeded.below(SESSIONS);
        let (version, entries) = &mut at[session as usize];
        let head_bytes = *seeded.one_of(&[60, 300, 900, 1_400, 3_000, 9_000]);
        let turn_bytes = *seeded.one_of(&[20, 100, 200, 600, 1_500, 5_000]);
        let (head, turn) = (text(session, head_bytes, seeded), text(session, turn_bytes, seeded));
        let mut next = change(&head, &[&turn]);
        if *entries > 0 && seeded.happens(100) {
            let other = Bytes::from(text(session, seeded.below(3_000), seeded));
            next = Change { overwrite: vec![(seeded.below(*entries), other)], ..next };
        }
        let expected = version.map_or(Expected::Absent, Expected::At);
        let done = store.commit(&key(&format!("s{session}")), expected, next).await.unwrap();
        (*version, *entries) = (Some(done), *entries + 1);
    }
}

async fn erased_is_gone(path: &Path, seed: u64) -> Vec<String> {
    let mut seeded = Seeded::new(seed);
    let store = Sqlite::open(path, BUSY_WAIT).await.unwrap();
    fill(&store, &mut seeded).await;
    let mut wrong = Vec::new();
    for session in 0..SESSIONS / 2 {
        let (erased, word) = (format!("s{session}"), word(session));
        let left = store.erase(&key(&erased)).await.unwrap().left;
        let (file, mut wal) = (fs::read(path).unwrap(), path.as_os_str().to_owned());
        wal.push("-wal");
        let wal = fs::read(wal).unwrap_or_default();
        let behind = left_behind(&file).len();
        let plain = holds(&file, &word) || holds(&wal, &word);
        let packed = holds(&unpacked(&file), &word) || holds(&unpacked(&wal), &word);
        if left != 0 || behind != 0 || plain || packed {
            wrong.push(format!(
                "seed {seed}, {erased}: {left} left, {behind} bytes of no row; found plain {plain}, compressed {packed}"
            ));
        }
    }
    let report = store.check().await.unwrap();
    wrong.extend(report.problems);
    wrong
}

#[tokio::test]
async fn what_was_erased_is_in_no_byte_of_a_file_whose_rows_were_moved() {
    let folder = tempfile::tempdir().unwrap();
    let (first, files) = (trust::seed(SEED), trust::times(FILES));
    let mut wrong = Vec::new();
    for seed in first..first + files {
        wrong.extend(erased_is_gone(&folder.path().join(format!("{seed}.db")), seed).await);
    }
    let attempts = files * SESSIONS / 2;
    trust::settle("erase and byte scan", "sqlite, rows moved between pages", attempts, &wrong);
}
