//! Opens the folder: verifies it, cleans it up, and reads its heads.
//!
//! Damaged threads are recorded and stay where they are; neither they nor foreign files prevent opening.
//! Leftovers of interrupted processes are removed. Threads that another process is changing are left alone.

use std::fs;
use std::io::{ErrorKind, Result as IoResult};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use throughline_engine::store::{Key, Result};

use super::Shared;
use super::catalogue::Catalogue;
use super::damage::blocked_id;
use super::fault::{refused, translate};
use super::head::{HeadError, HeadFile};
use super::layout::{
    HEAD, HEAD_NEXT, Layout, MARKER, REASON, Strays, names_in, parse_segment_name, place_in,
    places_in, thread_ids, unfinished,
};
use super::lock::{Lock, try_lock, try_share};
use super::log::cut_short;
use crate::disk;
use crate::replace::{self, StoreLock, in_use};

const FORMAT: &str = "throughline conversations";
const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Marker {
    format: String,
    version: u32,
}

/// Attempts to open a folder that is being replaced.
const ATTEMPTS_MAX: usize = 5;

/// Verifies the folder and takes its shared lock. Finishes an interrupted replacement first, and returns where
/// the old folder is kept.
pub(super) fn open_locked(layout: &Layout) -> Result<(Lock, Option<PathBuf>)> {
    let fail = |error: std::io::Error| translate(layout.root.display(), &error);
    for _ in 0..ATTEMPTS_MAX {
        let kept = replace::finish_switch(&layout.root).map_err(fail)?;
        verify_or_create(layout)?;
        let place = layout.store_lock();
        let Some(lock) = try_share(&place).map_err(fail)? else { break };
        if lock.is_file_at(&place).map_err(fail)? {
            // Nobody is replacing the folder, so a staged replacement is a leftover.
            replace::discard(&layout.root).map_err(fail)?;
            return Ok((lock, kept));
        }
    }
    Err(in_use(&layout.root))
}

/// Locks the folder exclusively; does nothing if it is missing.
pub(super) fn lock_exclusively(layout: &Layout) -> Result<StoreLock> {
    let fail = |error: std::io::Error| translate(layout.root.display(), &error);
    replace::finish_switch(&layout.root).map_err(fail)?;
    if !layout.locks().is_dir() {
        return Ok(StoreLock::none());
    }
    match try_lock(&layout.store_lock()).map_err(fail)? {
        Some(lock) => Ok(StoreLock::new(lock)),
        None => Err(in_use(&layout.root)),
    }
}

/// Creates the folder if it is missing; refuses one that is foreign or newer.
fn verify_or_create(layout: &Layout) -> Result<()> {
    let root = &layout.root;
    let fail = |error: std::io::Error| translate(root.display(), &error);
    match fs::read(layout.marker()) {
        Ok(bytes) => check_marker(root, &bytes)?,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let others = names_in(root, |name| Some(name.to_owned())).map_err(fail)?;
            // Another process may be writing the marker.
            if others.iter().any(|name| !name.starts_with(MARKER)) {
                let reason = "it is not a throughline folder and was left untouched";
                return Err(refused(
                    root,
                    reason,
                    "name an empty folder, or one that does not exist",
                ));
            }
            write_marker(layout).map_err(fail)?;
        }
        Err(error) => return Err(fail(error)),
    }
    disk::make_folders(&layout.threads()).map_err(fail)?;
    disk::make_folders(&layout.locks()).map_err(fail)
}

fn check_marker(root: &Path, bytes: &[u8]) -> Result<()> {
    let hint = "name another folder, or restore a backup made by throughline";
    match serde_json::from_slice::<Marker>(bytes) {
        Ok(marker) if marker.format == FORMAT && marker.version == VERSION => Ok(()),
        Ok(marker) if marker.format == FORMAT => {
            let found = marker.version;
            let reason = format!(
                "its layout version is {found}, but this build supports only {VERSION}; it was left untouched"
            );
            Err(refused(root, reason, "use the newer throughline that wrote it"))
        }
        _ => {
            let reason =
                "its throughline.json is not from throughline; the folder was left untouched";
            Err(refused(root, reason, hint))
        }
    }
}

fn write_marker(layout: &Layout) -> IoResult<()> {
    disk::make_folders(&layout.root)?;
    let marker = Marker { format: FORMAT.into(), version: VERSION };
    let text = serde_json::to_string_pretty(&marker).expect("a marker is always JSON") + "\n";
    disk::write_whole(&layout.marker(), text.as_bytes())
}

/// Reads every head into the catalogue and records damage. Returns foreign files.
pub(super) fn load(shared: &Shared) -> Result<Strays> {
    let Shared { layout, catalogue, damage, .. } = shared;
    let fail = |error: std::io::Error| translate(layout.root.display(), &error);
    let mut strays = names_in(&layout.root, |name| {
        let ours =
            [MARKER, "threads", "damaged", "locks"].contains(&name) || name.starts_with(MARKER);
        (!ours).then(|| layout.root.join(name))
    })
    .map_err(fail)?;
    for (scope, kind) in places_in(&layout.threads(), &mut strays).map_err(fail)? {
        let place = layout.place(&scope, kind);
        let key_of = |id| Key { scope: scope.clone(), kind, id };
        for id in names_in(&place, unfinished).map_err(fail)? {
            remove_unfinished(layout, &key_of(id)).map_err(fail)?;
        }
        for id in thread_ids(&place, &mut strays).map_err(fail)? {
            let key = key_of(id);
            if let Err(reason) = load_thread(layout, catalogue, &key)? {
                damage.record(&key, &reason);
            }
            strays.extend(strays_in(&layout.thread(&key)).map_err(fail)?);
        }
    }
    let mut ignored = Strays::new();
    for (scope, kind) in places_in(&layout.damaged(), &mut ignored).map_err(fail)? {
        let place = place_in(&layout.damaged(), &scope, kind);
        for id in thread_ids(&place, &mut ignored).map_err(fail)? {
            let key = Key { scope: scope.clone(), kind, id };
            if let Some(reason) = blocked_id(layout, &key).map_err(fail)? {
                damage.record(&key, &reason);
            }
        }
    }
    for stray in &strays {
        tracing::warn!(file = %stray.display(), "a foreign file in the store is ignored");
    }
    Ok(strays)
}

/// The foreign files in a thread's folder.
pub(super) fn strays_in(folder: &Path) -> IoResult<Strays> {
    let ours = |name: &str| {
        [HEAD, HEAD_NEXT, REASON].contains(&name) || parse_segment_name(name).is_some()
    };
    names_in(folder, |name| (!ours(name)).then(|| folder.join(name)))
}

fn remove_unfinished(layout: &Layout, key: &Key) -> IoResult<()> {
    let Some(_lock) = try_lock(&layout.lock(key))? else { return Ok(()) };
    disk::remove(&layout.staging(key))?;
    disk::remove(&layout.erased(key)).map(|_| ())
}

/// Adds a thread to the catalogue; returns what is wrong with it.
fn load_thread(
    layout: &Layout,
    catalogue: &Catalogue,
    key: &Key,
) -> Result<std::result::Result<(), String>> {
    let folder = layout.thread(key);
    let (head, stamp) = match HeadFile::read(&folder, key) {
        Ok(read) => read,
        Err(HeadError::Missing) => return Ok(Ok(())),
        Err(HeadError::Damaged(reason)) => return Ok(Err(reason)),
        Err(HeadError::Failed(error)) => return Err(translate(folder.display(), &error)),
    };
    catalogue.insert(key, &head, stamp);
    remove_left_over(layout, key).map_err(|error| translate(folder.display(), &error))?;
    let Some(first) = head.tail() else { return Ok(Ok(())) };
    let name = head.segment(first);
    match fs::metadata(folder.join(&name)) {
        Ok(metadata) if metadata.len() < head.tail_bytes => {
            Ok(Err(format!("{name}: {}", cut_short(metadata.len(), head.tail_bytes))))
        }
        Ok(_) => Ok(Ok(())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Err(format!("{name} is missing"))),
        Err(error) => Err(translate(folder.display(), &error)),
    }
}

/// Removes what an unfinished commit or erasure left in an intact thread's folder.
fn remove_left_over(layout: &Layout, key: &Key) -> IoResult<()> {
    let folder = layout.thread(key);
    if left_over(&folder, key)?.is_empty() {
        return Ok(());
    }
    let Some(_lock) = try_lock(&layout.lock(key))? else { return Ok(()) };
    // Look again, now under the lock.
    for name in left_over(&folder, key)? {
        fs::remove_file(folder.join(name))?;
    }
    disk::sync_folder(&folder)
}

/// Segments that the head does not refer to, and a head that was never renamed into place.
pub(super) fn left_over(folder: &Path, key: &Key) -> IoResult<Vec<String>> {
    let Ok((head, _)) = HeadFile::read(folder, key) else { return Ok(Vec::new()) };
    names_in(folder, |name| {
        let first = parse_segment_name(name)?;
        let wanted = head.segment(first);
        // If the current segment is lost, another version of it may be all that is left.
        let left = first >= head.entries || (wanted != name && folder.join(wanted).exists());
        left.then(|| name.to_owned())
    })
    .map(|mut names| {
        if folder.join(HEAD_NEXT).exists() {
            names.push(HEAD_NEXT.to_owned());
        }
        names
    })
}
