//! Copies kept beside a store for a while: stores replaced by a restore, and purged contexts.
//!
//! Erasures are applied to them too; a copy that cannot be read is removed as a whole. Backups are not among
//! them: restoring one erases again.
//!
//! Invariant: when an erasure is acknowledged, no kept copy contains what was erased.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use throughline_engine::engine::{BeforePurge, Export};
use throughline_engine::life::life_of;
use throughline_engine::store::{Found, Key, Kind, Result, Store, StoreError};
use throughline_store::files::Files;
use throughline_store::sqlite::Sqlite;
use throughline_store::url::BUSY_WAIT;
use throughline_store::{StoreUrl, disk, replace};
use uuid::Uuid;

use super::again;

/// Folder of purged contexts, in the backup folder.
const PURGED: &str = "purged";
/// Prefix of a backup of a replaced store.
pub const BEFORE: &str = "before-";
/// Format of the time in file names.
pub const TIME: &str = "%Y%m%dT%H%M%S%3fZ";

/// The copies of one store.
#[derive(Debug)]
pub struct KeptCopies {
    url: StoreUrl,
    folder: PathBuf,
    /// Contexts that were just copied and are erased next.
    purging: Mutex<BTreeSet<Key>>,
}

impl KeptCopies {
    /// The copies of the store at `url`, with backups in `folder`.
    pub fn new(url: StoreUrl, folder: impl Into<PathBuf>) -> Self {
        Self { url, folder: folder.into(), purging: Mutex::default() }
    }

    fn purging(&self) -> MutexGuard<'_, BTreeSet<Key>> {
        // Keys are inserted and removed whole, so a poisoned lock is harmless.
        self.purging.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Stores replaced by a restore.
    fn replaced(&self) -> Vec<PathBuf> {
        match &self.url {
            StoreUrl::Sqlite(path) | StoreUrl::Files(path) => replace::kept(path),
            StoreUrl::Redis(_) | StoreUrl::S3(_) => disk::all_beside(&self.folder.join(BEFORE), "")
                .into_iter()
                .filter(|path| path.extension().is_some_and(|ending| ending == "db"))
                .collect(),
            StoreUrl::Memory => Vec::new(),
        }
    }

    async fn open(&self, copy: &Path) -> Result<Arc<dyn Store>> {
        Ok(match &self.url {
            StoreUrl::Files(_) => Arc::new(Files::open(copy).await?),
            _ => Arc::new(Sqlite::open(copy, BUSY_WAIT).await?),
        })
    }

    /// Erases a thread in every copy; returns the number of records removed.
    pub async fn erase(&self, key: &Key) -> Result<u64> {
        let mut records = 0;
        for copy in self.replaced() {
            let went = match self.open(&copy).await {
                Ok(store) => store.erase(key).await.map(|went| went.records),
                Err(error) => Err(error),
            };
            records += match went {
                Ok(went) => went,
                Err(error) => remove_unreadable(&copy, &error)?,
            };
        }
        // Only sessions are purged; derived data has the same id and is erased with them.
        if key.kind == Kind::Session && !self.purging().remove(key) {
            records +=
                disk::remove(&self.purged(key)).map_err(|error| failed(&self.folder, &error))?;
        }
        Ok(records)
    }

    /// Erases single turns in every copy of the same session.
    pub async fn erase_turns(
        &self,
        key: &Key,
        life: Option<Uuid>,
        turns: &BTreeSet<u64>,
    ) -> Result<()> {
        for copy in self.replaced() {
            if let Err(error) = self.erase_turns_in(&copy, key, life, turns).await {
                remove_unreadable(&copy, &error)?;
            }
        }
        Ok(())
    }

    async fn erase_turns_in(
        &self,
        copy: &Path,
        key: &Key,
        life: Option<Uuid>,
        turns: &BTreeSet<u64>,
    ) -> Result<()> {
        let store = self.open(copy).await?;
        let Found::Head(head) = store.head(key, None).await? else {
            return Ok(());
        };
        let theirs = life_of(key, &head.bytes);
        let same = theirs.is_none() || life.is_none() || theirs == life;
        let turns: BTreeSet<u64> = turns.iter().copied().filter(|n| *n <= head.entries).collect();
        if !same || turns.is_empty() {
            return Ok(());
        }
        again::erase_turns(&store, key, &turns).await.map(drop).map_err(|error| {
            StoreError::Damaged { what: copy.display().to_string(), reason: error.to_string() }
        })
    }

    /// Removes copies older than `days`; returns the number of files removed.
    pub fn remove_older(&self, days: u32, now: Timestamp) -> std::io::Result<u64> {
        let Ok(limit) = now.checked_sub(SignedDuration::from_hours(i64::from(days) * 24)) else {
            return Ok(0);
        };
        let mut removed = 0;
        for copy in self.replaced() {
            if made_at(&copy).is_some_and(|at| at < limit) {
                removed += replace::remove_kept(&copy)?;
            }
        }
        Ok(removed + remove_older_files(&self.folder.join(PURGED), limit)?)
    }

    fn purged(&self, key: &Key) -> PathBuf {
        let scope = self.folder.join(PURGED).join(key.scope.tenant.as_str());
        scope.join(key.scope.user.as_str()).join(format!("{}.json", key.id))
    }
}

/// Removes a copy from which nothing can be erased; returns the number of files removed.
fn remove_unreadable(copy: &Path, error: &StoreError) -> Result<u64> {
    tracing::warn!(copy = %copy.display(), %error, "cannot erase from a kept copy; removing it");
    replace::remove_kept(copy).map_err(|error| failed(copy, &error))
}

fn failed(copy: &Path, error: &std::io::Error) -> StoreError {
    StoreError::Unavailable {
        what: copy.display().to_string(),
        reason: format!("cannot erase from it: {error}"),
        outcome_unknown: true,
    }
}

/// When a copy was made, from its name.
fn made_at(copy: &Path) -> Option<Timestamp> {
    let name = copy.file_name()?.to_str()?.trim_end_matches(".db");
    let (_, time) = name.rsplit_once('-')?;
    jiff::civil::DateTime::strptime("%Y%m%dT%H%M%S%fZ", &with_point(time)?)
        .ok()?
        .to_zoned(jiff::tz::TimeZone::UTC)
        .ok()
        .map(|at| at.timestamp())
}

/// The parser accepts fractions only as nanoseconds.
fn with_point(time: &str) -> Option<String> {
    let (seconds, fraction) = time.strip_suffix('Z')?.split_at_checked(15)?;
    Some(format!("{seconds}{fraction:0<9}Z"))
}

/// Removes files below `folder` last changed before `limit`, and folders that are empty then.
fn remove_older_files(folder: &Path, limit: Timestamp) -> std::io::Result<u64> {
    let mut removed = 0;
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            removed += remove_older_files(&entry.path(), limit)?;
            // Fails while the folder is not empty.
            let _ = std::fs::remove_dir(entry.path());
        } else if Timestamp::try_from(entry.metadata()?.modified()?).is_ok_and(|at| at < limit) {
            removed += disk::remove(&entry.path())?;
        }
    }
    Ok(removed)
}

/// Writes a file per purged context, which `throughline session import` accepts.
#[async_trait]
impl BeforePurge for KeptCopies {
    async fn keep(&self, key: &Key, export: &Export) -> Result<(), String> {
        if self.url == StoreUrl::Memory {
            // Data of a store in memory must not reach a disk.
            return Ok(());
        }
        let file = self.purged(key);
        let bytes = serde_json::to_vec(export).map_err(|error| error.to_string())?;
        let failed = |error: std::io::Error| format!("{}: {error}", file.display());
        tokio::task::spawn_blocking({
            let file = file.clone();
            move || {
                if let Some(folder) = file.parent() {
                    disk::make_folders(folder)?;
                }
                disk::write_whole(&file, &bytes)
            }
        })
        .await
        .map_err(|error| error.to_string())?
        .map_err(failed)?;
        self.purging().insert(key.clone());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use throughline_engine::access::Caller;
    use throughline_engine::id::SessionId;
    use throughline_engine::session::SessionHead;

    use super::*;

    fn key(id: &str) -> Key {
        let id = throughline_engine::id::ThreadId::new(id).expect("an id");
        Key { scope: Caller::local().scope, kind: Kind::Session, id }
    }

    #[tokio::test]
    async fn the_copy_of_a_purged_context_outlives_its_purge_and_no_later_erasure() {
        let folder = tempfile::tempdir().expect("a folder");
        let url = StoreUrl::Sqlite(folder.path().join("t.db"));
        let kept = KeptCopies::new(url, folder.path().join("backups"));
        let head = SessionHead::new(SessionId::new("one").expect("an id"), Timestamp::UNIX_EPOCH);
        let export = Export { format: "test".into(), head, turns: Vec::new() };
        kept.keep(&key("one"), &export).await.expect("kept");
        assert_eq!(kept.erase(&key("one")).await.expect("the purge itself"), 0);
        assert_eq!(kept.erase(&key("two")).await.expect("another one"), 0);
        let file = kept.purged(&key("one"));
        assert!(file.is_file());
        assert_eq!(kept.erase(&key("one")).await.expect("erased"), 1);
        assert!(!file.exists());
    }

    #[tokio::test]
    async fn copies_go_when_they_were_kept_long_enough() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("t.db");
        let kept = KeptCopies::new(StoreUrl::Sqlite(path.clone()), folder.path().join("backups"));
        let now = Timestamp::now();
        let day = SignedDuration::from_hours(24);
        let copy = |days| {
            let at = now - day * days;
            let copy = disk::beside(&path, &format!("{}{}", replace::KEPT, at.strftime(TIME)));
            std::fs::write(&copy, "").expect("written");
            copy
        };
        let (old, recent) = (copy(31), copy(29));
        assert_eq!(kept.remove_older(30, now).expect("removed"), 1);
        assert!(!old.exists() && recent.exists());
        let head = SessionHead::new(SessionId::new("one").expect("an id"), Timestamp::UNIX_EPOCH);
        let export = Export { format: "test".into(), head, turns: Vec::new() };
        kept.keep(&key("one"), &export).await.expect("kept");
        assert_eq!(kept.remove_older(30, now).expect("too early"), 0);
        assert_eq!(kept.remove_older(30, now + day * 31).expect("removed"), 2);
        assert!(!kept.purged(&key("one")).exists());
    }

    #[test]
    fn the_name_of_a_copy_tells_when_it_was_made() {
        let at: Timestamp = "2026-03-04T05:06:07.089Z".parse().expect("a time");
        let name = format!("/x/t.db.before-{}", at.strftime(TIME));
        assert_eq!(made_at(Path::new(&name)), Some(at));
        let name = format!("/x/before-throughline-{}.db", at.strftime(TIME));
        assert_eq!(made_at(Path::new(&name)), Some(at));
        assert_eq!(made_at(Path::new("/x/t.db.before-mine")), None);
    }
}
