//! Locks against other processes and other tasks alike: of a thread while it is changed, and of the folder as a
//! whole while it is open.
//!
//! A thread's lock only makes read, compare and write one step; whether a change may be made is still decided by
//! the version. The folder's is shared by all who have it open, and whoever replaces it needs it alone. The
//! operating system lets go of both when the process ends, however it ends.

use std::fs::{File, OpenOptions};
use std::io::Result;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::replace::inode;

/// How long a change waits for its turn.
pub(super) const LOCK_WAIT: Duration = Duration::from_secs(10);
/// The first pause between two attempts; it doubles up to [`PAUSE_MAX`].
pub(super) const PAUSE_MIN: Duration = Duration::from_micros(250);
/// The longest pause between two attempts.
pub(super) const PAUSE_MAX: Duration = Duration::from_millis(8);

/// A held lock; dropping it lets go.
#[derive(Debug)]
pub(super) struct Lock {
    file: File,
}

/// Takes the lock at `path`, or answers `None` while another holds it.
pub(super) fn try_lock(path: &Path) -> Result<Option<Lock>> {
    try_operation(path, FlockOperation::NonBlockingLockExclusive)
}

/// The same for a lock that others may share.
pub(super) fn try_share(path: &Path) -> Result<Option<Lock>> {
    try_operation(path, FlockOperation::NonBlockingLockShared)
}

fn try_operation(path: &Path, operation: FlockOperation) -> Result<Option<Lock>> {
    let file =
        OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)?;
    match flock(&file, operation) {
        Ok(()) => Ok(Some(Lock { file })),
        Err(Errno::WOULDBLOCK) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

impl Lock {
    /// Whether what lies at `path` now is still the file that is locked.
    pub(super) fn is_of(&self, path: &Path) -> Result<bool> {
        Ok(inode(path)? == Some(self.file.metadata()?.ino()))
    }
}
