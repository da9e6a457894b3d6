//! Having the file for oneself alone.
//!
//! In WAL mode every connection that has read holds a shared lock on the file for as long as it lives, and
//! leaving WAL mode needs the file for oneself alone. So asking to leave it tells whether somebody has it open,
//! and also moves the WAL into the file, which is then whole without it.
//!
//! Invariant: what is stored stays as it is, whatever the answer.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, Error, ErrorCode, OpenFlags};
use throughline_engine::store::Result;

use crate::replace::{self, Held};

/// How long a command that is just ending is waited for.
const PATIENCE: Duration = Duration::from_millis(500);

/// Takes the file for oneself alone; refused while another process, or another part of this one, has it open.
/// A file that is damaged, missing or no database is open to nobody, and nothing is held.
pub(super) fn hold(path: &Path) -> Result<Held> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let taken = Connection::open_with_flags(path, flags).and_then(|connection| {
        connection.busy_timeout(PATIENCE)?;
        connection.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(()))?;
        connection.execute_batch("BEGIN EXCLUSIVE")?;
        Ok(connection)
    });
    match taken {
        Ok(connection) => Ok(Held::by(connection)),
        Err(Error::SqliteFailure(failure, _))
            if matches!(failure.code, ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) =>
        {
            Err(replace::in_use(path))
        }
        Err(_) => Ok(Held::nothing()),
    }
}
