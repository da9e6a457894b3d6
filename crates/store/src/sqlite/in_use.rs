//! Exclusive access to the file.
//!
//! In WAL mode, a connection that has read holds a shared lock on the file until it is closed, and leaving WAL
//! mode requires an exclusive lock. So switching the journal mode shows whether another connection is open. It
//! also checkpoints the WAL, so that the file is complete on its own.
//!
//! Invariant: stored data does not change, whatever the outcome.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, Error, ErrorCode, OpenFlags};
use throughline_engine::store::Result;

use crate::replace::{self, StoreLock};

/// How long to wait for another command that is about to end.
const PATIENCE: Duration = Duration::from_millis(500);

/// Locks the file exclusively; fails while another connection, in any process, has it open. If the file is
/// missing, damaged or not a database, nothing is locked.
pub(super) fn lock_exclusively(path: &Path) -> Result<StoreLock> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let taken = Connection::open_with_flags(path, flags).and_then(|connection| {
        connection.busy_timeout(PATIENCE)?;
        connection.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(()))?;
        connection.execute_batch("BEGIN EXCLUSIVE")?;
        Ok(connection)
    });
    match taken {
        Ok(connection) => Ok(StoreLock::new(connection)),
        Err(Error::SqliteFailure(failure, _))
            if matches!(failure.code, ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) =>
        {
            Err(replace::in_use(path))
        }
        Err(_) => Ok(StoreLock::none()),
    }
}
