//! Locks against other processes and other tasks: of a thread while it is changed, and of the whole folder
//! while it is open.
//!
//! A thread's lock only makes read, compare and write atomic; the version still decides whether a change is
//! applied. The folder's lock is shared by all who have it open; replacing the folder needs it exclusively. The
//! operating system releases both when the process ends, however it ends.

use std::fs::{File, OpenOptions};
use std::io::Result;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::replace::inode;

/// How long a change waits for the lock.
pub(super) const LOCK_WAIT: Duration = Duration::from_secs(10);
/// The first delay between attempts; it doubles up to [`PAUSE_MAX`].
pub(super) const PAUSE_MIN: Duration = Duration::from_micros(250);
/// The longest delay between attempts.
pub(super) const PAUSE_MAX: Duration = Duration::from_millis(8);

/// A held lock, released on drop.
#[derive(Debug)]
pub(super) struct Lock {
    file: File,
}

/// Takes the lock at `path` exclusively; returns `None` if it is held elsewhere.
pub(super) fn try_lock(path: &Path) -> Result<Option<Lock>> {
    try_operation(path, FlockOperation::NonBlockingLockExclusive)
}

/// Takes the lock at `path` shared; returns `None` if it is held exclusively elsewhere.
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
    /// Whether `path` still refers to the locked file.
    pub(super) fn is_file_at(&self, path: &Path) -> Result<bool> {
        Ok(inode(path)? == Some(self.file.metadata()?.ino()))
    }
}
