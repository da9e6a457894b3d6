//! Where everything lies.
//!
//! ```text
//! conversations/
//!   throughline.json                         what this folder is
//!   threads/TENANT/USER/KIND/ID/head.json    the head and what it counts
//!   threads/TENANT/USER/KIND/ID/turns-000001.jsonl, turns-000101.jsonl …
//!   damaged/TENANT/USER/KIND/ID/N/           set aside by throughline repair, with reason.txt
//!   locks/00 … ff                            taken while a thread is changed
//!   locks/store                              shared while the folder is open
//! ```
//!
//! Names never start with a dot, so folders that do are work in progress and cannot be a thread's.

use std::path::{Path, PathBuf};

use throughline_engine::id::{TenantId, ThreadId, UserId};
use throughline_engine::store::{Key, Kind, Scope};

/// Entries in one segment of a log; a full segment is never written again, except to erase.
pub(super) const SEGMENT_ENTRIES: u64 = 100;
/// The file that says what the folder is.
pub const MARKER: &str = "throughline.json";
pub(super) const HEAD: &str = "head.json";
pub(super) const HEAD_NEXT: &str = "head.json.next";
pub(super) const REASON: &str = "reason.txt";
/// How the folder of a thread begins that is being made.
const NEW: &str = ".new-";
/// How the folder of a thread begins that is being erased.
const ERASED: &str = ".erased-";
/// Locks that all threads share.
pub(super) const LOCKS: usize = 256;

/// The folders of a store.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    pub(super) root: PathBuf,
}

impl Layout {
    pub(super) fn marker(&self) -> PathBuf {
        self.root.join(MARKER)
    }

    pub(super) fn threads(&self) -> PathBuf {
        self.root.join("threads")
    }

    pub(super) fn damaged(&self) -> PathBuf {
        self.root.join("damaged")
    }

    pub(super) fn locks(&self) -> PathBuf {
        self.root.join("locks")
    }

    /// The lock file that guards `key`, shared with others: few files, and none is ever removed.
    pub(super) fn lock(&self, key: &Key) -> PathBuf {
        self.locks().join(format!("{:02x}", lock_number(key)))
    }

    /// The lock file of the folder as a whole.
    pub(super) fn store_lock(&self) -> PathBuf {
        self.locks().join("store")
    }

    pub(super) fn place(&self, scope: &Scope, kind: Kind) -> PathBuf {
        place_in(&self.threads(), scope, kind)
    }

    pub(super) fn thread(&self, key: &Key) -> PathBuf {
        self.place(&key.scope, key.kind).join(key.id.as_str())
    }

    /// Where a new thread is made before it takes its place.
    pub(super) fn unborn(&self, key: &Key) -> PathBuf {
        self.place(&key.scope, key.kind).join(format!("{NEW}{}", key.id))
    }

    /// Where an erased thread goes before its files are removed.
    pub(super) fn erased(&self, key: &Key) -> PathBuf {
        self.place(&key.scope, key.kind).join(format!("{ERASED}{}", key.id))
    }

    /// Where the damaged lives of a thread are kept.
    pub(super) fn set_aside(&self, key: &Key) -> PathBuf {
        place_in(&self.damaged(), &key.scope, key.kind).join(key.id.as_str())
    }
}

/// Which of the locks guards `key`.
pub(super) fn lock_number(key: &Key) -> usize {
    crc32fast::hash(key.to_string().as_bytes()) as usize % LOCKS
}

/// The folder of a scope and kind below `threads/` or `damaged/`.
pub(super) fn place_in(folder: &Path, scope: &Scope, kind: Kind) -> PathBuf {
    folder.join(scope.tenant.as_str()).join(scope.user.as_str()).join(kind.as_str())
}

/// The first entry of the segment that holds entry `number`; entries count from 0.
pub(super) fn segment_of(number: u64) -> u64 {
    number / SEGMENT_ENTRIES * SEGMENT_ENTRIES
}

/// The name of the segment whose first entry is `first`. `rewritten` is the version that erased
/// something in it.
pub(super) fn segment_name(first: u64, rewritten: Option<u64>) -> String {
    match rewritten {
        None => format!("turns-{:06}.jsonl", first + 1),
        Some(version) => format!("turns-{:06}.v{version}.jsonl", first + 1),
    }
}

/// The names in a folder that `accept` takes, in order. A folder that is not there has none.
pub(super) fn names_in<T: Ord>(
    folder: &Path,
    accept: impl Fn(&str) -> Option<T>,
) -> std::io::Result<Vec<T>> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut names = Vec::new();
    for entry in entries {
        names.extend(entry?.file_name().to_str().and_then(&accept));
    }
    names.sort();
    Ok(names)
}

/// What lies between our files and is not ours: it is named, and otherwise left alone.
pub(super) type Strays = Vec<PathBuf>;

/// The folders in a folder that `accept` takes, in order; what else there is goes to `strays`. A folder that is
/// not there has none.
fn folders_in<T: Ord>(
    folder: &Path,
    accept: impl Fn(&str) -> Option<T>,
    strays: &mut Strays,
) -> std::io::Result<Vec<T>> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry?;
        let kind = entry.file_type()?;
        let is_folder = kind.is_dir() || (kind.is_symlink() && entry.path().is_dir());
        match entry.file_name().to_str().filter(|_| is_folder).and_then(&accept) {
            Some(name) => found.push(name),
            None => strays.push(entry.path()),
        }
    }
    found.sort();
    Ok(found)
}

/// Scopes and kinds below `folder` in key order.
pub(super) fn places_in(folder: &Path, strays: &mut Strays) -> std::io::Result<Vec<(Scope, Kind)>> {
    let mut places = Vec::new();
    for tenant in folders_in(folder, |name| TenantId::new(name).ok(), strays)? {
        let of_tenant = folder.join(tenant.as_str());
        for user in folders_in(&of_tenant, |name| UserId::new(name).ok(), strays)? {
            let scope = Scope { tenant: tenant.clone(), user };
            let of_user = of_tenant.join(scope.user.as_str());
            let kind = |name: &str| Kind::from_name(name).map(Kind::as_str);
            for kind in folders_in(&of_user, kind, strays)? {
                let kind = Kind::from_name(kind).expect("a name that a kind has given");
                places.push((scope.clone(), kind));
            }
        }
    }
    Ok(places)
}

/// Threads in a folder of one scope and kind, in key order.
pub(super) fn thread_ids(place: &Path, strays: &mut Strays) -> std::io::Result<Vec<ThreadId>> {
    let mut others = Strays::new();
    let ids = folders_in(place, |name| ThreadId::new(name).ok(), &mut others)?;
    others.retain(|path| {
        path.file_name()
            .and_then(|name| name.to_str())
            .is_none_or(|name| unfinished(name).is_none())
    });
    strays.append(&mut others);
    Ok(ids)
}

/// The thread of a folder that is work in progress.
pub(super) fn unfinished(name: &str) -> Option<ThreadId> {
    let id = name.strip_prefix(NEW).or_else(|| name.strip_prefix(ERASED))?;
    ThreadId::new(id).ok()
}

/// The first entry of a segment by its file name; `None` for every other file.
pub(super) fn first_of(name: &str) -> Option<u64> {
    let (number, rest) = name.strip_prefix("turns-")?.split_once('.')?;
    let first = number.parse::<u64>().ok()?.checked_sub(1)?;
    let rewritten = rest.strip_prefix('v').and_then(|rest| rest.strip_suffix(".jsonl"));
    let version = rewritten.and_then(|version| version.parse().ok());
    (segment_name(first, version) == name).then_some(first)
}
