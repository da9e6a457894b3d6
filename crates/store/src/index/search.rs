//! Queries on the index.
//!
//! Invariant: the scope is a condition in the SQL of every query, not a filter on its results.

use std::time::Instant;

use rusqlite::{Connection, OptionalExtension, params};
use throughline_engine::id::SessionId;
use throughline_engine::index::{HITS_MAX, Hit, Position, Query};
use throughline_engine::store::{Scope, Version};

use super::query::parse;
use super::schema::{Shard, turn_and_part};

/// SQLite VM instructions between two checks of the deadline.
const PROGRESS_INSTRUCTIONS: i32 = 1_000;

pub(super) fn position(
    connection: &Connection,
    scope: &Scope,
    session: &SessionId,
) -> rusqlite::Result<Option<Position>> {
    connection
        .prepare_cached(
            "SELECT version, incarnation, entries FROM session
             WHERE tenant = ?1 AND user = ?2 AND name = ?3",
        )?
        .query_row([scope.tenant.as_str(), scope.user.as_str(), session.as_str()], |row| {
            let version =
                Version { number: row.get::<_, i64>(0)?.cast_unsigned(), incarnation: row.get(1)? };
            Ok(Position { version, entries: row.get::<_, i64>(2)?.cast_unsigned() })
        })
        .optional()
}

/// Runs `work`, interrupting it at `deadline`.
pub(super) fn with_deadline<T>(
    connection: &mut Connection,
    deadline: Instant,
    work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    connection.progress_handler(PROGRESS_INSTRUCTIONS, Some(move || Instant::now() >= deadline))?;
    let outcome = work(connection);
    connection.progress_handler(PROGRESS_INSTRUCTIONS, None::<fn() -> bool>)?;
    outcome
}

/// The condition that restricts a search to its scope.
const OF_SCOPE: &str = "session.tenant = ?2 AND session.user = ?3";

pub(super) fn search(connection: &Connection, query: &Query) -> rusqlite::Result<Vec<Hit>> {
    search_in(connection, query, Shard::of(&query.scope), OF_SCOPE)
}

/// A search without that condition, to show that the tests detect it.
#[cfg(feature = "sabotage")]
pub(super) fn search_everyone(
    connection: &Connection,
    query: &Query,
) -> rusqlite::Result<Vec<Hit>> {
    let mut hits = Vec::new();
    for shard in Shard::all() {
        hits.extend(search_in(connection, query, shard, "(?2 = ?2 AND ?3 = ?3)")?);
    }
    Ok(hits)
}

fn search_in(
    connection: &Connection,
    query: &Query,
    shard: Shard,
    condition: &str,
) -> rusqlite::Result<Vec<Hit>> {
    let Some(parsed) = parse(&query.text, query.words) else { return Ok(Vec::new()) };
    let mut statement = connection.prepare_cached(&format!(
        "SELECT found.rowid, bm25({shard}), session.name
         FROM {shard} AS found JOIN session ON session.id = found.rowid >> 32
         WHERE {shard} MATCH ?1 AND {condition}
         ORDER BY bm25({shard}), found.rowid LIMIT ?4 OFFSET ?5",
    ))?;
    let scope = &query.scope;
    let limit = i64::try_from(query.limit.min(HITS_MAX)).unwrap_or(i64::MAX);
    let offset = i64::try_from(query.offset).unwrap_or(i64::MAX);
    let mut rows = statement.query(params![
        parsed.expression,
        scope.tenant.as_str(),
        scope.user.as_str(),
        limit,
        offset
    ])?;
    let mut hits = Vec::new();
    while let Some(row) = rows.next()? {
        let (id, badness, name): (i64, f64, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        // Names in our own table were valid when inserted.
        let Ok(session) = SessionId::new(name) else { continue };
        let (turn, part) = turn_and_part(id);
        hits.push(Hit { session, turn, part, score: -badness });
    }
    Ok(hits)
}
