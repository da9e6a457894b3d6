//! Connections for short queries that run on the caller's thread.
//!
//! Reading a head touches a page or two that are nearly always cached: a few microseconds of work, much less
//! than a round trip to a reader thread. Longer queries go to the [workers](super::worker).
//!
//! Invariant: never blocks. If no connection is free or the file is busy, the caller falls back to a worker.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode};

use super::apply::Failure;

/// The connections not in use.
#[derive(Debug)]
pub(super) struct IdleConnections(Mutex<Vec<Connection>>);

impl IdleConnections {
    /// Disables waiting for locks on these connections.
    pub(super) fn new(connections: Vec<Connection>) -> rusqlite::Result<Self> {
        for connection in &connections {
            connection.busy_timeout(Duration::ZERO)?;
        }
        Ok(Self(Mutex::new(connections)))
    }

    /// Runs a short query; returns `None` if that would have to wait.
    pub(super) fn try_query<T>(
        &self,
        query: impl FnOnce(&Connection) -> Result<T, Failure>,
    ) -> Option<Result<T, Failure>> {
        let connection = self.free().pop()?;
        let answer = query(&connection);
        self.free().push(connection);
        match answer {
            Err(Failure::Sqlite(error)) if is_busy(&error) => None,
            answer => Some(answer),
        }
    }

    fn free(&self) -> MutexGuard<'_, Vec<Connection>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query_one(idle: &IdleConnections, query: &str) -> Option<i64> {
        let answer =
            idle.try_query(|connection| Ok(connection.query_row(query, [], |row| row.get(0))?));
        answer.map(|answer| answer.unwrap())
    }

    #[test]
    fn a_nested_query_finds_no_free_connection_and_does_not_wait() {
        let idle = IdleConnections::new(vec![Connection::open_in_memory().unwrap()]).unwrap();
        let inner = idle.try_query(|_| Ok(query_one(&idle, "SELECT 1"))).unwrap().unwrap();
        assert_eq!(inner, None);
        assert_eq!(query_one(&idle, "SELECT 2"), Some(2));
    }

    #[test]
    fn a_busy_file_returns_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("busy.db");
        let holder = Connection::open(&path).unwrap();
        holder.execute_batch("CREATE TABLE t (n); INSERT INTO t VALUES (7)").unwrap();
        let idle = IdleConnections::new(vec![Connection::open(&path).unwrap()]).unwrap();
        holder.execute_batch("BEGIN EXCLUSIVE").unwrap();
        assert_eq!(query_one(&idle, "SELECT n FROM t"), None);
        holder.execute_batch("COMMIT").unwrap();
        assert_eq!(query_one(&idle, "SELECT n FROM t"), Some(7));
    }
}
