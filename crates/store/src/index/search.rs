//! Questions to the index.
//!
//! Invariant: the scope is part of every question's SQL, not of what is done with its answer.

use std::time::Instant;

use rusqlite::{Connection, OptionalExtension, params};
use throughline_engine::id::SessionId;
use throughline_engine::index::{HITS_MAX, Hit, Position, Query};
use throughline_engine::store::{Scope, Version};

use super::query::wanted;
use super::schema::{Shard, turn_and_part};

/// Steps of SQLite's machine between two looks at the clock.
const STEPS_BETWEEN: i32 = 1_000;

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

/// Runs `work`, which fails when it is not over at `deadline`.
pub(super) fn until<T>(
    connection: &mut Connection,
    deadline: Instant,
    work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    connection.progress_handler(STEPS_BETWEEN, Some(move || Instant::now() >= deadline))?;
    let outcome = work(connection);
    connection.progress_handler(STEPS_BETWEEN, None::<fn() -> bool>)?;
    outcome
}

/// The condition that keeps a search in its scope.
const OF_SCOPE: &str = "session.tenant = ?2 AND session.user = ?3";

pub(super) fn search(connection: &Connection, query: &Query) -> rusqlite::Result<Vec<Hit>> {
    search_in(connection, query, Shard::of(&query.scope), OF_SCOPE)
}

/// A search with the condition taken out, to see that a test notices.
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
    let Some(wanted) = wanted(&query.text, query.words) else { return Ok(Vec::new()) };
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
        wanted.expression,
        scope.tenant.as_str(),
        scope.user.as_str(),
        limit,
        offset
    ])?;
    let mut hits = Vec::new();
    while let Some(row) = rows.next()? {
        let (id, badness, name): (i64, f64, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        // A name in our own table was checked when it was put in.
        let Ok(session) = SessionId::new(name) else { continue };
        let (turn, part) = turn_and_part(id);
        hits.push(Hit { session, turn, part, score: -badness });
    }
    Ok(hits)
}
