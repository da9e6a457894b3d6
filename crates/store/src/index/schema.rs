//! The tables of the index, and how its file is opened.
//!
//! Documents are stored as words only (contentless FTS5); the log has the texts. A document's row id encodes
//! session, turn and part, so it needs no lookup table, and a session is one range of rows.
//!
//! Invariant: a file that is damaged or has another version is recreated; one of another program is left
//! untouched.

use std::fs;
use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;
use throughline_engine::index::Part;
use throughline_engine::store::{Result, Scope, StoreError};

use crate::sqlite::fault::{Outcome, translate};
use crate::sqlite::inspect::{self, FileSignature};
use crate::sqlite::schema::plan_once;

/// Identifies our index files: `THLX`. Any version is accepted, because the file can be recreated.
const SIGNATURE: FileSignature =
    FileSignature { application_id: i32::from_be_bytes(*b"THLX"), version_max: i32::MAX };
/// Incremented whenever tables or tokenisation change; an index of another version is rebuilt.
const VERSION: i32 = 2;

/// Number of tables that the words are distributed over, by scope: a search reads only one of them, and a
/// removal rewrites only one.
const SHARDS: u32 = 16;

const SESSIONS: &str = "
    CREATE TABLE session (
        id          INTEGER PRIMARY KEY,
        tenant      TEXT NOT NULL,
        user        TEXT NOT NULL,
        name        TEXT NOT NULL,
        version     INTEGER NOT NULL,
        incarnation INTEGER NOT NULL,
        entries     INTEGER NOT NULL,
        -- Checksum of the title, to detect changes.
        title       INTEGER NOT NULL,
        UNIQUE (tenant, user, name)
    ) STRICT;
";

/// The table with the words of a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Shard(u32);

impl Shard {
    pub(super) fn of(scope: &Scope) -> Self {
        let name = format!("{}\0{}", scope.tenant.as_str(), scope.user.as_str());
        Self(crc32fast::hash(name.as_bytes()) % SHARDS)
    }

    pub(super) fn all() -> impl Iterator<Item = Self> {
        (0..SHARDS).map(Self)
    }
}

impl std::fmt::Display for Shard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "words_{}", self.0)
    }
}

/// Creates all tables. Words are already tokenised ([`super::words`]), and no text is stored.
fn create(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(SESSIONS)?;
    for shard in Shard::all() {
        connection.execute_batch(&format!(
            "CREATE VIRTUAL TABLE {shard} USING fts5 (
                text, content = '', contentless_delete = 1, tokenize = 'ascii'
             );"
        ))?;
    }
    Ok(())
}

/// Checkpoint interval in pages of the WAL; batches are small.
const WAL_PAGES: i32 = 256;

/// Number of bits in a row id below the session's number.
pub(super) const SESSION_SHIFT: u32 = 32;
/// Number of bits in a row id below the turn's number.
const TURN_SHIFT: u32 = 2;
/// The highest turn number that fits into a row id.
pub(super) const TURN_MAX: u64 = (1 << (SESSION_SHIFT - TURN_SHIFT)) - 1;

/// The row id of a document; `None` if the turn number is too high.
pub(super) fn row_id(session: i64, turn: u64, part: Part) -> Option<i64> {
    let part = match part {
        Part::Title => 0,
        Part::Message => 1,
        Part::Reply => 2,
    };
    let turn = i64::try_from(turn).ok().filter(|_| turn <= TURN_MAX)?;
    Some((session << SESSION_SHIFT) | (turn << TURN_SHIFT) | part)
}

/// Extracts turn and part from a row id.
pub(super) fn turn_and_part(row_id: i64) -> (u64, Part) {
    let within = row_id.cast_unsigned() & ((1 << SESSION_SHIFT) - 1);
    let part = match within & 3 {
        0 => Part::Title,
        1 => Part::Message,
        _ => Part::Reply,
    };
    (within >> TURN_SHIFT, part)
}

/// Creates an index in memory.
pub(super) fn in_memory() -> Result<Connection> {
    let make = || {
        let connection = Connection::open_in_memory()?;
        configure(&connection)?;
        create(&connection)?;
        Ok(connection)
    };
    make().map_err(|error| translate(Path::new("memory"), Outcome::Unchanged, &error))
}

/// Opens the index in a file, recreating it if it cannot be used.
pub(super) fn in_file(path: &Path, busy: Duration) -> Result<Connection> {
    match open(path, busy) {
        Ok(Some(connection)) => return Ok(connection),
        Ok(None) => tracing::info!(index.path = %path.display(), "the index has another version"),
        Err(StoreError::Damaged { reason, .. }) => {
            tracing::warn!(index.path = %path.display(), reason, "the index is damaged");
        }
        Err(error) => return Err(error),
    }
    for suffix in ["", "-wal", "-shm", "-journal"] {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        match fs::remove_file(&name) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(inspect::unreadable(Path::new(&name), &error));
            }
            _ => {}
        }
    }
    tracing::info!(index.path = %path.display(), "recreating the index; it is filled from the logs");
    open(path, busy)?.ok_or_else(|| StoreError::Refused {
        what: path.display().to_string(),
        reason: "another process created an index of another version meanwhile".into(),
        hint: "run only one version of throughline at a time".into(),
    })
}

/// Returns `None` if the file is an index of another version.
fn open(path: &Path, busy: Duration) -> Result<Option<Connection>> {
    let failed = |error: rusqlite::Error| translate(path, Outcome::Unchanged, &error);
    inspect::prepare(path, SIGNATURE, |connection| fill(connection).map_err(failed))?;
    let open = || -> rusqlite::Result<Option<Connection>> {
        let connection = Connection::open(path)?;
        connection.busy_timeout(busy)?;
        configure(&connection)?;
        let found: i32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
        if found != VERSION {
            return Ok(None);
        }
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
        // What a crash loses is indexed again, because the position is lost with it.
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        connection.pragma_update(None, "wal_autocheckpoint", WAL_PAGES)?;
        Ok(Some(connection))
    };
    open().map_err(failed)
}

fn fill(connection: &mut Connection) -> rusqlite::Result<()> {
    configure(connection)?;
    let transaction = connection.transaction()?;
    create(&transaction)?;
    transaction.pragma_update(None, "application_id", SIGNATURE.application_id)?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    transaction.commit()
}

/// Opens an additional read-only connection.
pub(super) fn reader(path: &Path, busy: Duration) -> Result<Connection> {
    let open = || {
        let connection = Connection::open(path)?;
        connection.busy_timeout(busy)?;
        connection.pragma_update(None, "query_only", "ON")?;
        plan_once(&connection)?;
        Ok(connection)
    };
    open().map_err(|error| translate(path, Outcome::Unchanged, &error))
}

fn configure(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "secure_delete", "ON")?;
    connection.set_prepared_statement_cache_capacity(32);
    plan_once(connection)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_id_holds_session_turn_and_part() {
        for (turn, part) in [(0, Part::Title), (1, Part::Message), (TURN_MAX, Part::Reply)] {
            let id = row_id(77, turn, part).unwrap();
            assert_eq!((id >> SESSION_SHIFT, turn_and_part(id)), (77, (turn, part)));
        }
        assert_eq!(row_id(77, TURN_MAX + 1, Part::Reply), None);
    }
}
