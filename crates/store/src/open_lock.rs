//! Which other processes have a local store open.
//!
//! Each holds a shared lock on a file beside the store; the operating system releases it however a process ends.
//! So a server that starts after a crash knows at once that the calls of the one before it were abandoned.
//!
//! Invariant: a store that cannot tell is not alone.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The shared lock, held while the store is open.
#[derive(Debug)]
pub(crate) struct OpenLock {
    /// `None` if the file cannot be locked: a folder that is read-only.
    file: Option<Mutex<File>>,
}

impl OpenLock {
    pub(crate) fn take(path: &Path) -> Self {
        let options =
            OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path);
        let file = options.and_then(|file| file.lock_shared().map(|()| file));
        let file = file.inspect_err(
            |error| tracing::warn!(path = %path.display(), %error, "cannot lock the store's file"),
        );
        Self { file: file.ok().map(Mutex::new) }
    }

    /// Whether no other process has the store open now.
    pub(crate) fn is_alone(&self) -> bool {
        let Some(file) = &self.file else { return false };
        let file = file.lock().unwrap_or_else(PoisonError::into_inner);
        // A shared lock becomes exclusive only if nobody else has one. It must be shared again afterwards.
        let alone = file.unlock().is_ok() && file.try_lock().is_ok();
        let shared = (!alone || file.unlock().is_ok()) && file.lock_shared().is_ok();
        alone && shared
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_is_alone_until_another_opens_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.lock");
        let first = OpenLock::take(&path);
        assert!(first.is_alone() && first.is_alone());
        let second = OpenLock::take(&path);
        assert!(!first.is_alone() && !second.is_alone());
        drop(first);
        assert!(second.is_alone());
        assert!(!OpenLock::take(&folder.path().join("missing/store.lock")).is_alone());
    }
}
