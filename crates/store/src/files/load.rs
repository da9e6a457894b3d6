//! What happens when the folder is opened: it is recognised, swept, and its heads are read.
//!
//! A damaged thread is noted and stays where it is; it stops nobody, and neither do files of others. What a
//! process left behind when it ended in the middle is removed. A thread that another process is just
//! changing is left alone.

use std::fs;
use std::io::{ErrorKind, Result as IoResult};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use throughline_engine::store::{Key, Result};

use super::Shared;
use super::catalogue::Catalogue;
use super::damage::held_back;
use super::fault::{refused, translate};
use super::head::{HeadFile, NoHead};
use super::layout::{
    HEAD, HEAD_NEXT, Layout, MARKER, REASON, Strays, first_of, names_in, place_in, places_in,
    thread_ids, unfinished,
};
use super::lock::{Lock, try_lock, try_share};
use super::log::cut_short;
use crate::disk;
use crate::replace::{self, Held, in_use};

const FORMAT: &str = "throughline conversations";
const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Marker {
    format: String,
    version: u32,
}

/// How often a folder that is replaced meanwhile is entered again.
const ATTEMPTS_MAX: usize = 5;

/// Recognises the folder and holds its lock. A replacement that was begun is finished first; answers where the
/// old folder is kept then.
pub(super) fn enter(layout: &Layout) -> Result<(Lock, Option<PathBuf>)> {
    let fail = |error: std::io::Error| translate(layout.root.display(), &error);
    for _ in 0..ATTEMPTS_MAX {
        let kept = replace::settle(&layout.root).map_err(fail)?;
        recognise(layout)?;
        let place = layout.store_lock();
        let Some(lock) = try_share(&place).map_err(fail)? else { break };
        if lock.is_of(&place).map_err(fail)? {
            // Nobody is replacing it, so what was to replace it was left behind.
            replace::discard(&layout.root).map_err(fail)?;
            return Ok((lock, kept));
        }
    }
    Err(in_use(&layout.root))
}

/// Takes the folder's lock alone; nothing where there is no folder.
pub(super) fn hold(layout: &Layout) -> Result<Held> {
    let fail = |error: std::io::Error| translate(layout.root.display(), &error);
    replace::settle(&layout.root).map_err(fail)?;
    if !layout.locks().is_dir() {
        return Ok(Held::nothing());
    }
    match try_lock(&layout.store_lock()).map_err(fail)? {
        Some(lock) => Ok(Held::by(lock)),
        None => Err(in_use(&layout.root)),
    }
}

/// Makes the folder where there is none; refuses one that is not ours or is newer.
fn recognise(layout: &Layout) -> Result<()> {
    let root = &layout.root;
    let fail = |error: std::io::Error| translate(root.display(), &error);
    match fs::read(layout.marker()) {
        Ok(bytes) => judge(root, &bytes)?,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let others = names_in(root, |name| Some(name.to_owned())).map_err(fail)?;
            // A marker on its way is one that another process is just writing.
            if others.iter().any(|name| !name.starts_with(MARKER)) {
                let reason = "it is a folder of something else, and it was left untouched";
                return Err(refused(
                    root,
                    reason,
                    "name an empty folder, or one that does not exist",
                ));
            }
            mark(layout).map_err(fail)?;
        }
        Err(error) => return Err(fail(error)),
    }
    disk::make_folders(&layout.threads()).map_err(fail)?;
    disk::make_folders(&layout.locks()).map_err(fail)
}

fn judge(root: &Path, bytes: &[u8]) -> Result<()> {
    let hint = "name another folder, or restore a backup made by throughline";
    match serde_json::from_slice::<Marker>(bytes) {
        Ok(marker) if marker.format == FORMAT && marker.version == VERSION => Ok(()),
        Ok(marker) if marker.format == FORMAT => {
            let found = marker.version;
            let reason = format!(
                "its layout is version {found} and this build knows {VERSION}; it was left untouched"
            );
            Err(refused(root, reason, "use the newer throughline that wrote it"))
        }
        _ => {
            let reason = "its throughline.json is not ours, and it was left untouched";
            Err(refused(root, reason, hint))
        }
    }
}

fn mark(layout: &Layout) -> IoResult<()> {
    disk::make_folders(&layout.root)?;
    let marker = Marker { format: FORMAT.into(), version: VERSION };
    let text = serde_json::to_string_pretty(&marker).expect("a marker is always JSON") + "\n";
    disk::write_whole(&layout.marker(), text.as_bytes())
}

/// Reads every head into the catalogue and notes what is damaged. Answers what is not ours.
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
            sweep(layout, &key_of(id)).map_err(fail)?;
        }
        for id in thread_ids(&place, &mut strays).map_err(fail)? {
            let key = key_of(id);
            if let Err(reason) = admit(layout, catalogue, &key)? {
                damage.note(&key, &reason);
            }
            strays.extend(others_in(&layout.thread(&key)).map_err(fail)?);
        }
    }
    let mut ignored = Strays::new();
    for (scope, kind) in places_in(&layout.damaged(), &mut ignored).map_err(fail)? {
        let place = place_in(&layout.damaged(), &scope, kind);
        for id in thread_ids(&place, &mut ignored).map_err(fail)? {
            let key = Key { scope: scope.clone(), kind, id };
            if let Some(reason) = held_back(layout, &key).map_err(fail)? {
                damage.note(&key, &reason);
            }
        }
    }
    for stray in &strays {
        tracing::warn!(file = %stray.display(), "a file that is not ours lies in the store and is ignored");
    }
    Ok(strays)
}

/// What lies in a thread's folder and does not belong to it.
pub(super) fn others_in(folder: &Path) -> IoResult<Strays> {
    let ours = |name: &str| [HEAD, HEAD_NEXT, REASON].contains(&name) || first_of(name).is_some();
    names_in(folder, |name| (!ours(name)).then(|| folder.join(name)))
}

fn sweep(layout: &Layout, key: &Key) -> IoResult<()> {
    let Some(_lock) = try_lock(&layout.lock(key))? else { return Ok(()) };
    disk::remove_folder(&layout.unborn(key))?;
    disk::remove_folder(&layout.erased(key)).map(|_| ())
}

/// Notes a thread in the catalogue; answers what is wrong with it.
fn admit(
    layout: &Layout,
    catalogue: &Catalogue,
    key: &Key,
) -> Result<std::result::Result<(), String>> {
    let folder = layout.thread(key);
    let (head, stamp) = match HeadFile::read(&folder, key) {
        Ok(read) => read,
        Err(NoHead::Missing) => return Ok(Ok(())),
        Err(NoHead::Damaged(reason)) => return Ok(Err(reason)),
        Err(NoHead::Failed(error)) => return Err(translate(folder.display(), &error)),
    };
    catalogue.note(key, &head, stamp);
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

/// Removes what an unfinished commit or an unfinished erasure left in a sound thread's folder.
fn remove_left_over(layout: &Layout, key: &Key) -> IoResult<()> {
    let folder = layout.thread(key);
    if left_over(&folder, key)?.is_empty() {
        return Ok(());
    }
    let Some(_lock) = try_lock(&layout.lock(key))? else { return Ok(()) };
    // Again, now that nobody changes it.
    for name in left_over(&folder, key)? {
        fs::remove_file(folder.join(name))?;
    }
    disk::sync_folder(&folder)
}

/// Segments that the head does not name, and a head that never took its place.
pub(super) fn left_over(folder: &Path, key: &Key) -> IoResult<Vec<String>> {
    let Ok((head, _)) = HeadFile::read(folder, key) else { return Ok(Vec::new()) };
    names_in(folder, |name| {
        let first = first_of(name)?;
        let wanted = head.segment(first);
        // Another form of a segment that is lost may be all that is left of it.
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
