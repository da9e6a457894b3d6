//! Makes backups, and removes old ones.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use throughline_engine::store::{Store, StoreError};
use throughline_store::copy::{Compare, copy};
use throughline_store::sqlite::Sqlite;
use throughline_store::{OpenOptions, StoreUrl, disk};

use crate::failure::Failure;

/// Prefix of automatic file names.
const PREFIX: &str = "throughline-";
/// Extension of automatic file names.
const ENDING: &str = ".db";

/// A finished backup.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Made {
    /// Path of the backup.
    pub file: PathBuf,
    /// Number of threads.
    pub threads: u64,
    /// Number of log entries.
    pub entries: u64,
    /// Size in bytes.
    pub bytes: u64,
    /// Damaged threads that are not in it, one sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

/// File name of a backup made at `at`.
pub fn file_name(at: Timestamp) -> String {
    format!("{PREFIX}{}{ENDING}", at.strftime(super::kept::TIME))
}

/// Copies the store at `url` to `file`, which must not exist. `progress` gets done and total.
pub async fn make(
    url: &StoreUrl,
    options: &OpenOptions,
    file: &Path,
    progress: impl Fn(u64, u64) + Send + Sync + 'static,
) -> Result<Made, Failure> {
    if !throughline_store::exists(url)? {
        return Err(Failure::no_store(url));
    }
    if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        disk::make_folders(folder).map_err(|error| {
            let what = format!("cannot create {}: {error}", folder.display());
            Failure::new(what, "name another folder for the backup")
        })?;
    }
    let (copied, left_out) = match url {
        StoreUrl::Memory => {
            let what = "a store in memory cannot be backed up from another process";
            return Err(Failure::wrong_use(what, "name a store with --store"));
        }
        StoreUrl::Sqlite(path) => {
            let told = move |step: throughline_store::sqlite::CopyProgress| {
                progress(step.done, step.total);
            };
            match Sqlite::copy(path, file, options.busy_wait, told).await {
                Ok(copied) => (copied, Vec::new()),
                // The pages hold damage. Thread by thread, everything else can be copied.
                Err(StoreError::Damaged { .. }) => {
                    let store = throughline_store::open(url, options).await?;
                    through_the_contract(store.as_ref(), file, options, |_, _| {}).await?
                }
                Err(error) => return Err(error.into()),
            }
        }
        StoreUrl::Files(_) | StoreUrl::Redis(_) | StoreUrl::S3(_) => {
            let store = throughline_store::open(url, options).await?;
            through_the_contract(store.as_ref(), file, options, progress).await?
        }
    };
    Ok(Made {
        file: file.to_owned(),
        threads: copied.threads,
        entries: copied.entries,
        bytes: copied.bytes,
        left_out,
    })
}

/// Copies thread by thread into a staged file first: only a verified copy gets the name. Also returns what is wrong
/// with the threads that could not be copied.
async fn through_the_contract(
    store: &dyn Store,
    file: &Path,
    options: &OpenOptions,
    progress: impl Fn(u64, u64) + Send + Sync + 'static,
) -> Result<(throughline_store::sqlite::Copied, Vec<String>), Failure> {
    let staged = disk::beside(file, ".copying");
    remove(&staged);
    let target = Sqlite::open(&staged, options.busy_wait).await?;
    let report = copy(store, &target, Compare::Quickly, |step| {
        progress(step.report.threads(), step.total);
    })
    .await?;
    let copied = target.backup_to(file, |_| {}).await;
    drop(target);
    remove(&staged);
    Ok((copied?, report.problems))
}

/// Backups in `folder` with automatic names, oldest first.
pub fn backups(folder: &Path) -> Vec<PathBuf> {
    let ours = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let middle = name.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(ENDING));
        middle.is_some_and(|middle| middle.len() == 19 && middle.ends_with('Z'))
    };
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder)
        .map(|entries| entries.filter_map(|entry| Some(entry.ok()?.path())).filter(ours).collect())
        .unwrap_or_default();
    found.sort();
    found
}

/// Removes the oldest backups until `keep` are left; returns those removed. The newest always stays.
pub fn prune(folder: &Path, keep: usize) -> Vec<PathBuf> {
    let mut found = backups(folder);
    let surplus = found.len().saturating_sub(keep.max(1));
    found.truncate(surplus);
    found.retain(|path| std::fs::remove_file(path).is_ok());
    found
}

/// Removes a database with SQLite's files beside it.
pub fn remove(path: &Path) {
    for ending in ["", "-wal", "-shm", "-journal"] {
        // A leftover is replaced or reported by the next attempt.
        let _ = std::fs::remove_file(disk::beside(path, ending));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_go_and_files_of_others_stay() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |second| file_name(Timestamp::from_second(second).expect("a time"));
        let mine = "throughline-mine.db".to_owned();
        for name in [at(1), at(2), at(3), mine.clone()] {
            std::fs::write(folder.path().join(name), "").expect("written");
        }
        assert_eq!(prune(folder.path(), 2), [folder.path().join(at(1))]);
        assert_eq!(backups(folder.path()), [at(2), at(3)].map(|name| folder.path().join(name)));
        assert!(folder.path().join(mine).exists());
        assert_eq!(prune(folder.path(), 0).len(), 1, "the newest stays");
    }
}
