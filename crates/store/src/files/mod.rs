//! One folder per thread, in human-readable JSON.
//!
//! See [`layout`]. A commit appends to the log, syncs, and replaces the head; the head states how much of the
//! log counts. It is slower than SQLite: three syncs per commit instead of one.
//!
//! Invariant: a head file is replaced only by rename, under the thread's lock, after everything it counts
//! is on disk.

mod catalogue;
mod check;
mod commit;
mod content;
mod damage;
mod erase;
mod fault;
mod head;
mod layout;
mod line;
mod load;
mod lock;
mod log;
mod read;
mod repair;

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use bytes::Bytes;
use throughline_engine::store::{
    Change, CheckReport, Durability, Erased, Expected, Found, Key, Kind, ListedThread, Page,
    Result, Scope, Store, StoreError, StoreFacts, Version,
};

use tokio::sync::Mutex;

use crate::damage::Damage;
use crate::disk;
use crate::limit::check_sizes;
use crate::listing::page_of;
use crate::open_lock::OpenLock;
use crate::replace::{self, StoreLock};
use catalogue::Catalogue;
use fault::translate;
use layout::Layout;
pub use layout::MARKER;
pub use repair::Salvaged;

/// Threads stored in folders.
#[derive(Debug)]
pub struct Files {
    shared: Arc<Shared>,
    notes: Vec<String>,
    /// The shared lock, held while the folder is open.
    _open: lock::Lock,
    open_lock: OpenLock,
}

#[derive(Debug)]
struct Shared {
    layout: Layout,
    catalogue: Catalogue,
    damage: Damage,
    /// One per lock file: tasks of this process queue here, so that only one at a time tries the file lock.
    task_locks: Vec<Mutex<()>>,
}

impl Files {
    /// Opens the folder, creating it if it is missing. Damaged threads are counted in the facts and named in
    /// the log.
    pub async fn open(root: impl Into<PathBuf>) -> Result<Self> {
        let layout = Layout { root: root.into() };
        let task_locks = (0..layout::LOCKS).map(|_| Mutex::default()).collect();
        let (catalogue, damage) = (Catalogue::default(), Damage::default());
        let shared = Arc::new(Shared { layout, catalogue, damage, task_locks });
        let (open, reports) = run(&shared, |shared| {
            let (open, kept) = load::open_locked(&shared.layout)?;
            let mut reports: Vec<String> =
                kept.iter().map(|kept| replace::finished(kept)).collect();
            let strays = load::load(shared)?.len();
            if strays > 0 {
                reports.push(format!("ignored {strays} foreign files; the log names them"));
            }
            Ok((open, reports))
        })
        .await?;
        let mut notes = vec![
            "log synced, then head replaced by rename".to_owned(),
            "one lock file for each group of threads (flock); keep it on a local file system"
                .into(),
        ];
        notes.extend(reports);
        let open_lock = OpenLock::take(&shared.layout.open_lock());
        Ok(Self { shared, notes, _open: open, open_lock })
    }

    /// Locks the folder exclusively until the returned lock is dropped; fails while it is open elsewhere. Does
    /// nothing if it is missing.
    pub async fn lock_exclusively(root: impl Into<PathBuf>) -> Result<StoreLock> {
        let layout = Layout { root: root.into() };
        let what = layout.root.display().to_string();
        tokio::task::spawn_blocking(move || load::lock_exclusively(&layout)).await.unwrap_or_else(
            |error| {
                let reason = error.to_string();
                Err(StoreError::Unavailable { what, reason, outcome_unknown: false })
            },
        )
    }

    pub fn root(&self) -> &Path {
        &self.shared.layout.root
    }

    /// Reads every entry that the log of a damaged thread still has, in order.
    pub async fn salvage(&self, key: &Key) -> Result<Vec<Salvaged>> {
        let key = key.clone();
        self.run(move |shared| {
            repair::salvage(&shared.layout, &key).map_err(|error| translate(&key, &error))
        })
        .await
    }

    /// Moves a thread out of the way, so that its id can be used again; returns its new location.
    pub async fn set_aside(&self, key: &Key, reason: &str) -> Result<PathBuf> {
        let (named, reason) = (key.clone(), reason.to_owned());
        self.run_locked(key, move |shared| {
            let aside = repair::set_aside(&shared.layout, &named, &reason)
                .map_err(|error| translate(&named, &error))?;
            shared.catalogue.forget(&named);
            shared.damage.forget(&named);
            Ok(aside)
        })
        .await
    }

    /// Moves a thread out of the way and recreates it; returns the location of the old one.
    pub async fn rebuild(&self, key: &Key, change: Change, reason: &str) -> Result<PathBuf> {
        let (named, reason) = (key.clone(), reason.to_owned());
        self.run_locked(key, move |shared| {
            let (aside, head, stamp) = repair::rebuild(&shared.layout, &named, &change, &reason)?;
            shared.catalogue.insert(&named, &head, stamp);
            shared.damage.forget(&named);
            Ok(aside)
        })
        .await
    }

    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Shared) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        run(&self.shared, work).await
    }

    /// Runs `work` under the lock of `key`, without blocking the runtime while waiting for it.
    async fn run_locked<T: Send + 'static>(
        &self,
        key: &Key,
        work: impl Fn(&Shared) -> Result<T> + Send + Sync + 'static,
    ) -> Result<T> {
        let _turn = self.shared.task_locks[layout::lock_number(key)].lock().await;
        let path = self.shared.layout.lock(key);
        let work = Arc::new(work);
        let (started, mut pause) = (Instant::now(), lock::PAUSE_MIN);
        loop {
            let (path, work) = (path.clone(), Arc::clone(&work));
            let attempt = self.run(move |shared| {
                match lock::try_lock(&path).map_err(|error| translate(path.display(), &error))? {
                    Some(_lock) => work(shared).map(Some),
                    None => Ok(None),
                }
            });
            if let Some(answer) = attempt.await? {
                return Ok(answer);
            }
            if started.elapsed() > lock::LOCK_WAIT {
                return Err(StoreError::Unavailable {
                    what: key.to_string(),
                    reason: format!("another process has held its lock for {:?}", lock::LOCK_WAIT),
                    outcome_unknown: false,
                });
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(lock::PAUSE_MAX);
        }
    }
}

async fn run<T: Send + 'static>(
    shared: &Arc<Shared>,
    work: impl FnOnce(&Shared) -> Result<T> + Send + 'static,
) -> Result<T> {
    let shared = Arc::clone(shared);
    let what = shared.layout.root.display().to_string();
    tokio::task::spawn_blocking(move || work(&shared)).await.unwrap_or_else(|error| {
        let reason = error.to_string();
        Err(StoreError::Unavailable { what, reason, outcome_unknown: true })
    })
}

#[async_trait]
impl Store for Files {
    async fn head(&self, key: &Key, known: Option<Version>) -> Result<Found> {
        let key = key.clone();
        self.run(move |shared| {
            shared.damage.record_error(&key, read::head(&shared.layout, &key, known))
        })
        .await
    }

    async fn entries(&self, key: &Key, range: Range<u64>) -> Result<Vec<Bytes>> {
        let key = key.clone();
        self.run(move |shared| {
            shared.damage.record_error(&key, read::entries(&shared.layout, &key, range))
        })
        .await
    }

    async fn commit(&self, key: &Key, expected: Expected, change: Change) -> Result<Version> {
        check_sizes(key, &change)?;
        let named = key.clone();
        self.run_locked(key, move |shared| {
            let committed = commit::commit(&shared.layout, &named, expected, &change);
            let (head, stamp) = shared.damage.record_error(&named, committed)?;
            if !change.overwrite.is_empty() {
                // The damage may be gone now; if not, the next read finds it again.
                shared.damage.forget(&named);
            }
            Ok(shared.catalogue.insert(&named, &head, stamp).version)
        })
        .await
    }

    async fn list(&self, scope: &Scope, kind: Kind, page: Page) -> Result<Vec<ListedThread>> {
        let scope = scope.clone();
        self.run(move |shared| {
            let found = shared.catalogue.all(&shared.layout, &scope, kind, &shared.damage)?;
            Ok(page_of(found, &page))
        })
        .await
    }

    async fn scan(&self, after: Option<&Key>, limit: usize) -> Result<Vec<ListedThread>> {
        let after = after.cloned();
        self.run(move |shared| read::scan(shared, after.as_ref(), limit)).await
    }

    async fn erase(&self, key: &Key) -> Result<Erased> {
        let named = key.clone();
        self.run_locked(key, move |shared| {
            let erased = erase::erase(&shared.layout, &named)
                .map_err(|error| fault::unknown(&named, &error))?;
            shared.catalogue.forget(&named);
            shared.damage.forget(&named);
            Ok(erased)
        })
        .await
    }

    fn facts(&self) -> StoreFacts {
        StoreFacts {
            backend: "files",
            location: self.root().display().to_string(),
            durability: Durability::Fsync,
            many_writers: true,
            damaged: self.shared.damage.count(),
            notes: self.notes.clone(),
        }
    }

    fn is_alone(&self) -> bool {
        self.open_lock.is_alone()
    }

    async fn ping(&self) -> Result<()> {
        self.run(|shared| {
            let marker = shared.layout.marker();
            std::fs::metadata(&marker).map_err(|error| translate(marker.display(), &error))?;
            Ok(())
        })
        .await
    }

    async fn probe_write(&self) -> Result<()> {
        self.run(|shared| {
            let folder = shared.layout.locks();
            disk::probe(&folder).map_err(|error| fault::unwritable(&folder, &error))
        })
        .await
    }

    async fn check(&self) -> Result<CheckReport> {
        self.run(|shared| {
            check::check(&shared.layout)
                .map_err(|error| translate(shared.layout.root.display(), &error))
        })
        .await
    }
}
