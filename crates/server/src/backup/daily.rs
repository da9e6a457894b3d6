//! Housekeeping while serving: backups at their interval, and the daily sweep of expired contexts.
//!
//! Whether a backup is due is told by the newest file, so a restart neither skips nor doubles one. A
//! failure is logged with its reason and tried again at the next look.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use throughline_engine::access::{Caller, Grants, system_scope};
use throughline_engine::engine::{BeforePurge, Engine, Export, tombstone_of};
use throughline_engine::store::Key;
use throughline_store::{OpenOptions, StoreUrl};
use tokio_util::sync::CancellationToken;

use super::make;
use crate::config::BackupSettings;

/// How often it is looked whether a backup is due.
const LOOK_EVERY: Duration = Duration::from_secs(600);
/// How often expired contexts are looked for.
const SWEEP_EVERY: Duration = Duration::from_secs(24 * 3600);
/// Where contexts are kept that were purged, in the backups' folder.
const PURGED_FOLDER: &str = "purged";

/// Makes backups of the store at `url` until `stop`.
pub async fn back_up_until(
    stop: CancellationToken,
    url: StoreUrl,
    options: OpenOptions,
    settings: BackupSettings,
) {
    if settings.every_hours == 0 || url == StoreUrl::Memory {
        return;
    }
    let every = Duration::from_secs(settings.every_hours.saturating_mul(3600));
    loop {
        if is_due(&settings.folder, every, SystemTime::now()) {
            back_up(&url, &options, &settings).await;
        }
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(LOOK_EVERY) => {}
        }
    }
}

async fn back_up(url: &StoreUrl, options: &OpenOptions, settings: &BackupSettings) {
    let file = settings.folder.join(make::file_name(crate::assemble::clock().now()));
    match make::make(url, options, &file, |_, _| {}).await {
        Ok(made) => {
            let removed = make::prune(&settings.folder, settings.keep).len();
            tracing::info!(
                backup.file = %file.display(),
                backup.threads = made.threads,
                backup.bytes = made.bytes,
                backup.removed = removed,
                "a backup was made and read back"
            );
        }
        Err(error) => tracing::error!(backup.file = %file.display(), %error, "no backup was made"),
    }
}

/// Whether the newest backup in `folder` is older than `every`.
fn is_due(folder: &Path, every: Duration, now: SystemTime) -> bool {
    let newest = make::backups(folder).pop();
    let made = newest.and_then(|path| path.metadata().ok()?.modified().ok());
    made.is_none_or(|made| now.duration_since(made).is_ok_and(|age| age >= every))
}

/// Sweeps expired contexts once a day until `stop`.
pub async fn sweep_until(stop: CancellationToken, engine: Arc<Engine>, folder: PathBuf) {
    let caller = Caller { scope: system_scope(), grants: Grants::Admin };
    let hook = KeepPurged { folder: folder.join(PURGED_FOLDER) };
    loop {
        match engine.sweep_expired(&caller, &hook).await {
            Ok(sweep) => {
                for problem in &sweep.problems {
                    tracing::warn!(problem, "an expired context was left where it is");
                }
                if sweep.put_aside + sweep.purged > 0 {
                    let (aside, purged) = (sweep.put_aside, sweep.purged);
                    tracing::info!(aside, purged, "expired contexts were swept");
                }
            }
            Err(error) => tracing::warn!(%error, "expired contexts could not be looked for"),
        }
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(SWEEP_EVERY) => {}
        }
    }
}

/// Keeps an export of each context in a file before it is purged.
struct KeepPurged {
    folder: PathBuf,
}

#[async_trait]
impl BeforePurge for KeepPurged {
    async fn keep(&self, key: &Key, export: &Export) -> Result<(), String> {
        let path = self.folder.join(format!("{}.json", tombstone_of(key)));
        let bytes = serde_json::to_vec(export).map_err(|error| error.to_string())?;
        let write = || -> std::io::Result<()> {
            use std::io::Write;
            std::fs::create_dir_all(&self.folder)?;
            let mut file = std::fs::File::create(&path)?;
            file.write_all(&bytes)?;
            file.sync_all()
        };
        write().map_err(|error| format!("{} cannot be written: {error}", path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backup_is_due_when_there_is_none_or_the_newest_is_old() {
        let folder = tempfile::tempdir().expect("a folder");
        let day = Duration::from_secs(86_400);
        let now = SystemTime::now();
        assert!(is_due(folder.path(), day, now));
        let name = make::file_name(jiff::Timestamp::UNIX_EPOCH);
        std::fs::write(folder.path().join(name), "").expect("written");
        assert!(!is_due(folder.path(), day, now));
        assert!(is_due(folder.path(), day, now + day + day));
    }
}
