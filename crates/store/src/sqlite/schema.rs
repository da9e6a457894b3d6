//! The tables, their migrations, and the configuration of connections.
//!
//! Entries are stored in insertion order, so that pages fill up regardless of sessions; `entry_place` finds
//! them by thread and number. A commit changes four or five pages, and each goes to the WAL in full: small
//! pages keep an append small.
//!
//! Invariant: `user_version` is the number of applied migrations and is updated in the same transaction as
//! the tables.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, TransactionBehavior};
use throughline_engine::sabotage::{self, Switch};
use throughline_engine::store::{Result, StoreError};

use super::fault::{Outcome, translate};
use super::inspect::FileSignature;

/// Identifies our files: `THLN`.
pub(crate) const APPLICATION_ID: i32 = i32::from_be_bytes(*b"THLN");
/// The oldest SQLite version without the WAL-reset bug.
pub(crate) const LIBRARY_MIN: i32 = 3_051_003;
/// Page size of a new file. With 8, 4, 2 and 1 KiB an append wrote 39, 23, 15 and 12 KiB; with 1 KiB the file
/// was a third larger.
const PAGE_BYTES: u32 = 2048;
/// The WAL file is truncated to this size after a checkpoint.
const WAL_BYTES_KEPT: u32 = 16 * 1024 * 1024;

/// The migrations in order; the n-th leads to schema version n.
const MIGRATIONS: &[&str] = &[
    "
    CREATE TABLE place (
        id     INTEGER PRIMARY KEY,
        tenant TEXT NOT NULL,
        user   TEXT NOT NULL,
        kind   TEXT NOT NULL,
        UNIQUE (tenant, user, kind)
    ) STRICT;
    CREATE TABLE thread (
        id          INTEGER PRIMARY KEY,
        place       INTEGER NOT NULL REFERENCES place (id),
        name        TEXT NOT NULL,
        version     INTEGER NOT NULL,
        incarnation INTEGER NOT NULL,
        entries     INTEGER NOT NULL,
        changed_at  INTEGER NOT NULL,
        expires_at  INTEGER,
        head_sum    INTEGER NOT NULL,
        head        BLOB NOT NULL,
        UNIQUE (place, name)
    ) STRICT;
    CREATE INDEX thread_recent ON thread (place, changed_at DESC, name);
    CREATE TABLE entry (
        id     INTEGER PRIMARY KEY,
        thread INTEGER NOT NULL REFERENCES thread (id),
        number INTEGER NOT NULL,
        sum    INTEGER NOT NULL,
        bytes  BLOB NOT NULL
    ) STRICT;
    CREATE UNIQUE INDEX entry_place ON entry (thread, number);
",
    "
    ALTER TABLE thread ADD COLUMN head_form INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE entry ADD COLUMN form INTEGER NOT NULL DEFAULT 0;
    CREATE TABLE head_base (
        thread INTEGER PRIMARY KEY REFERENCES thread (id),
        form   INTEGER NOT NULL,
        bytes  BLOB NOT NULL
    ) STRICT;
",
    // No change of tables: entries compressed with a dictionary, which version 2 cannot read.
    "",
];

/// The schema version that this build writes.
pub(crate) const VERSION: i32 = MIGRATIONS.len() as i32;

/// The signature of our files.
pub(crate) const SIGNATURE: FileSignature =
    FileSignature { application_id: APPLICATION_ID, version_max: VERSION };

/// The role of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// The only connection that writes.
    Write,
    /// A read-only connection.
    Read,
}

/// Creates the tables in a new file.
pub(crate) fn create_tables(path: &Path, connection: &mut Connection) -> Result<()> {
    configure(connection, Duration::ZERO)
        .map_err(|error| translate(path, Outcome::Unchanged, &error))?;
    migrate(path, connection)
}

/// Opens and configures a connection; the writer's also migrates the tables. The file must have been
/// inspected before.
pub(crate) fn connect(path: &Path, purpose: Purpose, busy: Duration) -> Result<Connection> {
    let fail = |error: rusqlite::Error| translate(path, Outcome::Unchanged, &error);
    let mut connection = Connection::open(path).map_err(fail)?;
    configure(&connection, busy).map_err(fail)?;
    match purpose {
        Purpose::Read => connection.pragma_update(None, "query_only", "ON").map_err(fail)?,
        Purpose::Write => {
            // Before enabling WAL, so that the header fields of a new file are in the file itself.
            migrate(path, &mut connection)?;
            configure_writer(&connection).map_err(fail)?;
        }
    }
    Ok(connection)
}

fn configure(connection: &Connection, busy: Duration) -> rusqlite::Result<()> {
    connection.busy_timeout(busy)?;
    // Only takes effect on an empty file.
    connection.pragma_update(None, "page_size", PAGE_BYTES)?;
    connection.pragma_update(None, "secure_delete", "ON")?;
    connection.pragma_update(None, "foreign_keys", "ON")?;
    connection.pragma_update(None, "trusted_schema", "OFF")?;
    let synchronous = if sabotage::is(Switch::SkipSyncs) { "OFF" } else { "FULL" };
    connection.pragma_update(None, "synchronous", synchronous)?;
    connection.set_prepared_statement_cache_capacity(32);
    plan_once(connection)?;
    Ok(())
}

/// Disables re-planning of prepared statements. By default SQLite re-prepares a statement depending on the
/// bound values, which took longer than most of our queries.
pub(crate) fn plan_once(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map(|_| ())
}

fn configure_writer(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    connection.pragma_update_and_check(None, "journal_size_limit", WAL_BYTES_KEPT, |_| Ok(()))?;
    // The writer runs checkpoints itself, after it has answered.
    connection.pragma_update_and_check(None, "wal_autocheckpoint", 0, |_| Ok(()))
}

/// Migrates the tables to [`VERSION`]; a newer file is refused before anything is written.
fn migrate(path: &Path, connection: &mut Connection) -> Result<()> {
    let fail = |error: rusqlite::Error| translate(path, Outcome::Unchanged, &error);
    if user_version(connection).map_err(fail)? == VERSION {
        return Ok(());
    }
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fail)?;
    // Another process may have migrated while we waited for the lock.
    let found = user_version(&transaction).map_err(fail)?;
    if found > VERSION {
        return Err(newer(path, found, VERSION));
    }
    if found > 0 {
        tracing::info!(store.path = %path.display(), from = found, to = VERSION, "migrating the store");
    }
    for (_, migration) in (1..).zip(MIGRATIONS).filter(|(number, _)| *number > found) {
        transaction.execute_batch(migration).map_err(fail)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID).map_err(fail)?;
    transaction.pragma_update(None, "user_version", VERSION).map_err(fail)?;
    transaction.commit().map_err(fail)
}

/// The number of migrations applied to the file.
pub(crate) fn user_version(connection: &Connection) -> rusqlite::Result<i32> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Whether the tables have `form` columns. A copy of an older file has none until it is opened and migrated.
pub(crate) fn has_forms(connection: &Connection) -> rusqlite::Result<bool> {
    Ok(user_version(connection)? >= 2)
}

/// The error for a file written by a newer build.
pub(crate) fn newer(path: &Path, found: i32, known: i32) -> StoreError {
    StoreError::Refused {
        what: path.display().to_string(),
        reason: format!(
            "its schema version is {found}, but this build supports only {known}; it was left untouched"
        ),
        hint: "use the newer throughline that wrote it, or restore an older backup".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::check::check;

    #[test]
    fn a_file_of_version_1_is_checked_as_it_is_and_migrated_when_it_is_opened() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("old.db");
        let old = Connection::open(&path).unwrap();
        old.execute_batch(MIGRATIONS[0]).unwrap();
        old.pragma_update(None, "application_id", APPLICATION_ID).unwrap();
        old.pragma_update(None, "user_version", 1).unwrap();
        let sum = crc32fast::hash(b"bytes");
        old.execute_batch(&format!(
            "INSERT INTO place VALUES (1, 'tenant', 'user', 'session');
             INSERT INTO thread VALUES (1, 1, 'one', 1, 7, 1, 0, NULL, {sum}, X'6279746573');
             INSERT INTO entry VALUES (1, 1, 0, {sum}, X'6279746573');"
        ))
        .unwrap();
        let report = check(&old).unwrap();
        assert_eq!((report.threads, report.entries, report.problems.len()), (1, 1, 0));
        old.execute_batch("UPDATE entry SET sum = 0; UPDATE thread SET head_sum = 0").unwrap();
        assert_eq!(check(&old).unwrap().problems.len(), 2);
        old.execute_batch(&format!(
            "UPDATE entry SET sum = {sum}; UPDATE thread SET head_sum = {sum}"
        ))
        .unwrap();
        drop(old);
        let new = connect(&path, Purpose::Write, Duration::from_secs(1)).unwrap();
        assert_eq!(user_version(&new).unwrap(), VERSION);
        assert_eq!(check(&new).unwrap().problems, Vec::<String>::new());
    }
}
