//! The lock that a thread's change holds, against other processes and other tasks alike.
//!
//! It only makes read, compare and write one step; whether a change may be made is still decided by
//! the version. The operating system lets go of it when the process ends, however it ends.

use std::fs::{File, OpenOptions};
use std::io::Result;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

/// How long a change waits for its turn.
pub(super) const LOCK_WAIT: Duration = Duration::from_secs(10);
/// The first pause between two attempts; it doubles up to [`PAUSE_MAX`].
pub(super) const PAUSE_MIN: Duration = Duration::from_micros(250);
/// The longest pause between two attempts.
pub(super) const PAUSE_MAX: Duration = Duration::from_millis(8);

/// A held lock; dropping it lets go.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

/// Takes the lock at `path`, or answers `None` while another holds it.
pub(super) fn try_lock(path: &Path) -> Result<Option<Lock>> {
    let file =
        OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(Lock { _file: file })),
        Err(Errno::WOULDBLOCK) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
