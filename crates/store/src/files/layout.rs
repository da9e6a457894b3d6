//! The layout of the folder.
//!
//! ```text
//! conversations/
//!   throughline.json                         format and version
//!   threads/TENANT/USER/KIND/ID/head.json    the head and the extent of the log
//!   threads/TENANT/USER/KIND/ID/turns-000001.jsonl, turns-000101.jsonl …
//!   damaged/TENANT/USER/KIND/ID/N/           set aside by throughline repair, with reason.txt
//!   locks/00 … ff                            held while a thread is changed
//!   locks/store                              shared while the folder is open
//! ```
//!
//! Ids never start with a dot, so a folder that does is work in progress.
//!
//! Invariant: below `threads/` and `damaged/` no symbolic link is followed. A link is foreign, whatever it points to.

use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};

use throughline_engine::id::{TenantId, ThreadId, UserId};
use throughline_engine::store::{Key, Kind, Scope};

/// Entries per segment of a log; a full segment is rewritten only to erase.
pub(super) const SEGMENT_ENTRIES: u64 = 100;
/// The file with format and version.
pub const MARKER: &str = "throughline.json";
pub(super) const HEAD: &str = "head.json";
pub(super) const HEAD_NEXT: &str = "head.json.next";
pub(super) const REASON: &str = "reason.txt";
/// Prefix of the folder of a thread being created.
const NEW: &str = ".new-";
/// Prefix of the folder of a thread being erased.
const ERASED: &str = ".erased-";
/// Number of lock files shared by all threads.
pub(super) const LOCKS: usize = 256;

/// The paths of a store.
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

    /// The lock file of `key`, shared with other keys. Lock files are few and never removed.
    pub(super) fn lock(&self, key: &Key) -> PathBuf {
        self.locks().join(format!("{:02x}", lock_number(key)))
    }

    /// The lock file of the whole folder.
    pub(super) fn store_lock(&self) -> PathBuf {
        self.locks().join("store")
    }

    /// The file that tells who has the folder open.
    pub(super) fn open_lock(&self) -> PathBuf {
        self.locks().join("open")
    }

    pub(super) fn place(&self, scope: &Scope, kind: Kind) -> PathBuf {
        place_in(&self.threads(), scope, kind)
    }

    pub(super) fn thread(&self, key: &Key) -> PathBuf {
        self.place(&key.scope, key.kind).join(key.id.as_str())
    }

    /// Where a new thread is built.
    pub(super) fn staging(&self, key: &Key) -> PathBuf {
        self.place(&key.scope, key.kind).join(format!("{NEW}{}", key.id))
    }

    /// Where an erased thread is moved before its files are removed.
    pub(super) fn erased(&self, key: &Key) -> PathBuf {
        self.place(&key.scope, key.kind).join(format!("{ERASED}{}", key.id))
    }

    /// Fails if the folder of a scope and kind, or one above it, is a symbolic link.
    pub(super) fn refuse_linked_place(&self, scope: &Scope, kind: Kind) -> Result<()> {
        for top in [self.threads(), self.damaged()] {
            refuse_links(&top, [scope.tenant.as_str(), scope.user.as_str(), kind.as_str()])?;
        }
        Ok(())
    }

    /// Fails if the folder of a thread, or one above it, is a symbolic link.
    pub(super) fn refuse_linked_thread(&self, key: &Key) -> Result<()> {
        self.refuse_linked_place(&key.scope, key.kind)?;
        refuse_links(&self.place(&key.scope, key.kind), [key.id.as_str()])
    }

    /// Where damaged copies of a thread are stored.
    pub(super) fn set_aside(&self, key: &Key) -> PathBuf {
        place_in(&self.damaged(), &key.scope, key.kind).join(key.id.as_str())
    }
}

/// Fails at the first of the nested folders that is a symbolic link.
fn refuse_links<'a>(top: &Path, nested: impl IntoIterator<Item = &'a str>) -> Result<()> {
    let mut path = top.to_owned();
    for name in nested {
        path.push(name);
        match path.symlink_metadata() {
            Ok(found) if found.is_symlink() => {
                let reason = format!("{} is a symbolic link and is not followed", path.display());
                return Err(Error::new(ErrorKind::InvalidData, reason));
            }
            Ok(_) => {}
            // Nothing can be below it.
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The number of the lock file of `key`.
pub(super) fn lock_number(key: &Key) -> usize {
    crc32fast::hash(key.to_string().as_bytes()) as usize % LOCKS
}

/// The folder of a scope and kind below `threads/` or `damaged/`.
pub(super) fn place_in(folder: &Path, scope: &Scope, kind: Kind) -> PathBuf {
    folder.join(scope.tenant.as_str()).join(scope.user.as_str()).join(kind.as_str())
}

/// The first entry of the segment that contains entry `number`, counted from 0.
pub(super) fn segment_of(number: u64) -> u64 {
    number / SEGMENT_ENTRIES * SEGMENT_ENTRIES
}

/// The name of the segment that starts at entry `first`. `rewritten` is the version that erased something
/// in it.
pub(super) fn segment_name(first: u64, rewritten: Option<u64>) -> String {
    match rewritten {
        None => format!("turns-{:06}.jsonl", first + 1),
        Some(version) => format!("turns-{:06}.v{version}.jsonl", first + 1),
    }
}

/// The names in a folder that `accept` maps to a value, sorted. A missing folder is empty.
pub(super) fn names_in<T: Ord>(
    folder: &Path,
    accept: impl Fn(&str) -> Option<T>,
) -> Result<Vec<T>> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut names = Vec::new();
    for entry in entries {
        names.extend(entry?.file_name().to_str().and_then(&accept));
    }
    names.sort();
    Ok(names)
}

/// Foreign files among ours: reported, and otherwise left alone.
pub(super) type Strays = Vec<PathBuf>;

/// The folders in a folder that `accept` maps to a value, sorted; all other entries go to `strays`. A missing
/// folder is empty.
fn folders_in<T: Ord>(
    folder: &Path,
    accept: impl Fn(&str) -> Option<T>,
    strays: &mut Strays,
) -> Result<Vec<T>> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry?;
        let is_folder = entry.file_type()?.is_dir();
        match entry.file_name().to_str().filter(|_| is_folder).and_then(&accept) {
            Some(name) => found.push(name),
            None => strays.push(entry.path()),
        }
    }
    found.sort();
    Ok(found)
}

/// The scopes and kinds below `folder`, in key order.
pub(super) fn places_in(folder: &Path, strays: &mut Strays) -> Result<Vec<(Scope, Kind)>> {
    let mut places = Vec::new();
    for tenant in folders_in(folder, |name| TenantId::new(name).ok(), strays)? {
        let of_tenant = folder.join(tenant.as_str());
        for user in folders_in(&of_tenant, |name| UserId::new(name).ok(), strays)? {
            let scope = Scope { tenant: tenant.clone(), user };
            let of_user = of_tenant.join(scope.user.as_str());
            let kind = |name: &str| Kind::from_name(name).map(Kind::as_str);
            for kind in folders_in(&of_user, kind, strays)? {
                let kind = Kind::from_name(kind).expect("the name comes from a kind");
                places.push((scope.clone(), kind));
            }
        }
    }
    Ok(places)
}

/// The threads in the folder of a scope and kind, in key order.
pub(super) fn thread_ids(place: &Path, strays: &mut Strays) -> Result<Vec<ThreadId>> {
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

/// The id of the thread that a work-in-progress folder belongs to.
pub(super) fn unfinished(name: &str) -> Option<ThreadId> {
    let id = name.strip_prefix(NEW).or_else(|| name.strip_prefix(ERASED))?;
    ThreadId::new(id).ok()
}

/// Parses the first entry from the name of a segment; `None` for any other file.
pub(super) fn parse_segment_name(name: &str) -> Option<u64> {
    let (number, rest) = name.strip_prefix("turns-")?.split_once('.')?;
    let first = number.parse::<u64>().ok()?.checked_sub(1)?;
    let rewritten = rest.strip_prefix('v').and_then(|rest| rest.strip_suffix(".jsonl"));
    let version = rewritten.and_then(|version| version.parse().ok());
    (segment_name(first, version) == name).then_some(first)
}
