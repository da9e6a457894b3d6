//! An in-memory cache of what a listing needs from every head.
//!
//! A listing must not read every log, nor every head. The cache remembers the fields of each head and the
//! stamp of its file; a listing compares stamps and reads only the heads that another process has replaced.
//!
//! Invariant: a row is used only while its stamp is that of the current head file.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::{Mutex, MutexGuard};

use jiff::Timestamp;
use throughline_engine::store::{Key, Kind, ListedThread, Result, Scope, Version};

use super::fault::translate;
use super::head::{HeadError, HeadFile, Stamp};
use super::layout::{HEAD, Layout, Strays, place_in, thread_ids};
use crate::damage::Damage;

/// Cached rows by key.
#[derive(Debug, Default)]
pub(super) struct Catalogue {
    rows: Mutex<HashMap<Key, CachedRow>>,
}

#[derive(Debug)]
struct CachedRow {
    listed: ListedThread,
    stamp: Stamp,
}

impl Catalogue {
    fn rows(&self) -> MutexGuard<'_, HashMap<Key, CachedRow>> {
        // A row is replaced as a whole, so a panic elsewhere leaves none half-written.
        self.rows.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Caches the fields of a head.
    pub(super) fn insert(&self, key: &Key, head: &HeadFile, stamp: Stamp) -> ListedThread {
        let listed = ListedThread {
            key: key.clone(),
            version: head.version,
            entries: head.entries,
            changed_at: head.changed_at,
        };
        self.rows().insert(key.clone(), CachedRow { listed: listed.clone(), stamp });
        listed
    }

    pub(super) fn forget(&self, key: &Key) {
        self.rows().remove(key);
    }

    /// Returns the current row; `None` if the thread is gone. A damaged thread is recorded, and its row says only
    /// when its file last changed: whoever lists must be able to name, skip or erase it.
    pub(super) fn look_up(
        &self,
        layout: &Layout,
        key: &Key,
        damage: &Damage,
    ) -> Result<Option<ListedThread>> {
        let folder = layout.thread(key);
        match std::fs::metadata(folder.join(HEAD)) {
            Ok(metadata) => {
                let stamp = Stamp::of(&metadata);
                if let Some(row) = self.rows().get(key).filter(|row| row.stamp == stamp) {
                    return Ok(Some(row.listed.clone()));
                }
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(translate(folder.display(), &error)),
        }
        match HeadFile::read(&folder, key) {
            Ok((head, stamp)) => Ok(Some(self.insert(key, &head, stamp))),
            Err(HeadError::Missing) => {
                self.forget(key);
                Ok(None)
            }
            Err(HeadError::Damaged(reason)) => {
                damage.record(key, &reason);
                Ok(Some(unreadable(key, &folder)))
            }
            Err(HeadError::Failed(error)) => Err(translate(folder.display(), &error)),
        }
    }

    /// All threads of a scope and kind, unordered.
    pub(super) fn all(
        &self,
        layout: &Layout,
        scope: &Scope,
        kind: Kind,
        damage: &Damage,
    ) -> Result<Vec<ListedThread>> {
        let place = layout.place(scope, kind);
        layout
            .refuse_linked_place(scope, kind)
            .map_err(|error| translate(place.display(), &error))?;
        let ids = thread_ids(&place, &mut Strays::new())
            .map_err(|error| translate(place.display(), &error))?;
        let mut found = Vec::with_capacity(ids.len());
        for id in ids {
            found.extend(self.look_up(layout, &Key { scope: scope.clone(), kind, id }, damage)?);
        }
        found.extend(set_aside(layout, scope, kind)?);
        Ok(found)
    }
}

/// The rows of threads of which only a damaged copy is left, set aside.
fn set_aside(layout: &Layout, scope: &Scope, kind: Kind) -> Result<Vec<ListedThread>> {
    let place = place_in(&layout.damaged(), scope, kind);
    let ids = thread_ids(&place, &mut Strays::new())
        .map_err(|error| translate(place.display(), &error))?;
    let keys = ids.into_iter().map(|id| Key { scope: scope.clone(), kind, id });
    let alone = keys.filter(|key| !layout.thread(key).exists());
    Ok(alone.map(|key| unreadable(&key, &layout.set_aside(&key))).collect())
}

/// The row of a thread whose head cannot be read.
fn unreadable(key: &Key, folder: &Path) -> ListedThread {
    let times = [folder.join(HEAD), folder.to_owned()].map(|path| {
        let modified = std::fs::metadata(path).ok()?.modified().ok()?;
        Timestamp::try_from(modified).ok()
    });
    ListedThread {
        key: key.clone(),
        version: Version { number: 0, incarnation: 0 },
        entries: 0,
        changed_at: times.into_iter().flatten().next().unwrap_or_default(),
    }
}
