//! Questions to the index.
//!
//! Invariant: the scope is part of every question's SQL, not of what is done with its answer.

use rusqlite::{Connection, OptionalExtension, params};
use throughline_engine::id::SessionId;
use throughline_engine::index::{HITS_MAX, Hit, Position, Query, Snippet};
use throughline_engine::store::{Scope, Version};

use super::query::expression;
use super::schema::turn_and_part;

/// Stands before a found word in what FTS5 answers; taken out of texts before they are indexed.
pub(super) const MARK_OPEN: char = '\u{2}';
/// Stands after a found word.
pub(super) const MARK_CLOSE: char = '\u{3}';
/// Words in a snippet.
const SNIPPET_WORDS: u32 = 24;

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

/// The condition that keeps a search in its scope.
const OF_SCOPE: &str = "session.tenant = ?2 AND session.user = ?3";

pub(super) fn search(connection: &Connection, query: &Query) -> rusqlite::Result<Vec<Hit>> {
    search_where(connection, query, OF_SCOPE)
}

/// A search with the condition taken out, to see that a test notices.
#[cfg(feature = "sabotage")]
pub(super) fn search_everyone(
    connection: &Connection,
    query: &Query,
) -> rusqlite::Result<Vec<Hit>> {
    search_where(connection, query, "(?2 = ?2 AND ?3 = ?3)")
}

fn search_where(
    connection: &Connection,
    query: &Query,
    condition: &str,
) -> rusqlite::Result<Vec<Hit>> {
    let Some(expression) = expression(&query.text, query.words) else { return Ok(Vec::new()) };
    let mut statement = connection.prepare_cached(&format!(
        "SELECT found.rowid, bm25(found), session.name
         FROM found JOIN session ON session.id = found.rowid >> 32
         WHERE found MATCH ?1 AND {condition}
         ORDER BY bm25(found), found.rowid LIMIT ?4 OFFSET ?5",
    ))?;
    let scope = &query.scope;
    let limit = i64::try_from(query.limit.min(HITS_MAX)).unwrap_or(i64::MAX);
    let offset = i64::try_from(query.offset).unwrap_or(i64::MAX);
    let mut rows = statement.query(params![
        expression,
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
        let snippet = snippet(connection, &expression, id)?;
        hits.push(Hit { session, turn, part, score: -badness, snippet });
    }
    Ok(hits)
}

/// Asked for the hits of one page only: cutting a snippet costs more than finding the document.
fn snippet(connection: &Connection, expression: &str, id: i64) -> rusqlite::Result<Snippet> {
    let marked: String = connection
        .prepare_cached(
            "SELECT snippet(found, 0, char(2), char(3), '…', ?3) FROM found
             WHERE found MATCH ?1 AND rowid = ?2",
        )?
        .query_row(params![expression, id, SNIPPET_WORDS], |row| row.get(0))?;
    Ok(unmark(&marked))
}

/// Turns FTS5's signs into ranges.
fn unmark(marked: &str) -> Snippet {
    let mut snippet = Snippet { text: String::with_capacity(marked.len()), marks: Vec::new() };
    let mut open = 0;
    for character in marked.chars() {
        match character {
            MARK_OPEN => open = snippet.text.len(),
            MARK_CLOSE => snippet.marks.push(open..snippet.text.len()),
            other => snippet.text.push(other),
        }
    }
    snippet
}
