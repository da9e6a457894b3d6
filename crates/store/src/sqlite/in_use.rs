//! Whether somebody else has the file open.
//!
//! In WAL mode every connection that has read holds a shared lock on the file for as long as it lives, and
//! leaving WAL mode needs the file for oneself alone. So asking to leave it tells; it is entered again at once.
//!
//! Invariant: what is stored stays as it is, whatever the answer.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, Error, ErrorCode, OpenFlags};

/// How long a command that is just ending is waited for.
const PATIENCE: Duration = Duration::from_millis(500);

/// Whether another process, or another part of this one, has it open. A file that is damaged, missing or no
/// database is open to nobody.
pub(super) fn is_open_elsewhere(path: &Path) -> bool {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let Ok(connection) = Connection::open_with_flags(path, flags) else { return false };
    if connection.busy_timeout(PATIENCE).is_err() {
        return false;
    }
    match journal(&connection, "DELETE") {
        Ok(_) => {
            // The next one who opens it would do the same; a failure here changes nothing for them.
            let _ = journal(&connection, "WAL");
            false
        }
        Err(Error::SqliteFailure(failure, _)) => {
            matches!(failure.code, ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
        }
        Err(_) => false,
    }
}

fn journal(connection: &Connection, mode: &str) -> rusqlite::Result<String> {
    connection.pragma_update_and_check(None, "journal_mode", mode, |row| row.get(0))
}
