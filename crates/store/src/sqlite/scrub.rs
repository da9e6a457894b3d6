//! Empties the WAL after an erasure, and zeroes the copies that SQLite leaves when it moves rows.
//!
//! With `secure_delete` SQLite zeroes the rows and pages that it frees. When it moves rows from one page to another it
//! leaves their bytes in the gap between the first page's row pointers and its rows, and an erasure of the row does not
//! reach them there. One erasure in a hundred left text in the file that way. The gap is never read, so zeros can be
//! written to the file itself, whatever happens halfway.
//!
//! Invariant: a page is changed only while we hold the write lock and the WAL is empty, so nobody else writes it. The
//! commit at the end makes other connections drop the pages that they have in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

/// How long others may hold the write lock.
const LOCK_WAIT: Duration = Duration::from_millis(250);
/// Pages that are read at once.
const PAGES_AT_ONCE: u32 = 512;
/// From this page on, the number that an overflow page begins with looks like the type of a page with rows.
const PAGES_MAX: u64 = 0x0200_0000;
const WAL_HEADER_BYTES: usize = 32;
const FRAME_HEADER_BYTES: usize = 24;

/// A file whose gaps have been zeroed before.
struct Known {
    file: File,
    /// The first salt of the WAL that began after that. Its pages are all that has changed since.
    clean_until: Option<u32>,
}

/// Files by device and inode. They stay open while the process lives: closing one would drop the locks that SQLite has
/// on it.
static KNOWN: Mutex<BTreeMap<(u64, u64), Known>> = Mutex::new(BTreeMap::new());

/// Moves the WAL into the file, empties it and zeroes the gaps. The answer is how many pages were looked at; none where
/// somebody was in the way, and it has to be done again.
pub(crate) fn empty_wal(connection: &Connection) -> rusqlite::Result<Option<u64>> {
    let path = connection.path().filter(|path| !path.is_empty()).map(PathBuf::from);
    let changed = path.as_deref().and_then(pages_in_wal);
    let busy: bool =
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
    match path {
        _ if busy => Ok(None),
        None => Ok(Some(0)),
        Some(path) => match zero_gaps(&path, changed) {
            Err(rusqlite::Error::SqliteFailure(failure, _))
                if failure.code == ErrorCode::DatabaseBusy =>
            {
                Ok(None)
            }
            answer => answer,
        },
    }
}

fn zero_gaps(path: &Path, changed: Option<Changed>) -> rusqlite::Result<Option<u64>> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut other = Connection::open_with_flags(path, flags)?;
    other.busy_timeout(LOCK_WAIT)?;
    let locked = other.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let version: i32 = locked.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if fs::metadata(wal_of(path)).is_ok_and(|wal| wal.len() > 0) {
        return Ok(None);
    }
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let (file, looked_at) = (|| {
        let found = fs::metadata(path)?;
        let file = (found.dev(), found.ino());
        let known = match known.entry(file) {
            std::collections::btree_map::Entry::Occupied(entry) => entry.into_mut(),
            std::collections::btree_map::Entry::Vacant(entry) => {
                let file = File::options().read(true).write(true).open(path)?;
                entry.insert(Known { file, clean_until: None })
            }
        };
        let clean = known.clean_until.take();
        let pages = changed.filter(|changed| clean == Some(changed.salt)).map(|it| it.pages);
        Ok((file, zero_gaps_of(&known.file, pages.as_ref())?))
    })()
    .map_err(|error: io::Error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    // A change of the first page, which has no rows of ours.
    locked.pragma_update(None, "user_version", version)?;
    locked.commit()?;
    // The WAL that this commit began; with other pages in it, somebody else has been quicker.
    let began = pages_in_wal(path).filter(|wal| wal.pages.iter().eq([&1]));
    if let Some(known) = known.get_mut(&file) {
        known.clean_until = began.map(|wal| wal.salt);
    }
    Ok(Some(looked_at))
}

/// What a WAL holds.
struct Changed {
    salt: u32,
    pages: BTreeSet<u32>,
}

fn wal_of(path: &Path) -> PathBuf {
    let mut wal = path.as_os_str().to_owned();
    wal.push("-wal");
    wal.into()
}

/// The pages that the WAL changes; absent where there is none.
fn pages_in_wal(path: &Path) -> Option<Changed> {
    // SQLite has no locks on the WAL itself, so it can be opened and closed.
    let wal = File::open(wal_of(path)).ok()?;
    let mut header = [0; WAL_HEADER_BYTES];
    wal.read_exact_at(&mut header, 0).ok()?;
    let frame_bytes = FRAME_HEADER_BYTES as u64 + u64::from(number(&header, 8));
    let (mut pages, mut at) = (BTreeSet::new(), WAL_HEADER_BYTES as u64);
    let mut frame = [0; FRAME_HEADER_BYTES];
    // Frames of an earlier round have other salts.
    while wal.read_exact_at(&mut frame, at).is_ok() && frame[8..16] == header[16..24] {
        pages.insert(number(&frame, 0));
        at += frame_bytes;
    }
    Some(Changed { salt: number(&header, 16), pages })
}

fn number(bytes: &[u8], at: usize) -> u32 {
    let four = bytes.get(at..at + 4).and_then(|four| four.try_into().ok());
    u32::from_be_bytes(four.unwrap_or_default())
}

/// Zeroes the gaps of `pages`, or of all, and answers how many it has looked at.
fn zero_gaps_of(file: &File, pages: Option<&BTreeSet<u32>>) -> io::Result<u64> {
    let mut header = [0; 100];
    file.read_exact_at(&mut header, 0)?;
    // With auto-vacuum, which our files do not have, there are pages whose first byte only looks like a type.
    if number(&header, 52) != 0 {
        return Ok(0);
    }
    let page_bytes = match u16::from_be_bytes([header[16], header[17]]) {
        1 => 65_536,
        bytes => u64::from(bytes),
    };
    let usable = (page_bytes as usize).saturating_sub(usize::from(header[20]));
    let count = file.metadata()?.len().checked_div(page_bytes).unwrap_or_default();
    if count >= PAGES_MAX {
        tracing::warn!("the file is too large to zero the unused parts of its pages");
        return Ok(0);
    }
    let count = u32::try_from(count).unwrap_or(u32::MAX);
    let runs: Vec<Range<u32>> = match pages {
        Some(pages) => pages.range(1..=count).map(|page| page - 1..*page).collect(),
        None => (0..count)
            .step_by(PAGES_AT_ONCE as usize)
            .map(|first| first..count.min(first + PAGES_AT_ONCE))
            .collect(),
    };
    let (mut looked_at, mut changed) = (0, false);
    for run in runs {
        let start = u64::from(run.start) * page_bytes;
        let mut bytes = vec![0; run.len() * page_bytes as usize];
        file.read_exact_at(&mut bytes, start)?;
        for (at, page) in bytes.chunks_exact(page_bytes as usize).enumerate() {
            looked_at += 1;
            let at = u64::from(run.start) + at as u64;
            let Some(gap) = gap(page, at == 0, usable) else { continue };
            if page[gap.clone()].iter().any(|byte| *byte != 0) {
                file.write_all_at(&vec![0; gap.len()], at * page_bytes + gap.start as u64)?;
                changed = true;
            }
        }
    }
    if changed {
        file.sync_data()?;
    }
    Ok(looked_at)
}

/// The unused bytes between the pointers to rows and the rows; none in pages of another kind.
fn gap(page: &[u8], is_first: bool, usable: usize) -> Option<Range<usize>> {
    let page_header = if is_first { 100 } else { 0 };
    let pointers = match page[page_header] {
        2 | 5 => page_header + 12,
        10 | 13 => page_header + 8,
        _ => return None,
    };
    let short = |at: usize| usize::from(u16::from_be_bytes([page[at], page[at + 1]]));
    let start = pointers + 2 * short(page_header + 3);
    let end = match short(page_header + 5) {
        0 => 65_536,
        end => end,
    };
    (start < end && end <= usable).then_some(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A small file in which rows were moved between pages.
    fn moved_rows(path: &Path) -> Connection {
        let connection = Connection::open(path).unwrap();
        connection
            .execute_batch(
                "PRAGMA page_size = 2048; PRAGMA secure_delete = ON; PRAGMA journal_mode = WAL;
                 CREATE TABLE row (id INTEGER PRIMARY KEY, text TEXT);",
            )
            .unwrap();
        for round in 1..20_u32 {
            for id in 0..60_u32 {
                let times = 1 + (id * 31 + round * 17) % 120;
                let text = format!("word{id}x ").repeat(times as usize);
                connection
                    .execute("INSERT OR REPLACE INTO row VALUES (?1, ?2)", (id, text))
                    .unwrap();
            }
        }
        connection
    }

    fn holds(path: &Path, word: &str) -> bool {
        let bytes = [fs::read(path).unwrap(), fs::read(wal_of(path)).unwrap_or_default()].concat();
        bytes.windows(word.len()).any(|window| window == word.as_bytes())
    }

    #[test]
    fn a_row_that_was_moved_and_deleted_is_in_no_gap() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("moved.db");
        let connection = moved_rows(&path);
        let mut all = None;
        for id in 0..60_u32 {
            connection.execute("DELETE FROM row WHERE id = ?1", [id]).unwrap();
            let looked_at = empty_wal(&connection).unwrap().expect("nobody is in the way");
            assert!(!holds(&path, &format!("word{id}x")), "row {id}");
            // All pages once, then those that changed.
            assert!(looked_at < *all.get_or_insert(looked_at) || id == 0, "{looked_at} pages");
        }
        let sound: String =
            connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(sound, "ok");
    }

    #[test]
    fn all_pages_are_looked_at_again_after_a_wal_that_was_not_seen() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("moved.db");
        let connection = moved_rows(&path);
        let all = empty_wal(&connection).unwrap();
        let empty = || connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        connection.execute("DELETE FROM row WHERE id = 7", []).unwrap();
        empty().unwrap();
        connection.execute("DELETE FROM row WHERE id = 8", []).unwrap();
        assert_eq!(empty_wal(&connection).unwrap(), all);
        assert!(!holds(&path, "word7x") && !holds(&path, "word8x"));
    }

    #[test]
    fn somebody_who_writes_is_in_the_way() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("moved.db");
        let connection = moved_rows(&path);
        let other = Connection::open(&path).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        assert_eq!(empty_wal(&connection).unwrap(), None);
        other.execute_batch("COMMIT").unwrap();
        assert!(empty_wal(&connection).unwrap().is_some());
    }
}
