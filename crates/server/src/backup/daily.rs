//! Periodic backups while serving.
//!
//! The newest file determines whether a backup is due, so a restart neither skips nor repeats one. A failure is
//! logged and retried at the next check.

use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use throughline_store::{OpenOptions, StoreUrl, disk};
use tokio_util::sync::CancellationToken;

use super::make;
use crate::config::BackupSettings;

/// Interval of checks.
const LOOK_EVERY: Duration = Duration::from_secs(600);
/// Delay of the first check, so that it does not slow the start.
const FIRST: Duration = Duration::from_secs(5);

/// Backs up the store at `url` until `stop`.
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
    let mut wait = FIRST;
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(wait) => {}
        }
        wait = LOOK_EVERY;
        if is_due(&settings.folder, every, SystemTime::now()) {
            back_up(&url, &options, &settings, every).await;
        }
    }
}

async fn back_up(
    url: &StoreUrl,
    options: &OpenOptions,
    settings: &BackupSettings,
    every: Duration,
) {
    // Several processes on the same store check; one of them makes the backup.
    let Some(_alone) = alone(&settings.folder) else { return };
    if !is_due(&settings.folder, every, SystemTime::now()) {
        return;
    }
    let file = settings.folder.join(make::file_name(crate::clock::system().now()));
    match make::make(url, options, &file, |_, _| {}).await {
        // An empty backup is of no use.
        Ok(made) if made.threads == 0 => make::remove(&file),
        Ok(made) => {
            // An older backup may be the only one with what is damaged now.
            let sound = made.left_out.is_empty();
            let removed =
                if sound { make::prune(&settings.folder, settings.keep).len() } else { 0 };
            for problem in &made.left_out {
                tracing::error!(backup.file = %file.display(), problem, "a damaged thread was left out of a backup; older backups are kept");
            }
            tracing::info!(
                backup.file = %file.display(),
                backup.threads = made.threads,
                backup.bytes = made.bytes,
                backup.removed = removed,
                "backup made and verified"
            );
        }
        Err(error) => tracing::error!(backup.file = %file.display(), %error, "backup failed"),
    }
}

/// The lock of a backup folder; `None` while another process holds it.
fn alone(folder: &Path) -> Option<File> {
    disk::make_folders(folder).ok()?;
    let lock = File::options()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(folder.join("making.lock"))
        .ok()?;
    lock.try_lock().is_ok().then_some(lock)
}

/// Whether the newest backup in `folder` is older than `every`.
fn is_due(folder: &Path, every: Duration, now: SystemTime) -> bool {
    let newest = make::backups(folder).pop();
    let made = newest.and_then(|path| path.metadata().ok()?.modified().ok());
    made.is_none_or(|made| now.duration_since(made).is_ok_and(|age| age >= every))
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
