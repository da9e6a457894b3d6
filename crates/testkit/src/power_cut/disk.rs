//! A simulated disk: what is durable, and what is not synced yet.
//!
//! Files are identified by number, like inodes, so that a file keeps its content when renamed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::Call;
use crate::seeded::Seeded;

/// Size that a disk writes atomically.
const SECTOR_BYTES: usize = 512;

/// The files below one folder.
#[derive(Debug, Default)]
pub struct Disk {
    files: Vec<File>,
    /// The names as the process sees them.
    seen: Names,
    /// The names that are durable.
    kept: Names,
    /// Changes of names that are not durable yet, by folder.
    waiting: BTreeMap<PathBuf, Vec<Renaming>>,
}

/// Names and the files they refer to; `None` is a folder.
type Names = BTreeMap<PathBuf, Option<usize>>;

#[derive(Debug, Default)]
struct File {
    kept: Vec<u8>,
    waiting: Vec<Change>,
}

#[derive(Debug)]
enum Change {
    Write { offset: usize, bytes: Vec<u8> },
    Truncate(usize),
}

/// Names that change in one step: `None` is removed, `Some` is added.
type Renaming = Vec<(PathBuf, Option<Option<usize>>)>;

impl Disk {
    /// Loads the content of `before` as if it were in `folder`, all of it durable.
    pub fn of(before: &Path, folder: &Path) -> Self {
        let mut disk = Self::default();
        disk.load(before, folder);
        disk.kept = disk.seen.clone();
        disk
    }

    fn load(&mut self, from: &Path, folder: &Path) {
        for entry in std::fs::read_dir(from).expect("a folder").flatten() {
            let (path, name) = (entry.path(), folder.join(entry.file_name()));
            if path.is_dir() {
                self.seen.insert(name.clone(), None);
                self.load(&path, &name);
            } else {
                let kept = std::fs::read(&path).expect("a file");
                self.files.push(File { kept, waiting: Vec::new() });
                self.seen.insert(name, Some(self.files.len() - 1));
            }
        }
    }

    /// Applies a recorded call.
    pub fn apply(&mut self, call: &Call) {
        match call {
            Call::Write { path, offset, bytes } => {
                let (offset, bytes) = (*offset as usize, bytes.clone());
                self.change(path, Change::Write { offset, bytes });
            }
            Call::Truncate { path, length } => {
                self.change(path, Change::Truncate(*length as usize));
            }
            Call::Create(path) => {
                self.files.push(File::default());
                let file = Some(self.files.len() - 1);
                self.rename(vec![(path.clone(), Some(file))]);
            }
            Call::MakeFolder(path) => self.rename(vec![(path.clone(), Some(None))]),
            Call::Rename(from, to) => {
                let Some(file) = self.seen.get(from).copied() else { return };
                self.rename(vec![(from.clone(), None), (to.clone(), Some(file))]);
            }
            Call::Link(from, to) => {
                let Some(file) = self.seen.get(from).copied() else { return };
                self.rename(vec![(to.clone(), Some(file))]);
            }
            Call::Unlink(path) => self.rename(vec![(path.clone(), None)]),
            Call::Sync(path) => self.sync(path),
        }
    }

    fn change(&mut self, path: &Path, change: Change) {
        // A file without a name does not matter any more.
        if let Some(Some(file)) = self.seen.get(path) {
            self.files[*file].waiting.push(change);
        }
    }

    fn rename(&mut self, renaming: Renaming) {
        apply(&mut self.seen, &renaming);
        let (last, _) = renaming.last().expect("a renaming has a name");
        let folder = last.parent().unwrap_or(Path::new("/")).to_owned();
        self.waiting.entry(folder).or_default().push(renaming);
    }

    fn sync(&mut self, path: &Path) {
        for renaming in self.waiting.remove(path).unwrap_or_default() {
            apply(&mut self.kept, &renaming);
        }
        if let Some(Some(file)) = self.seen.get(path) {
            self.files[*file].keep(usize::MAX);
        }
    }

    /// Keeps some of the pending changes, drops others, and may tear the last one.
    pub fn lose_power(&mut self, seeded: &mut Seeded) {
        for (_, waiting) in std::mem::take(&mut self.waiting) {
            let done = seeded.below(waiting.len() as u64 + 1) as usize;
            for renaming in &waiting[..done] {
                apply(&mut self.kept, renaming);
            }
        }
        for file in &mut self.files {
            file.lose_power(seeded);
        }
    }

    /// Writes the durable files below `folder` to `to`.
    pub fn write_to(&self, folder: &Path, to: &Path) {
        for (name, file) in &self.kept {
            let Ok(below) = name.strip_prefix(folder) else { continue };
            let path = to.join(below);
            match file {
                None => std::fs::create_dir_all(&path).expect("a folder can be made"),
                Some(file) => {
                    // A file is lost with its folder.
                    if path.parent().is_some_and(Path::is_dir) {
                        std::fs::write(&path, &self.files[*file].kept)
                            .expect("a file can be written");
                    }
                }
            }
        }
    }
}

fn apply(names: &mut Names, renaming: &Renaming) {
    for (name, file) in renaming {
        match file {
            Some(file) => names.insert(name.clone(), *file),
            None => names.remove(name),
        };
    }
}

impl File {
    /// Makes the first `count` changes durable.
    fn keep(&mut self, count: usize) {
        let count = count.min(self.waiting.len());
        for change in self.waiting.drain(..count) {
            change.apply(&mut self.kept);
        }
    }

    fn lose_power(&mut self, seeded: &mut Seeded) {
        match seeded.below(4) {
            0 => self.waiting.clear(),
            1 => self.keep(usize::MAX),
            2 => {
                let first = seeded.below(self.waiting.len() as u64 + 1) as usize;
                self.keep(first);
                if let Some(next) = self.waiting.first_mut() {
                    next.tear(seeded);
                }
                self.keep(1);
            }
            // Any subset: nothing was synced between them.
            _ => {
                self.waiting.retain(|_| seeded.happens(500));
                self.keep(usize::MAX);
            }
        }
        self.waiting.clear();
    }
}

impl Change {
    fn apply(self, content: &mut Vec<u8>) {
        match self {
            Self::Truncate(length) => content.resize(length, 0),
            Self::Write { offset, bytes } => {
                let end = offset + bytes.len();
                if content.len() < end {
                    content.resize(end, 0);
                }
                content[offset..end].copy_from_slice(&bytes);
            }
        }
    }

    fn tear(&mut self, seeded: &mut Seeded) {
        if let Self::Write { bytes, .. } = self {
            let sectors = bytes.len().div_ceil(SECTOR_BYTES) as u64;
            bytes.truncate(SECTOR_BYTES * seeded.below(sectors.max(1)) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(name: &str) -> PathBuf {
        Path::new("/f").join(name)
    }

    fn write(name: &str, text: &str) -> Call {
        Call::Write { path: path(name), offset: 0, bytes: text.into() }
    }

    /// What may be on disk after a cut, for any seed: each file's content by name.
    fn left(calls: &[Call]) -> Vec<Vec<(String, String)>> {
        let mut all: Vec<Vec<(String, String)>> = (0..64)
            .map(|seed| {
                let mut disk = Disk::default();
                calls.iter().for_each(|call| disk.apply(call));
                disk.lose_power(&mut Seeded::new(seed));
                let file = |name: &PathBuf, file: usize| {
                    let name = name.file_name().unwrap_or_default().to_string_lossy().into_owned();
                    (name, String::from_utf8_lossy(&disk.files[file].kept).into_owned())
                };
                disk.kept.iter().filter_map(|(name, at)| Some(file(name, (*at)?))).collect()
            })
            .collect();
        all.sort();
        all.dedup();
        all
    }

    #[test]
    fn what_was_synced_stays_and_the_rest_may_go() {
        let named = |name: &str, text: &str| vec![(name.to_owned(), text.to_owned())];
        let made = [Call::Create(path("a")), write("a", "x")];
        assert_eq!(left(&made), [vec![], named("a", ""), named("a", "x")]);
        let synced = [&made[..], &[Call::Sync(path("a")), Call::Sync("/f".into())]].concat();
        assert_eq!(left(&synced), [named("a", "x")]);
        let renamed = [&synced[..], &[Call::Rename(path("a"), path("b"))]].concat();
        assert_eq!(left(&renamed), [named("a", "x"), named("b", "x")]);
        let unlinked = [&renamed[..], &[Call::Sync("/f".into()), Call::Unlink(path("b"))]].concat();
        assert_eq!(left(&unlinked), [vec![], named("b", "x")]);
    }
}
