//! Inserts and removes documents.
//!
//! FTS5 only marks documents as deleted; their words stay in the file until a merge. So a removal also rewrites
//! the words of its shard in the same transaction, and then truncates the WAL.
//!
//! Invariant: after a removal, words that only removed documents contained are not in the file, unless another
//! program kept the WAL from being truncated.

use std::collections::BTreeSet;

use rusqlite::{Connection, Transaction, TransactionBehavior, params};
use throughline_engine::id::SessionId;
use throughline_engine::index::{DOCUMENT_BYTES_MAX, Part};
use throughline_engine::store::Scope;

use super::pending::Put;
use super::schema::{SESSION_SHIFT, Shard, row_id};
use super::search::position;
use super::words;
use crate::sqlite::scrub;

/// Inserts everything in one transaction.
pub(super) fn put_all(connection: &mut Connection, puts: &[Put]) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for put in puts {
        put_one(&transaction, put)?;
    }
    transaction.commit()
}

fn put_one(connection: &Connection, put: &Put) -> rusqlite::Result<()> {
    let known = position(connection, &put.scope, &put.session)?;
    if known.is_some_and(|at| at.is_after(&put.position)) {
        return Ok(());
    }
    let known_turns = known.map_or(0, |at| at.entries);
    let (id, known_title) = upsert_session(connection, put)?;
    let shard = Shard::of(&put.scope);
    for document in &put.documents {
        let Some(row) = row_id(id, document.turn, document.part) else { continue };
        if document.part == Part::Title {
            let title = title_checksum(&document.text);
            if title == known_title {
                continue;
            }
            connection
                .prepare_cached("UPDATE session SET title = ?2 WHERE id = ?1")?
                .execute([id, title])?;
        }
        if document.part == Part::Title || document.turn <= known_turns {
            delete_row(connection, shard, row)?;
        }
        let end = document.text.floor_char_boundary(DOCUMENT_BYTES_MAX);
        let words = words::indexable(&document.text[..end]);
        if !words.is_empty() {
            connection
                .prepare_cached(&format!("INSERT INTO {shard} (rowid, text) VALUES (?1, ?2)"))?
                .execute(params![row, words])?;
        }
    }
    Ok(())
}

/// Inserts or updates the session; returns its number and the checksum of the indexed title.
fn upsert_session(connection: &Connection, put: &Put) -> rusqlite::Result<(i64, i64)> {
    let to = put.position;
    connection
        .prepare_cached(
            "INSERT INTO session (tenant, user, name, version, incarnation, entries, title)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0)
             ON CONFLICT DO UPDATE SET version = ?4, incarnation = ?5, entries = ?6
             RETURNING id, title",
        )?
        .query_row(
            params![
                put.scope.tenant.as_str(),
                put.scope.user.as_str(),
                put.session.as_str(),
                i64::try_from(to.version.number).unwrap_or(i64::MAX),
                to.version.incarnation,
                i64::try_from(to.entries).unwrap_or(i64::MAX),
            ],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
}

/// The checksum of a title; 0 means none.
fn title_checksum(title: &str) -> i64 {
    if title.is_empty() { 0 } else { i64::from(crc32fast::hash(title.as_bytes())) + 1 }
}

fn delete_row(connection: &Connection, shard: Shard, row: i64) -> rusqlite::Result<()> {
    connection
        .prepare_cached(&format!("DELETE FROM {shard} WHERE rowid = ?1"))?
        .execute([row])
        .map(|_| ())
}

/// Removes one session, or all of a scope; returns the number of documents removed.
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
    let shard = Shard::of(scope);
    let mut removed = 0;
    for id in &sessions {
        removed += remove_documents(&transaction, shard, *id)?;
    }
    if removed > 0 {
        transaction.execute_batch(&format!("INSERT INTO {shard} ({shard}) VALUES ('optimize')"))?;
    }
    transaction.commit()?;
    if !sessions.is_empty() {
        truncate_wal(connection)?;
    }
    Ok(removed)
}

fn remove_documents(
    transaction: &Transaction<'_>,
    shard: Shard,
    session: i64,
) -> rusqlite::Result<u64> {
    let rows: BTreeSet<i64> = transaction
        .prepare_cached(&format!("SELECT id FROM {shard}_docsize WHERE id >= ?1 AND id < ?2"))?
        .query_map([session << SESSION_SHIFT, (session + 1) << SESSION_SHIFT], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for row in &rows {
        delete_row(transaction, shard, *row)?;
    }
    Ok(rows.len() as u64)
}

pub(super) fn clear(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for shard in Shard::all() {
        transaction
            .execute_batch(&format!("INSERT INTO {shard} ({shard}) VALUES ('delete-all')"))?;
    }
    transaction.execute_batch("DELETE FROM session")?;
    transaction.commit()?;
    truncate_wal(connection)
}

/// Truncates the WAL, which contains the old pages. Searches end before the busy timeout, so only another program
/// can prevent it.
fn truncate_wal(connection: &Connection) -> rusqlite::Result<()> {
    if scrub::empty_wal(connection)?.is_none() {
        tracing::warn!("the index's WAL could not be truncated; the next removal tries again");
    }
    Ok(())
}
