//! Queries.
//!
//! Invariant: heads and entries with a checksum mismatch are errors, never returned.

use std::ops::Range;

use bytes::Bytes;
use rusqlite::{Connection, OptionalExtension, params};
use throughline_engine::id::{TenantId, ThreadId, UserId};
use throughline_engine::store::{
    Found, Head, Key, Kind, ListedThread, Page, Scope, StoreError, Version,
};

use super::apply::{Failure, name_of};
use super::row::{count, integer, listed, nanoseconds, version};
use super::stored;
use crate::limit::PAGE_THREADS_MAX;

type Answer<T> = Result<T, Failure>;

pub(crate) fn damaged(what: impl Into<String>, reason: impl Into<String>) -> Failure {
    Failure::Store(StoreError::Damaged { what: what.into(), reason: reason.into() })
}

const HEAD: &str = "SELECT version, incarnation, entries, head_form, head_sum, head,
            head_base.form, head_base.bytes
     FROM place JOIN thread ON thread.place = place.id
                LEFT JOIN head_base ON head_base.thread = thread.id
     WHERE tenant = ?1 AND user = ?2 AND kind = ?3 AND name = ?4";

pub(crate) fn head(connection: &Connection, key: &Key, known: Option<Version>) -> Answer<Found> {
    let mut statement = connection.prepare_cached(HEAD)?;
    let mut rows = statement.query(name_of(key))?;
    let Some(row) = rows.next()? else { return Ok(Found::Missing) };
    let version = version(row, 0)?;
    if known == Some(version) {
        return Ok(Found::Unchanged);
    }
    let Some(bytes) = stored::head(row, 3)? else {
        return Err(damaged(format!("the head of {key}"), "checksum mismatch"));
    };
    Ok(Found::Head(Head { version, entries: count(row, 2)?, bytes }))
}

pub(crate) fn entries(connection: &Connection, key: &Key, range: Range<u64>) -> Answer<Vec<Bytes>> {
    let [tenant, user, kind, name] = name_of(key);
    let mut statement = connection.prepare_cached(
        "SELECT number, form, sum, bytes FROM entry
         WHERE thread = (SELECT thread.id FROM place JOIN thread ON thread.place = place.id
                         WHERE tenant = ?1 AND user = ?2 AND kind = ?3 AND name = ?4)
           AND number >= ?5 AND number < ?6
         ORDER BY number",
    )?;
    let (from, to) = (integer(range.start), integer(range.end));
    let mut rows = statement.query(params![tenant, user, kind, name, from, to])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let number = count(row, 0)?;
        if number != range.start + found.len() as u64 {
            return Err(damaged(
                format!("the log of {key}"),
                format!("there is a gap before entry {number}"),
            ));
        }
        let bytes = stored::entry(row, 1)?
            .ok_or_else(|| damaged(format!("entry {number} of {key}"), "checksum mismatch"))?;
        found.push(bytes);
    }
    Ok(found)
}

pub(crate) fn entries_at(
    connection: &Connection,
    key: &Key,
    numbers: &[u64],
) -> Answer<Vec<Bytes>> {
    let mut found = Vec::with_capacity(numbers.len());
    for number in numbers {
        found.extend(entries(connection, key, *number..number.saturating_add(1))?);
    }
    Ok(found)
}

/// Checks that the tables are those that queries need.
pub(crate) fn ping(connection: &Connection) -> Answer<()> {
    connection.prepare_cached(HEAD)?;
    Ok(())
}

/// A page of threads; `None` if the index that orders them has not as many as the table.
pub(crate) fn list(
    connection: &Connection,
    scope: &Scope,
    kind: Kind,
    page: &Page,
) -> Answer<Option<Vec<ListedThread>>> {
    let place: Option<i64> = connection
        .prepare_cached("SELECT id FROM place WHERE tenant = ?1 AND user = ?2 AND kind = ?3")?
        .query_row([scope.tenant.as_str(), scope.user.as_str(), kind.as_str()], |row| row.get(0))
        .optional()?;
    let Some(place) = place else { return Ok(Some(Vec::new())) };
    let (changed_at, id) = match &page.after {
        Some(mark) => (nanoseconds(mark.changed_at), Some(mark.id.as_str())),
        None => (i64::MAX, None),
    };
    let mut statement = connection.prepare_cached(
        "SELECT name, version, incarnation, entries, changed_at FROM thread
         WHERE place = ?1 AND changed_at <= ?2
           AND (?3 IS NULL OR changed_at < ?2 OR name > ?3)
         ORDER BY changed_at DESC, name LIMIT ?4",
    )?;
    let limit = page.limit.min(PAGE_THREADS_MAX) as u64;
    let mut rows = statement.query(params![place, changed_at, id, integer(limit)])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let key = Key { scope: scope.clone(), kind, id: thread_id(&row.get::<_, String>(0)?)? };
        found.push(listed(row, key)?);
    }
    // Only the last page is known to be complete, so only there a missing thread can be noticed.
    let complete = found.len() as u64 == limit || is_index_complete(connection, place)?;
    Ok(complete.then_some(found))
}

/// Whether the index for listings has every thread of a place.
fn is_index_complete(connection: &Connection, place: i64) -> Answer<bool> {
    let counted = |question: &str| -> rusqlite::Result<i64> {
        connection.prepare_cached(question)?.query_row([place], |row| row.get(0))
    };
    // The first counts by the index of names; the second counts what a listing finds and a reader finds again.
    let there = counted("SELECT count(*) FROM thread WHERE place = ?1 AND name >= ''")?;
    let listed = counted(
        "SELECT count(*) FROM thread AS listed INDEXED BY thread_recent
         WHERE place = ?1 AND changed_at <= 9223372036854775807
           AND EXISTS (SELECT 1 FROM thread AS named
                       WHERE named.place = listed.place AND named.name = listed.name)",
    )?;
    Ok(there == listed)
}

/// Iterates over places in key order and, within each, threads by name.
pub(crate) fn scan(
    connection: &Connection,
    after: Option<&Key>,
    limit: usize,
) -> Answer<Vec<ListedThread>> {
    let limit = limit.min(PAGE_THREADS_MAX);
    let [tenant, user, kind, name] = after.map_or([""; 4], name_of);
    let mut found = Vec::new();
    let mut places = connection.prepare_cached(
        "SELECT id, tenant, user, kind FROM place
         WHERE (tenant, user, kind) >= (?1, ?2, ?3) ORDER BY tenant, user, kind",
    )?;
    let mut threads = connection.prepare_cached(
        "SELECT name, version, incarnation, entries, changed_at FROM thread
         WHERE place = ?1 AND name > ?2 ORDER BY name LIMIT ?3",
    )?;
    let mut place_rows = places.query([tenant, user, kind])?;
    while let Some(row) = place_rows.next()? {
        let (scope, place_kind) = place_of(row)?;
        let same = [scope.tenant.as_str(), scope.user.as_str(), place_kind.as_str()];
        let from = if same == [tenant, user, kind] { name } else { "" };
        let left = integer((limit - found.len()) as u64);
        let mut rows = threads.query(params![row.get::<_, i64>(0)?, from, left])?;
        while let Some(row) = rows.next()? {
            let id = thread_id(&row.get::<_, String>(0)?)?;
            found.push(listed(row, Key { scope: scope.clone(), kind: place_kind, id })?);
        }
        if found.len() == limit {
            break;
        }
    }
    Ok(found)
}

/// Reads the columns `id, tenant, user, kind`.
pub(crate) fn place_of(row: &rusqlite::Row<'_>) -> Answer<(Scope, Kind)> {
    let text = |column| row.get::<_, String>(column);
    let bad = |reason: String| damaged("a row of table place", reason);
    let tenant = TenantId::new(text(1)?).map_err(|error| bad(error.to_string()))?;
    let user = UserId::new(text(2)?).map_err(|error| bad(error.to_string()))?;
    let kind = text(3)?;
    let kind = Kind::from_name(&kind).ok_or_else(|| bad(format!("unknown kind {kind:?}")))?;
    Ok((Scope { tenant, user }, kind))
}

fn thread_id(name: &str) -> Answer<ThreadId> {
    ThreadId::new(name).map_err(|error| damaged("a row of table thread", error.to_string()))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rusqlite::StatementStatus;

    use super::*;
    use crate::sqlite::schema::{Purpose, connect};

    #[test]
    fn a_query_is_planned_once_whatever_its_parameters() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("plan.db");
        let _made = connect(&path, Purpose::Write, Duration::from_secs(1)).unwrap();
        let connection = connect(&path, Purpose::Read, Duration::from_secs(1)).unwrap();
        let scope =
            Scope { tenant: TenantId::new("tenant").unwrap(), user: UserId::new("user").unwrap() };
        for name in ["one", "two", "three"] {
            let id = ThreadId::new(name).unwrap();
            let key = Key { scope: scope.clone(), kind: Kind::Session, id };
            assert!(matches!(head(&connection, &key, None), Ok(Found::Missing)));
        }
        let asked = connection.prepare_cached(HEAD).unwrap();
        assert_eq!(asked.get_status(StatementStatus::RePrepare), 0);
    }
}
