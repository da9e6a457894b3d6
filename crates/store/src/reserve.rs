//! Room on the disk that is kept for erasures.
//!
//! An erasure writes before it frees anything: its record, the tombstone, the pages that it overwrites. So on a full disk
//! nothing could be erased. A file beside the store holds some room. It is removed while an erasure, or the opening of
//! the store, needs that room, and made again afterwards, as large as fits. Another process may take the room in
//! between; then the erasure says that the disk is full, and nothing was erased.
//!
//! Invariant: the room is given to erasures and to opening alone. Every other write fails with [`StoreError::Full`].

use std::fs::{self, File, OpenOptions};
use std::ops::Range;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use rustix::fs::{FallocateFlags, fallocate};
use throughline_engine::store::{
    Change, CheckReport, Erased, Expected, Found, Key, Kind, ListedThread, Page, Result, Scope,
    Store, StoreError, StoreFacts, Version,
};
use tokio::sync::Mutex;

use crate::disk;

/// Suffix of the file.
const ENDING: &str = "-reserve";
/// Enough to erase a session of about a thousand turns.
const STORE_BYTES: u64 = 4 * 1024 * 1024;
/// Sizes that are tried, from the whole down, until one fits.
const STEPS: u64 = 16;

/// The file that holds the room.
#[derive(Debug)]
pub struct Reserve {
    path: PathBuf,
    bytes: u64,
    /// Held while somebody uses the room.
    in_use: Mutex<()>,
}

impl Reserve {
    /// The reserve of the store at `path`.
    pub fn of_store(path: &Path) -> Self {
        Self::beside(path, STORE_BYTES)
    }

    /// A reserve of `bytes` beside `path`.
    pub fn beside(path: &Path, bytes: u64) -> Self {
        Self { path: disk::beside(path, ENDING), bytes, in_use: Mutex::default() }
    }

    /// Makes the file as large as fits, if it is not complete.
    pub fn make(&self) {
        let there = fs::metadata(&self.path).map_or(0, |found| found.len());
        if there >= self.bytes {
            return;
        }
        let step = usize::try_from(self.bytes / STEPS).unwrap_or(usize::MAX).max(1);
        for bytes in (there + 1..=self.bytes).rev().step_by(step) {
            match self.allocate(bytes) {
                Ok(()) => return,
                Err(error) if disk::is_full(&error) => {}
                Err(error) => {
                    tracing::debug!(path = %self.path.display(), %error, "no room can be reserved");
                    break;
                }
            }
        }
        if there == 0 {
            self.release();
        }
    }

    fn allocate(&self, bytes: u64) -> std::io::Result<()> {
        let file: File = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&self.path)?;
        match fallocate(&file, FallocateFlags::empty(), 0, bytes) {
            Ok(()) => disk::sync(&file),
            Err(error) => Err(error.into()),
        }
    }

    /// Gives the room back.
    pub fn release(&self) {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                tracing::warn!(path = %self.path.display(), %error, "the reserve cannot be removed");
            }
            _ => {}
        }
    }

    /// Repeats `work` with the room of the reserve if it fails because the disk is full.
    pub async fn with_room<T, F: Future<Output = Result<T>>>(
        &self,
        work: impl Fn() -> F,
    ) -> Result<T> {
        match work().await {
            Err(StoreError::Full { .. }) => {}
            done => return done,
        }
        let _in_use = self.in_use.lock().await;
        self.release();
        let done = work().await;
        self.make();
        done
    }
}

/// A local store with a reserve.
pub(crate) struct ReservingStore {
    inner: Arc<dyn Store>,
    reserve: Reserve,
}

impl ReservingStore {
    /// Opens a store with `open`, in the room of the reserve if there is no other.
    pub(crate) async fn open<S: Store + 'static, F: Future<Output = Result<S>>>(
        path: &Path,
        open: impl Fn() -> F,
    ) -> Result<Self> {
        let reserve = Reserve::of_store(path);
        let inner: Arc<dyn Store> = Arc::new(reserve.with_room(open).await?);
        reserve.make();
        Ok(Self { inner, reserve })
    }
}

/// Whether a change belongs to an erasure: tombstones, records that are overwritten, and the markers that move with them.
fn erases(key: &Key, change: &Change) -> bool {
    matches!(key.kind, Kind::Tombstone | Kind::Job) || !change.overwrite.is_empty()
}

#[async_trait]
impl Store for ReservingStore {
    async fn head(&self, key: &Key, known: Option<Version>) -> Result<Found> {
        self.inner.head(key, known).await
    }

    async fn entries(&self, key: &Key, range: Range<u64>) -> Result<Vec<Bytes>> {
        self.inner.entries(key, range).await
    }

    async fn entries_at(&self, key: &Key, numbers: &[u64]) -> Result<Vec<Bytes>> {
        self.inner.entries_at(key, numbers).await
    }

    async fn commit(&self, key: &Key, expected: Expected, change: Change) -> Result<Version> {
        if !erases(key, &change) {
            return self.inner.commit(key, expected, change).await;
        }
        self.reserve.with_room(|| self.inner.commit(key, expected, change.clone())).await
    }

    async fn commit_all(&self, changes: Vec<(Key, Expected, Change)>) -> Vec<Result<Version>> {
        if !changes.iter().any(|(key, _, change)| erases(key, change)) {
            return self.inner.commit_all(changes).await;
        }
        let mut answers = self.inner.commit_all(changes.clone()).await;
        for ((key, expected, change), answer) in changes.into_iter().zip(&mut answers) {
            if matches!(answer, Err(StoreError::Full { .. })) {
                *answer = self.commit(&key, expected, change).await;
            }
        }
        answers
    }

    async fn list(&self, scope: &Scope, kind: Kind, page: Page) -> Result<Vec<ListedThread>> {
        self.inner.list(scope, kind, page).await
    }

    async fn scan(&self, after: Option<&Key>, limit: usize) -> Result<Vec<ListedThread>> {
        self.inner.scan(after, limit).await
    }

    async fn erase(&self, key: &Key) -> Result<Erased> {
        self.reserve.with_room(|| self.inner.erase(key)).await
    }

    async fn erase_all(&self, keys: &[Key]) -> Result<Vec<Erased>> {
        match self.inner.erase_all(keys).await {
            Err(StoreError::Full { .. }) => {}
            done => return done,
        }
        // One by one needs the least room, and each makes some for the next.
        let mut erased = Vec::with_capacity(keys.len());
        for key in keys {
            erased.push(self.erase(key).await?);
        }
        Ok(erased)
    }

    fn facts(&self) -> StoreFacts {
        self.inner.facts()
    }

    fn is_alone(&self) -> bool {
        self.inner.is_alone()
    }

    async fn ping(&self) -> Result<()> {
        self.inner.ping().await
    }

    async fn probe_write(&self) -> Result<()> {
        self.inner.probe_write().await?;
        // There may be room again.
        self.reserve.make();
        Ok(())
    }

    async fn check(&self) -> Result<CheckReport> {
        self.inner.check().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reserve_takes_its_room_and_gives_it_back() {
        let folder = tempfile::tempdir().unwrap();
        let reserve = Reserve::beside(&folder.path().join("t.db"), 64 * 1024);
        let path = folder.path().join("t.db-reserve");
        reserve.make();
        reserve.make();
        assert_eq!(fs::metadata(&path).unwrap().len(), 64 * 1024);
        reserve.release();
        reserve.release();
        assert!(!path.exists());
    }

    #[tokio::test]
    async fn room_is_given_only_after_a_full_disk_and_only_once() {
        let folder = tempfile::tempdir().unwrap();
        let reserve = Reserve::beside(&folder.path().join("t.db"), 64 * 1024);
        let path = folder.path().join("t.db-reserve");
        reserve.make();
        let full = || StoreError::Full { what: "t.db".into(), reason: "no space".into() };
        let fits = || async { if path.exists() { Err(full()) } else { Ok(()) } };
        assert!(reserve.with_room(fits).await.is_ok() && path.exists());
        let never = || async { Err::<(), _>(full()) };
        assert!(matches!(reserve.with_room(never).await, Err(StoreError::Full { .. })));
        assert!(path.exists());
    }
}
