//! Bringing a backup back.
//!
//! The copy is made beside the store, read whole, and cleared of what was erased since; only then does it
//! take the store's place. What was there before is kept.
//!
//! Invariant: nothing that was erased before the restore can be read after it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use throughline_engine::store::{Kind, Store};
use throughline_store::copy::{Compare, copy};
use throughline_store::sqlite::Sqlite;
use throughline_store::{OpenOptions, StoreUrl, index};

use super::again::{self, ErasedAgain};
use super::erasures::{ErasureLog, Graves};
use super::make::{self, beside, remove};
use crate::access::Keys;
use crate::failure::Failure;

/// Threads erased between two listings.
const STRETCH: usize = 200;

/// What to bring back, and where.
pub struct Restore<'a> {
    /// The backup.
    pub file: &'a Path,
    /// The store.
    pub url: &'a StoreUrl,
    /// How it is opened.
    pub options: &'a OpenOptions,
    /// Where backups and the log of erasures are.
    pub folder: &'a Path,
    /// Whether a store that holds something may be replaced.
    pub force: bool,
    /// Now.
    pub at: Timestamp,
}

/// What was brought back.
#[derive(Debug, serde::Serialize)]
pub struct Restored {
    /// Threads that the backup had.
    pub threads: u64,
    /// Log entries that it had.
    pub entries: u64,
    /// What was erased again.
    pub erased_again: ErasedAgain,
    /// Where the store that was replaced is kept.
    pub kept: Option<PathBuf>,
    /// Why the replaced store could not say what was erased from it.
    pub unread: Option<String>,
}

/// What the store that is replaced could tell.
#[derive(Default)]
struct Before {
    there: bool,
    unread: Option<String>,
    graves: Graves,
    revoked: Vec<String>,
}

/// Keys that were revoked since the backup stay revoked.
async fn revoke(store: &Arc<dyn Store>, revoked: &[String]) -> Result<(), Failure> {
    let keys = Keys::new(store.clone(), crate::assemble::clock());
    for key in keys.list().await? {
        if key.revoked_at.is_none() && revoked.contains(&key.id) {
            keys.revoke(&key.id).await?;
        }
    }
    Ok(())
}

impl Restore<'_> {
    /// Does it.
    pub async fn run(self) -> Result<Restored, Failure> {
        if *self.url == StoreUrl::Memory {
            let what = "a store in memory cannot be restored from outside";
            return Err(Failure::wrong_use(what, "name a store with --store"));
        }
        if !self.file.is_file() {
            let what = format!("there is no backup {}", self.file.display());
            return Err(Failure::new(what, "backups lie in the folder of [backups]"));
        }
        self.refuse_while_open().await?;
        let mut before = self.look().await?;
        if before.there && !self.force {
            let what = format!("{} is not empty", self.url);
            return Err(Failure::new(what, "add --force to replace it; what is there is kept"));
        }
        again::of_log(&ErasureLog::new(self.folder), &mut before.graves)?;
        if let Some(folder) = self.file.parent() {
            again::of_log(&ErasureLog::new(folder), &mut before.graves)?;
        }
        let staged = self.staged();
        remove(&staged);
        let restored = self.stage_and_place(&staged, &before).await;
        remove(&staged);
        restored.map(|restored| Restored { unread: before.unread, ..restored })
    }

    /// A server that has the file open would go on writing into what was moved away.
    async fn refuse_while_open(&self) -> Result<(), Failure> {
        let StoreUrl::Sqlite(path) = self.url else { return Ok(()) };
        if !Sqlite::is_open_elsewhere(path).await {
            return Ok(());
        }
        let what = format!("{} is open in another process", self.url);
        Err(Failure::new(what, "stop the server that uses it, then restore"))
    }

    /// What the store that is to be replaced can tell.
    async fn look(&self) -> Result<Before, Failure> {
        let mut before = Before::default();
        if crate::assemble::must_exist(self.url).is_err() {
            return Ok(before);
        }
        match (self.read(&mut before).await, self.url) {
            (Ok(()), _) => {}
            // A damaged file is what a restore is for; the log still tells what was erased.
            (Err(error), StoreUrl::Sqlite(_)) => {
                before.there = true;
                before.unread = Some(error.to_string());
            }
            (Err(error), _) => return Err(error),
        }
        Ok(before)
    }

    async fn read(&self, before: &mut Before) -> Result<(), Failure> {
        let store = throughline_store::open(self.url, self.options).await?;
        before.there = !store.scan(None, 1).await?.is_empty();
        again::of_store(store.as_ref(), &mut before.graves).await?;
        let keys = Keys::new(store, crate::assemble::clock()).list().await?;
        let revoked = keys.into_iter().filter(|key| key.revoked_at.is_some());
        before.revoked = revoked.map(|key| key.id).collect();
        Ok(())
    }

    fn staged(&self) -> PathBuf {
        match self.url {
            StoreUrl::Sqlite(path) => beside(path, ".restoring"),
            _ => self.folder.join("restoring.db"),
        }
    }

    async fn stage_and_place(&self, staged: &Path, before: &Before) -> Result<Restored, Failure> {
        if let Some(folder) = staged.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder)?;
        }
        let copied = Sqlite::copy(self.file, staged, self.options.busy_wait, |_| {}).await?;
        let store: Arc<dyn Store> = Arc::new(Sqlite::open(staged, self.options.busy_wait).await?);
        let erased_again = again::erase(&store, &before.graves).await?;
        revoke(&store, &before.revoked).await?;
        let kept = match self.url {
            StoreUrl::Sqlite(path) => {
                drop(store);
                self.replace(staged, path, before.there).await?
            }
            _ => self.refill(store.as_ref(), before.there).await?,
        };
        // The index is derived; one that knows a later state would hide the restored one.
        index::open_index(self.url, self.options).await?.clear().await?;
        Ok(Restored {
            threads: copied.threads,
            entries: copied.entries,
            erased_again,
            kept,
            unread: None,
        })
    }

    /// Moves the old file away and the new one to its place.
    async fn replace(
        &self,
        staged: &Path,
        path: &Path,
        there: bool,
    ) -> Result<Option<PathBuf>, Failure> {
        // A file of its own, without a WAL beside it, takes the place.
        let whole = beside(path, ".restored");
        remove(&whole);
        Sqlite::copy(staged, &whole, self.options.busy_wait, |_| {}).await?;
        let ending = format!(".before-{}", self.at.strftime("%Y%m%dT%H%M%S%3fZ"));
        let kept = beside(path, &ending);
        for part in ["", "-wal", "-shm"] {
            let old = beside(path, part);
            if old.exists() {
                std::fs::rename(&old, beside(&kept, part))?;
            }
        }
        std::fs::rename(&whole, path)?;
        Ok(there.then_some(kept))
    }

    /// Empties a store that is no file of ours, after a backup of it, and fills it.
    async fn refill(&self, from: &dyn Store, there: bool) -> Result<Option<PathBuf>, Failure> {
        let kept = self.folder.join(format!("before-{}", make::file_name(self.at)));
        if there {
            make::make(self.url, self.options, &kept, |_, _| {}).await?;
        }
        let to = throughline_store::open(self.url, self.options).await?;
        let mut after = None;
        loop {
            let listed = to.scan(after.as_ref(), STRETCH).await?;
            let Some(last) = listed.last() else { break };
            after = Some(last.key.clone());
            // Tombstones stay: if this is cut short, the next restore still knows them.
            for listed in listed.iter().filter(|listed| listed.key.kind != Kind::Tombstone) {
                to.erase(&listed.key).await?;
            }
        }
        let report = copy(from, to.as_ref(), Compare::Quickly, |_| {}).await?;
        match report.problems.first() {
            None => Ok(there.then_some(kept)),
            Some(problem) => Err(Failure::new(
                format!("{} was not restored whole: {problem}", self.url),
                format!("what was there is in {}", kept.display()),
            )),
        }
    }
}
