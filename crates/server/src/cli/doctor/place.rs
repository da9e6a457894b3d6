//! Checks of the store: access, free space, permissions, and its newest time.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use throughline_engine::store::Store;
use throughline_store::{StoreUrl, disk};

use super::Findings;
use crate::assemble::{self, IfAbsent};
use crate::backup::erasures::ErasureLog;
use crate::clock;
use crate::config::Config;
use crate::failure::Failure;

/// Below this no backup fits.
const ROOM_BYTES_MIN: u64 = 100 << 20;
/// Below this a warning is given.
const ROOM_BYTES_LOW: u64 = 1 << 30;
/// Threads to compare the clock with.
const NEWEST: usize = 1000;

/// Checks the store and its folders. `absent` says whether the store may be created later.
pub(super) async fn look(config: &Config, absent: IfAbsent, findings: &mut Findings) {
    let url = match assemble::store_options(config) {
        Ok((url, _)) => url,
        Err(failure) => return findings.failure("store", failure),
    };
    let path = match &url {
        StoreUrl::Sqlite(path) | StoreUrl::Files(path) => Some(path.as_path()),
        StoreUrl::Redis(_) | StoreUrl::S3(_) | StoreUrl::Memory => None,
    };
    match throughline_store::exists(&url) {
        Ok(true) => open(config, &url, findings).await,
        Ok(false) if absent == IfAbsent::Refuse => {
            return findings.failure("store", Failure::no_store(&url));
        }
        Ok(false) => {
            findings.ok("store", format!("{url} does not exist yet; serve and chat create it"))
        }
        Err(error) => findings.failure("store", error.into()),
    }
    if let Some(path) = path {
        permissions(path, findings);
        folder("data folder", path.parent().unwrap_or(path), findings);
    }
    if url != StoreUrl::Memory {
        backups(&config.backups.folder, findings);
    }
}

/// Checks the backup folder and the erasure log, without which a restore would bring back erased data.
fn backups(path: &Path, findings: &mut Findings) {
    let log = ErasureLog::new(path);
    match log.read() {
        Ok(read) if read.damaged.is_empty() => folder("backups folder", path, findings),
        Ok(read) => {
            let detail =
                format!("{} records of {} are damaged", read.damaged.len(), log.path().display());
            let fix = "a restore may bring back the data they name: erase it again afterwards";
            findings.warn("backups folder", detail, fix);
        }
        Err(error) => {
            let detail = format!("{} cannot be read: {error}", log.path().display());
            findings.fail(
                "backups folder",
                detail,
                "give the user that runs the server read and write access to it",
            );
        }
    }
}

/// Opens, reads and writes the store.
async fn open(config: &Config, url: &StoreUrl, findings: &mut Findings) {
    let mut config = config.clone();
    if let Err(failure) = assemble::if_absent(&mut config, IfAbsent::Refuse) {
        return findings.failure("store", failure);
    }
    let store = match assemble::store(&config).await {
        Ok(store) => store,
        Err(failure) => return findings.failure("store", failure),
    };
    let facts = store.facts();
    if let Err(error) = store.probe_write().await {
        let fix = "check its permissions and free disk space, or that its server accepts writes";
        return findings.fail("store", format!("{url} cannot be written: {error}"), fix);
    }
    if facts.damaged > 0 {
        let detail = format!("{} threads of {url} are damaged", facts.damaged);
        findings.fail(
            "store",
            detail,
            "list them with throughline check; repair them with throughline repair",
        );
    } else {
        findings.ok("store", format!("{url} can be read and written ({})", facts.durability));
    }
    newest(store.as_ref(), findings).await;
}

/// A clock behind the stored data would cause wrong order and expiry.
async fn newest(store: &dyn Store, findings: &mut Findings) {
    let now = clock::system().now();
    match store.scan(None, NEWEST).await {
        Ok(listed) => {
            let newest = listed.iter().map(|listed| listed.changed_at).max().unwrap_or(now);
            findings.clock(now, newest, "the newest change in the store");
        }
        Err(error) => {
            let fix = "run throughline check for details";
            findings.fail("store", format!("cannot list the store: {error}"), fix);
        }
    }
}

/// Others should not be able to read conversations.
fn permissions(path: &Path, findings: &mut Findings) {
    let Ok(metadata) = path.metadata() else { return };
    let (mode, shown) = (metadata.mode() & 0o777, path.display());
    let own = if metadata.is_dir() { "700" } else { "600" };
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        let detail = format!("{shown} belongs to another user ({})", metadata.uid());
        findings.warn(
            "permissions",
            detail,
            format!("run as that user, or: chown $(id -u) {shown}"),
        );
    } else if mode & 0o077 != 0 {
        let detail = format!("{shown} has mode {mode:o}: others on this machine can open it");
        findings.warn("permissions", detail, format!("chmod {own} {shown}"));
    } else {
        findings.ok("permissions", format!("only you can open {shown}"));
    }
}

/// Checks that a folder, or its nearest existing ancestor, is writable and has free space.
fn folder(name: &str, folder: &Path, findings: &mut Findings) {
    let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let Some(present) = here.ancestors().find(|folder| folder.is_dir()).map(PathBuf::from) else {
        let fix = "name an existing folder in the configuration";
        return findings.fail(name, format!("{} cannot be made", here.display()), fix);
    };
    let shown = present.display();
    if let Err(error) = disk::probe(&present) {
        let fix = format!("give the user that runs the server write access: chmod u+rwx {shown}");
        return findings.fail(name, format!("{shown} cannot be written: {error}"), fix);
    }
    let room = match rustix::fs::statvfs(&present) {
        Ok(room) => room.f_bavail.saturating_mul(room.f_frsize),
        Err(error) => {
            return findings.warn(
                name,
                format!("the free space in {shown} is unknown: {error}"),
                "check it with df",
            );
        }
    };
    let detail = format!("{shown} can be written and has {} MiB free", room >> 20);
    match room {
        room if room < ROOM_BYTES_MIN => {
            findings.fail(name, detail, "free some space on that disk")
        }
        room if room < ROOM_BYTES_LOW => {
            findings.warn(name, detail, "free some space on that disk soon")
        }
        _ => findings.ok(name, detail),
    }
}
