//! Connections for questions that are answered on the spot, without a thread of their own.
//!
//! A head is a page or two that are nearly always in memory: a few microseconds of work, where the way to
//! a reader's thread and back takes many times that. Longer questions go to the [workers](super::worker).
//!
//! Invariant: nobody waits here. Who finds no connection free, or the file busy, asks a worker.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode};

use super::apply::Refusal;

/// The connections that nobody is using.
#[derive(Debug)]
pub(super) struct IdleConnections(Mutex<Vec<Connection>>);

impl IdleConnections {
    /// Uses these connections, none of which waits for a lock from now on.
    pub(super) fn new(connections: Vec<Connection>) -> rusqlite::Result<Self> {
        for connection in &connections {
            connection.busy_timeout(Duration::ZERO)?;
        }
        Ok(Self(Mutex::new(connections)))
    }

    /// The answer to a short question; `None` where it cannot be had without waiting.
    pub(super) fn ask<T>(
        &self,
        question: impl FnOnce(&Connection) -> Result<T, Refusal>,
    ) -> Option<Result<T, Refusal>> {
        let connection = self.free().pop()?;
        let answer = question(&connection);
        self.free().push(connection);
        match answer {
            Err(Refusal::Sqlite(error)) if is_busy(&error) => None,
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

    fn asked(idle: &IdleConnections, question: &str) -> Option<i64> {
        let answer =
            idle.ask(|connection| Ok(connection.query_row(question, [], |row| row.get(0))?));
        answer.map(|answer| answer.unwrap())
    }

    #[test]
    fn a_question_within_a_question_finds_nothing_free_and_does_not_wait() {
        let idle = IdleConnections::new(vec![Connection::open_in_memory().unwrap()]).unwrap();
        let inner = idle.ask(|_| Ok(asked(&idle, "SELECT 1"))).unwrap().unwrap();
        assert_eq!(inner, None);
        assert_eq!(asked(&idle, "SELECT 2"), Some(2));
    }

    #[test]
    fn a_busy_file_is_for_somebody_who_may_wait() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("busy.db");
        let holder = Connection::open(&path).unwrap();
        holder.execute_batch("CREATE TABLE t (n); INSERT INTO t VALUES (7)").unwrap();
        let idle = IdleConnections::new(vec![Connection::open(&path).unwrap()]).unwrap();
        holder.execute_batch("BEGIN EXCLUSIVE").unwrap();
        assert_eq!(asked(&idle, "SELECT n FROM t"), None);
        holder.execute_batch("COMMIT").unwrap();
        assert_eq!(asked(&idle, "SELECT n FROM t"), Some(7));
    }
}
