//! Restores a backup.
//!
//! The copy is made beside the store, read completely, and cleared of what was erased since; only then does it
//! replace the store. A local store is replaced in one step; a remote one thread by thread, marked as
//! unfinished until then. The replaced store is kept.
//!
//! Invariant: nothing that was erased before the restore can be read after it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use throughline_engine::store::{Found, Key, Kind, Store};
use throughline_store::copy::{Compare, copy};
use throughline_store::files::Files;
use throughline_store::sqlite::Sqlite;
use throughline_store::{OpenOptions, StoreUrl, disk, index, replace};

use super::again::{self, ErasedAgain};
use super::erasures::{ErasureLog, Erasures};
use super::kept;
use super::make::{self, remove};
use super::unfinished::{self, FilledBy, UnfinishedCopy};
use crate::access::Keys;
use crate::clock;
use crate::failure::Failure;

/// Threads per listing.
const STRETCH: usize = 200;
/// File in the backup folder from which a remote store is filled.
const FILLING: &str = "restoring.db";

/// What to restore, and where.
pub struct Restore<'a> {
    /// The backup file.
    pub file: &'a Path,
    /// The store to replace.
    pub url: &'a StoreUrl,
    /// Options to open it.
    pub options: &'a OpenOptions,
    /// Folder of backups and of the erasure log.
    pub folder: &'a Path,
    /// Whether a store with data may be replaced.
    pub force: bool,
    /// Current time.
    pub at: Timestamp,
}

/// Result of a restore.
#[derive(Debug, serde::Serialize)]
pub struct Restored {
    /// Threads in the backup.
    pub threads: u64,
    /// Log entries in the backup.
    pub entries: u64,
    /// What was erased again.
    pub erased_again: ErasedAgain,
    /// Where the replaced store is kept.
    pub kept: Option<PathBuf>,
    /// Why the replaced store's erasures could not be read.
    pub unread: Option<String>,
    /// Unreadable lines of the erasure log; what they erased may be back.
    pub log_problems: Vec<String>,
}

/// What the replaced store contains.
#[derive(Default)]
struct ReplacedStore {
    there: bool,
    unread: Option<String>,
    erasures: Erasures,
    revoked: Vec<String>,
}

/// Revokes keys that were revoked since the backup.
async fn revoke(store: &Arc<dyn Store>, revoked: &[String]) -> Result<(), Failure> {
    let keys = Keys::new(store.clone(), clock::system());
    for key in keys.list().await? {
        if key.revoked_at.is_none() && revoked.contains(&key.id) {
            keys.revoke(&key.id).await?;
        }
    }
    Ok(())
}

impl Restore<'_> {
    /// Runs the restore.
    pub async fn run(self) -> Result<Restored, Failure> {
        if *self.url == StoreUrl::Memory {
            let what = "a store in memory cannot be restored from outside";
            return Err(Failure::wrong_use(what, "name a store with --store"));
        }
        if !self.file.is_file() {
            let what = format!("there is no backup {}", self.file.display());
            return Err(Failure::new(what, "see the folder in [backups]"));
        }
        let mut before = self.look().await?;
        if before.there && !self.force {
            let what = format!("{} is not empty", self.url);
            return Err(Failure::new(what, "add --force to replace it; a copy is kept"));
        }
        // A running server would go on writing to the moved store.
        let _held = throughline_store::lock_exclusively(self.url).await?;
        let beside = self.file.parent().filter(|folder| !folder.as_os_str().is_empty());
        let beside = beside.unwrap_or(Path::new("."));
        let mut log_problems = Vec::new();
        for folder in BTreeSet::from([self.folder, beside]) {
            let log = ErasureLog::new(folder);
            let damaged = again::of_log(&log, &mut before.erasures)?;
            let told = |line| format!("{} line {line} is unreadable", log.path().display());
            log_problems.extend(damaged.into_iter().map(told));
        }
        let work = self.work();
        remove(&work);
        let unread = before.unread.take();
        let restored = self.stage_and_place(&work, before).await;
        if !matches!(self.url, StoreUrl::Redis(_) | StoreUrl::S3(_)) || restored.is_ok() {
            remove(&work);
        }
        restored.map(|restored| Restored { unread, log_problems, ..restored })
    }

    /// Reads erasures and revoked keys from the store to replace.
    async fn look(&self) -> Result<ReplacedStore, Failure> {
        let mut before = ReplacedStore::default();
        if !throughline_store::exists(self.url)? {
            return Ok(before);
        }
        match (self.read(&mut before).await, self.url) {
            (Ok(()), _) => {}
            // Repairing a damaged file is what a restore is for; the log still names what was erased.
            (Err(error), StoreUrl::Sqlite(_) | StoreUrl::Files(_)) => {
                before.there = true;
                before.unread = Some(error.to_string());
            }
            (Err(error), _) => return Err(error),
        }
        Ok(before)
    }

    async fn read(&self, before: &mut ReplacedStore) -> Result<(), Failure> {
        let store = throughline_store::open(self.url, self.options).await?;
        before.there = !store.scan(None, 1).await?.is_empty();
        again::of_store(store.as_ref(), &mut before.erasures).await?;
        let keys = Keys::new(store, clock::system()).list().await?;
        let revoked = keys.into_iter().filter(|key| key.revoked_at.is_some());
        before.revoked = revoked.map(|key| key.id).collect();
        Ok(())
    }

    /// Path of the working copy.
    fn work(&self) -> PathBuf {
        match self.url {
            StoreUrl::Sqlite(path) | StoreUrl::Files(path) => {
                disk::beside(&replace::staged(path), ".work")
            }
            StoreUrl::Memory | StoreUrl::Redis(_) | StoreUrl::S3(_) => self.folder.join(FILLING),
        }
    }

    async fn stage_and_place(
        &self,
        work: &Path,
        before: ReplacedStore,
    ) -> Result<Restored, Failure> {
        if let Some(folder) = work.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            disk::make_folders(folder)?;
        }
        let copied = Sqlite::copy(self.file, work, self.options.busy_wait, |_| {}).await?;
        let store: Arc<dyn Store> = Arc::new(Sqlite::open(work, self.options.busy_wait).await?);
        let erased_again = again::erase(&store, before.erasures).await?;
        revoke(&store, &before.revoked).await?;
        // The index is derived; one built from a later state would hide the restored one. It is cleared before
        // the store changes, so that an interrupted restore leaves it incomplete, never wrong.
        index::open_index(self.url, self.options).await?.clear().await?;
        let kept = match self.url {
            StoreUrl::Sqlite(path) => {
                drop(store);
                // The replacement is a single file, without a WAL.
                let staged = replace::staged(path);
                remove(&staged);
                Sqlite::copy(work, staged, self.options.busy_wait, |_| {}).await?;
                self.switch(path)?
            }
            StoreUrl::Files(root) => {
                let staged = replace::staged(root);
                disk::remove(&staged)?;
                all_of(store.as_ref(), &Files::open(staged).await?, self.url).await?;
                self.switch(root)?
            }
            StoreUrl::Memory | StoreUrl::Redis(_) | StoreUrl::S3(_) => {
                self.refill(work, store.as_ref(), before.there).await?
            }
        };
        Ok(Restored {
            threads: copied.threads,
            entries: copied.entries,
            erased_again,
            kept: kept.filter(|_| before.there),
            unread: None,
            log_problems: Vec::new(),
        })
    }

    /// Replaces a local store with the staged one.
    fn switch(&self, path: &Path) -> Result<Option<PathBuf>, Failure> {
        let ending = format!("{}{}", replace::KEPT, self.at.strftime(kept::TIME));
        replace::switch(path, &ending)?;
        unfinished::forget(self.url)?;
        Ok(Some(disk::beside(path, &ending)))
    }

    /// Fills a remote store from the copy, after backing it up.
    async fn refill(
        &self,
        work: &Path,
        from: &dyn Store,
        there: bool,
    ) -> Result<Option<PathBuf>, Failure> {
        let kept = self.folder.join(format!("{}{}", kept::BEFORE, make::file_name(self.at)));
        if there {
            make::make(self.url, self.options, &kept, |_, _| {}).await?;
        }
        let from_file = work.canonicalize()?.display().to_string();
        let filling = UnfinishedCopy { by: FilledBy::Restore, from: from_file, since: self.at };
        let to = unfinished::open(self.url, self.options, &filling).await?;
        fill(self.url, from, to.as_ref()).await?;
        Ok(Some(kept))
    }
}

/// Continues an interrupted restore into `store`, if its copy still exists.
pub async fn resume(
    url: &StoreUrl,
    options: &OpenOptions,
    store: &dyn Store,
    filling: &UnfinishedCopy,
) -> Result<(), Failure> {
    let work = Path::new(&filling.from);
    if filling.by != FilledBy::Restore || !work.is_file() {
        return Err(unfinished::refusal(url, filling));
    }
    tracing::warn!(store = %url, since = %filling.since, "continuing an interrupted restore");
    let from = Sqlite::open(work, options.busy_wait).await?;
    fill(url, &from, store).await?;
    drop(from);
    remove(work);
    Ok(())
}

/// Copies every thread, erases those not in the copy, and marks the store as complete.
async fn fill(url: &StoreUrl, from: &dyn Store, to: &dyn Store) -> Result<(), Failure> {
    all_of(from, to, url).await?;
    let mut after: Option<Key> = None;
    loop {
        let listed = to.scan(after.as_ref(), STRETCH).await?;
        let Some(last) = listed.last() else { break };
        after = Some(last.key.clone());
        // Tombstones stay for the next restore, and the mark until everything is done.
        let ours = listed.iter().map(|listed| &listed.key);
        for key in ours.filter(|key| key.kind != Kind::Tombstone && !unfinished::is_note(key)) {
            if from.head(key, None).await? == Found::Missing {
                to.erase(key).await?;
            }
        }
    }
    unfinished::end(url, to).await
}

/// Copies every thread, or fails with the first problem.
async fn all_of(from: &dyn Store, to: &dyn Store, url: &StoreUrl) -> Result<(), Failure> {
    let report = copy(from, to, Compare::Quickly, |_| {}).await?;
    match report.problems.first() {
        None => Ok(()),
        Some(problem) => Err(Failure::new(
            format!("{url} was not restored completely: {problem}"),
            "run throughline check --store sqlite:BACKUP for details",
        )),
    }
}
