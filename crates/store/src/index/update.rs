//! Putting documents in and taking them out.
//!
//! Invariant: a text leaves the word list with exactly the words it entered it with, because the text
//! that is taken out is the one that is kept.

use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use throughline_engine::id::SessionId;
use throughline_engine::index::{DOCUMENT_BYTES_MAX, Document, Position};
use throughline_engine::store::Scope;

use super::schema::{SESSION_SHIFT, row_id};
use super::search::{MARK_CLOSE, MARK_OPEN, position};

pub(super) fn put(
    connection: &mut Connection,
    scope: &Scope,
    session: &SessionId,
    documents: &[Document],
    to: Position,
) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if position(&transaction, scope, session)?.is_some_and(|at| at.is_after(&to)) {
        return Ok(());
    }
    let id = place(&transaction, scope, session, to)?;
    for document in documents {
        if let Some(row) = row_id(id, document.turn, document.part) {
            take_out(&transaction, row)?;
            put_in(&transaction, row, &indexable(&document.text))?;
        }
    }
    transaction.commit()
}

fn place(
    connection: &Connection,
    scope: &Scope,
    session: &SessionId,
    to: Position,
) -> rusqlite::Result<i64> {
    connection
        .prepare_cached(
            "INSERT INTO session (tenant, user, name, version, incarnation, entries)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT DO UPDATE SET version = ?4, incarnation = ?5, entries = ?6
             RETURNING id",
        )?
        .query_row(
            params![
                scope.tenant.as_str(),
                scope.user.as_str(),
                session.as_str(),
                i64::try_from(to.version.number).unwrap_or(i64::MAX),
                to.version.incarnation,
                i64::try_from(to.entries).unwrap_or(i64::MAX),
            ],
            |row| row.get(0),
        )
}

fn put_in(connection: &Connection, row: i64, text: &str) -> rusqlite::Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    connection
        .prepare_cached("INSERT INTO document (id, text) VALUES (?1, ?2)")?
        .execute(params![row, text])?;
    connection
        .prepare_cached("INSERT INTO found (rowid, text) VALUES (?1, ?2)")?
        .execute(params![row, text])
        .map(|_| ())
}

fn take_out(connection: &Connection, row: i64) -> rusqlite::Result<()> {
    let text: Option<String> = connection
        .prepare_cached("DELETE FROM document WHERE id = ?1 RETURNING text")?
        .query_row([row], |row| row.get(0))
        .optional()?;
    let Some(text) = text else { return Ok(()) };
    connection
        .prepare_cached("INSERT INTO found (found, rowid, text) VALUES ('delete', ?1, ?2)")?
        .execute(params![row, text])
        .map(|_| ())
}

/// The text without the signs that mark found words, up to the limit.
fn indexable(text: &str) -> String {
    let end = text.floor_char_boundary(DOCUMENT_BYTES_MAX);
    text[..end].replace([MARK_OPEN, MARK_CLOSE, '\0'], " ")
}

/// Removes one session or all of a scope; answers how many documents went.
pub(super) fn remove(
    connection: &mut Connection,
    scope: &Scope,
    session: Option<&SessionId>,
) -> rusqlite::Result<u64> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let name = session.map(SessionId::as_str);
    let sessions: Vec<i64> = transaction
        .prepare_cached(
            "DELETE FROM session WHERE tenant = ?1 AND user = ?2 AND (?3 IS NULL OR name = ?3)
             RETURNING id",
        )?
        .query_map(params![scope.tenant.as_str(), scope.user.as_str(), name], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let mut removed = 0;
    for id in &sessions {
        let rows: Vec<i64> = transaction
            .prepare_cached("SELECT id FROM document WHERE id >= ?1 AND id < ?2")?
            .query_map([id << SESSION_SHIFT, (id + 1) << SESSION_SHIFT], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        removed += rows.len() as u64;
        for row in rows {
            take_out(&transaction, row)?;
        }
    }
    transaction.commit()?;
    if !sessions.is_empty() {
        empty_wal(connection)?;
    }
    Ok(removed)
}

pub(super) fn clear(connection: &mut Connection) -> rusqlite::Result<()> {
    connection.execute_batch(
        "BEGIN IMMEDIATE;
         INSERT INTO found (found) VALUES ('delete-all');
         DELETE FROM document;
         DELETE FROM session;
         COMMIT;",
    )?;
    empty_wal(connection)
}

/// The WAL held the old pages. A reader in the way is no error: the next removal empties it.
fn empty_wal(connection: &Connection) -> rusqlite::Result<()> {
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
}
