//! Applies one change or one erasure, inside a transaction of the writer.
//!
//! Invariant: a change that the contract refuses is refused before the first row is written.

use rusqlite::{Connection, OptionalExtension, params};
use throughline_engine::store::{Change, Erased, Expected, Key, StoreError, Version};

use super::row::{checksum, count, integer, nanoseconds, version};
use super::stored::{self, FRAME_HEADER_BYTES, Stored};
use crate::limit::{new_incarnation, no_such_entry};

/// Why a query or a change failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// An error of the contract.
    Store(StoreError),
    Sqlite(rusqlite::Error),
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

/// The columns of a thread's row that a commit needs.
struct Current {
    id: i64,
    version: Version,
    entries: u64,
    head_form: i64,
}

fn current(connection: &Connection, key: &Key) -> rusqlite::Result<Option<Current>> {
    connection
        .prepare_cached(
            "SELECT thread.id, version, incarnation, entries, head_form
             FROM place JOIN thread ON thread.place = place.id
             WHERE tenant = ?1 AND user = ?2 AND kind = ?3 AND name = ?4",
        )?
        .query_row(name_of(key), |row| {
            let (version, entries) = (version(row, 1)?, count(row, 3)?);
            Ok(Current { id: row.get(0)?, version, entries, head_form: row.get(4)? })
        })
        .optional()
}

/// The four columns that identify a thread.
pub(crate) fn name_of(key: &Key) -> [&str; 4] {
    [key.scope.tenant.as_str(), key.scope.user.as_str(), key.kind.as_str(), key.id.as_str()]
}

/// Applies `change` if the thread is at `expected`.
pub(crate) fn commit(
    connection: &Connection,
    key: &Key,
    expected: Expected,
    change: &Change,
) -> Result<Version, Failure> {
    let current = current(connection, key)?;
    let (id, version, entries) = match (expected, &current) {
        (Expected::Absent, None) => {
            refuse_overwrite_from(key, change, 0)?;
            let version = Version { number: 1, incarnation: new_incarnation() };
            (insert_thread(connection, key, version, change)?, version, 0)
        }
        (Expected::At(wanted), Some(at)) if wanted == at.version => {
            refuse_overwrite_from(key, change, at.entries)?;
            let version = Version { number: wanted.number + 1, ..wanted };
            update_thread(connection, at, version, change)?;
            (at.id, version, at.entries)
        }
        _ => {
            let current = current.map(|at| at.version);
            return Err(Failure::Store(StoreError::Conflict { key: key.clone(), current }));
        }
    };
    overwrite_entries(connection, id, &change.overwrite)?;
    append_entries(connection, id, entries, &change.append)?;
    Ok(version)
}

fn refuse_overwrite_from(key: &Key, change: &Change, entries: u64) -> Result<(), Failure> {
    match change.overwrite.iter().find(|(number, _)| *number >= entries) {
        Some((number, _)) => Err(Failure::Store(no_such_entry(key, *number))),
        None => Ok(()),
    }
}

fn insert_thread(
    connection: &Connection,
    key: &Key,
    version: Version,
    change: &Change,
) -> rusqlite::Result<i64> {
    let [tenant, user, kind, name] = name_of(key);
    let head = Stored::whole(&change.head);
    connection
        .prepare_cached("INSERT OR IGNORE INTO place (tenant, user, kind) VALUES (?1, ?2, ?3)")?
        .execute([tenant, user, kind])?;
    connection
        .prepare_cached(
            "INSERT INTO thread (place, name, version, incarnation, entries, changed_at,
                                 expires_at, head_sum, head_form, head)
             SELECT id, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12 FROM place
             WHERE tenant = ?1 AND user = ?2 AND kind = ?3",
        )?
        .execute(params![
            tenant,
            user,
            kind,
            name,
            integer(version.number),
            version.incarnation,
            integer(change.append.len() as u64),
            nanoseconds(change.at),
            change.expires_at.map(nanoseconds),
            checksum(&change.head),
            head.form,
            &head.bytes[..],
        ])?;
    Ok(connection.last_insert_rowid())
}

fn update_thread(
    connection: &Connection,
    at: &Current,
    version: Version,
    change: &Change,
) -> Result<(), Failure> {
    let head = Stored::head(connection, at.id, at.head_form, change)?;
    connection
        .prepare_cached(
            "UPDATE thread SET version = ?2, entries = ?3, changed_at = ?4, expires_at = ?5,
                               head_sum = ?6, head_form = ?7, head = ?8
             WHERE id = ?1",
        )?
        .execute(params![
            at.id,
            integer(version.number),
            integer(at.entries + change.append.len() as u64),
            nanoseconds(change.at),
            change.expires_at.map(nanoseconds),
            checksum(&change.head),
            head.form,
            &head.bytes[..],
        ])?;
    Ok(())
}

fn append_entries(
    connection: &Connection,
    thread: i64,
    from: u64,
    append: &[bytes::Bytes],
) -> rusqlite::Result<()> {
    let mut insert = connection.prepare_cached(
        "INSERT INTO entry (thread, number, sum, form, bytes) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    for (number, bytes) in (from..).zip(append) {
        let Stored { form, bytes: stored } = Stored::whole(bytes);
        insert.execute(params![thread, integer(number), checksum(bytes), form, &stored[..]])?;
    }
    Ok(())
}

fn overwrite_entries(
    connection: &Connection,
    thread: i64,
    overwrite: &[(u64, bytes::Bytes)],
) -> rusqlite::Result<()> {
    for (number, bytes) in overwrite {
        let Stored { form, bytes: stored } = Stored::whole(bytes);
        connection
            .prepare_cached(
                "UPDATE entry SET sum = ?3, form = ?4, bytes = ?5 WHERE thread = ?1 AND number = ?2",
            )?
            .execute(params![thread, integer(*number), checksum(bytes), form, &stored[..]])?;
    }
    Ok(())
}

/// Removes the thread's rows, and its row in `place` if no other thread uses it.
pub(crate) fn erase(connection: &Connection, key: &Key) -> rusqlite::Result<Erased> {
    let Some(current) = current(connection, key)? else { return Ok(Erased::default()) };
    let (mut entries, mut bytes) = (0, 0);
    let mut kept = connection.prepare_cached(
        "SELECT form, length(bytes), substr(bytes, 1, ?2) FROM entry WHERE thread = ?1",
    )?;
    let mut rows = kept.query(params![current.id, FRAME_HEADER_BYTES])?;
    while let Some(row) = rows.next()? {
        entries += 1;
        bytes += stored::original_bytes(row, 0)?;
    }
    let place: i64 = connection
        .prepare_cached(
            "SELECT place, head_form, length(head), substr(head, 1, ?2) FROM thread WHERE id = ?1",
        )?
        .query_row(params![current.id, FRAME_HEADER_BYTES], |row| {
            bytes += stored::original_bytes(row, 1)?;
            row.get(0)
        })?;
    let remove = |statement: &str, id: i64| connection.prepare_cached(statement)?.execute([id]);
    remove("DELETE FROM entry WHERE thread = ?1", current.id)?;
    remove("DELETE FROM head_base WHERE thread = ?1", current.id)?;
    remove("DELETE FROM thread WHERE id = ?1", current.id)?;
    let unused =
        "DELETE FROM place WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM thread WHERE place = ?1)";
    remove(unused, place)?;
    Ok(Erased { heads: 1, entries, records: 1 + entries, bytes, ..Erased::default() })
}
