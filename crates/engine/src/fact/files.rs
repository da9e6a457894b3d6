//! Files below `/memories` for Anthropic's memory tool: its six commands, with the wording of its results.
//!
//! A file is a thread whose id is the hash of its path, so that concurrent writers conflict. Its log has the
//! earlier texts, which a renamed file keeps. Folders are implied by the paths of files: there are no empty ones.
//! A deleted file is erased.
//!
//! Invariant: a path has plain segments only, so nothing outside `/memories` can be named.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::access::{Action, Caller, authorize};
use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::hash::ContentHash;
use crate::limits::Limits;
use crate::store::{Key, Kind, Store, StoreError};

use super::paths::{
    LEVELS, ROOT, checked_path, file_path, human, is_below, line_of, listing, no_path, numbered,
    shown_lines,
};
use super::threads::{PreviousValue, Threads};

/// Lines shown around an edit.
const AROUND: usize = 4;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileCommand {
    /// A folder's listing, or a file with line numbers.
    View {
        path: String,
        /// First and last line; -1 is the end.
        view_range: Option<[i64; 2]>,
    },
    Create {
        path: String,
        file_text: String,
    },
    /// Replaces a text that occurs exactly once.
    StrReplace {
        path: String,
        old_str: String,
        /// The replacement; empty if absent.
        new_str: String,
    },
    Insert {
        path: String,
        /// The line; 0 for the beginning.
        insert_line: i64,
        insert_text: String,
    },
    /// Erases a file, or a folder with all its files.
    Delete {
        path: String,
    },
    Rename {
        old_path: String,
        new_path: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileAnswer {
    pub content: String,
    pub is_error: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryFile {
    pub path: String,
    pub text: String,
    pub changed_at: Timestamp,
}

/// A failure: a mistake reported to the model, or an error of ours.
pub(super) enum Failed {
    Told(String),
    Broken(Error),
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self::Broken(error)
    }
}

pub(super) type Outcome<T = String> = std::result::Result<T, Failed>;

pub struct MemoryFiles {
    threads: Threads,
    clock: Arc<dyn Clock>,
    limits: Arc<Limits>,
}

impl MemoryFiles {
    pub fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>, limits: Arc<Limits>) -> Self {
        let threads = Threads::new(store, clock.clone(), Kind::MemoryFile);
        Self { threads, clock, limits }
    }

    /// Executes a command. A mistake by the model is reported as a result.
    pub async fn run(&self, caller: &Caller, command: FileCommand) -> Result<FileAnswer> {
        let reads = matches!(command, FileCommand::View { .. });
        authorize(caller, if reads { Action::Read } else { Action::Write })?;
        let done = match command {
            FileCommand::View { path, view_range } => self.view(caller, &path, view_range).await,
            FileCommand::Create { path, file_text } => self.create(caller, &path, file_text).await,
            FileCommand::StrReplace { path, old_str, new_str } => {
                self.replace(caller, &path, &old_str, &new_str).await
            }
            FileCommand::Insert { path, insert_line, insert_text } => {
                self.insert(caller, &path, insert_line, &insert_text).await
            }
            FileCommand::Delete { path } => self.delete(caller, &path).await,
            FileCommand::Rename { old_path, new_path } => {
                self.rename(caller, &old_path, &new_path).await
            }
        };
        match done {
            Ok(content) => Ok(FileAnswer { content, is_error: false }),
            Err(Failed::Told(content)) => Ok(FileAnswer { content, is_error: true }),
            Err(Failed::Broken(error)) => Err(error),
        }
    }

    /// All versions of a file, oldest first.
    pub async fn history(&self, caller: &Caller, path: &str) -> Result<Vec<MemoryFile>> {
        authorize(caller, Action::Read)?;
        let missing = || Error::Missing {
            kind: "memory",
            name: path.chars().take(128).collect(),
            known: Vec::new(),
        };
        let key = self.key(caller, &checked_path(path).map_err(|_| missing())?)?;
        let Some((_, file)) = self.threads.read::<MemoryFile>(&key).await? else {
            return Err(missing());
        };
        let mut versions: Vec<MemoryFile> = self.threads.earlier(&key).await?;
        versions.push(file);
        Ok(versions)
    }

    async fn view(&self, caller: &Caller, path: &str, range: Option<[i64; 2]>) -> Outcome {
        let path = checked_path(path)?;
        if let Some(file) = self.find(caller, &path).await? {
            let lines: Vec<&str> = file.text.split('\n').collect();
            let (first, last) = shown_lines(range, lines.len())?;
            let shown = numbered(&lines, first, last);
            return Ok(format!("Here's the content of {path} with line numbers:\n{shown}"));
        }
        let files = self.below(caller, &path).await?;
        if files.is_empty() && path != ROOT {
            return Err(Failed::Told(no_path(&path)));
        }
        let heading = format!(
            "Here're the files and directories up to {LEVELS} levels deep in {path}, excluding hidden items and node_modules:"
        );
        let entries = listing(&path, &files);
        let entries = entries.iter().map(|(path, size)| format!("{}\t{path}", human(*size)));
        Ok([heading].into_iter().chain(entries).collect::<Vec<_>>().join("\n"))
    }

    async fn create(&self, caller: &Caller, path: &str, text: String) -> Outcome {
        let path = file_path(path)?;
        self.check_size(&text)?;
        let all = self.all(caller).await?;
        if all.len() >= self.limits.memory_files_max {
            return Err(Failed::Broken(Error::OverLimit {
                what: "the number of memory files".into(),
                size: all.len() as u64 + 1,
                limit: "memory_files_max",
                allowed: self.limits.memory_files_max as u64,
            }));
        }
        let taken = Failed::Told(format!("Error: File {path} already exists"));
        // On every level, a name is that of either a file or a folder.
        if all.iter().any(|file| is_below(&file.path, &path) || is_below(&path, &file.path)) {
            return Err(taken);
        }
        let key = self.key(caller, &path)?;
        let file = MemoryFile { path: path.clone(), text, changed_at: self.clock.now() };
        match self.threads.create(&key, &file, &[]).await {
            Ok(()) => Ok(format!("File created successfully at: {path}")),
            Err(Error::Store(StoreError::Conflict { .. })) => Err(taken),
            Err(error) => Err(error.into()),
        }
    }

    async fn replace(&self, caller: &Caller, path: &str, old: &str, new: &str) -> Outcome {
        let path = checked_path(path)?;
        let edited = self
            .edit(caller, &path, &format!("Error: {}", no_path(&path)), |text| {
                let places: Vec<usize> = text.match_indices(old).map(|(at, _)| at).collect();
                match places[..] {
                    [at] if !old.is_empty() => {
                        let after = &text[at + old.len()..];
                        Ok((format!("{}{new}{after}", &text[..at]), line_of(text, at)))
                    }
                    [] | [_] => Err(format!(
                        "No replacement was performed, old_str `{old}` did not appear verbatim in {path}."
                    )),
                    _ => Err(format!(
                        "No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {}. Please ensure it is unique",
                        places.iter().map(|at| line_of(text, *at).to_string()).collect::<Vec<_>>().join(", ")
                    )),
                }
            })
            .await?;
        let (text, line) = edited;
        let lines: Vec<&str> = text.split('\n').collect();
        let last = line + new.matches('\n').count() + AROUND;
        let shown = numbered(&lines, line.saturating_sub(AROUND).max(1), last.min(lines.len()));
        Ok(format!("The memory file has been edited.\n{shown}"))
    }

    async fn insert(&self, caller: &Caller, path: &str, line: i64, inserted: &str) -> Outcome {
        let path = checked_path(path)?;
        self.edit(caller, &path, &format!("Error: The path {path} does not exist"), |text| {
            let mut lines: Vec<&str> = text.split('\n').collect();
            // The newline of the last line does not start another one.
            let count = if text.is_empty() { 0 } else { lines.len() - usize::from(text.ends_with('\n')) };
            let at = usize::try_from(line).ok().filter(|at| *at <= count).ok_or_else(|| {
                format!(
                    "Error: Invalid `insert_line` parameter: {line}. It should be within the range of lines of the file: [0, {count}]"
                )
            })?;
            if text.is_empty() {
                return Ok((inserted.to_owned(), 1));
            }
            lines.insert(at, inserted.strip_suffix('\n').unwrap_or(inserted));
            Ok((lines.join("\n"), at + 1))
        })
        .await?;
        Ok(format!("The file {path} has been edited."))
    }

    async fn delete(&self, caller: &Caller, path: &str) -> Outcome {
        let path = checked_path(path)?;
        if path == ROOT {
            return Err(Failed::Told(format!("Error: The path {ROOT} cannot be deleted")));
        }
        let files = self.at_or_below(caller, &path).await?;
        if files.is_empty() {
            return Err(Failed::Told(format!("Error: The path {path} does not exist")));
        }
        let keys = files.iter().map(|file| self.key(caller, &file.path));
        self.threads.erase(&keys.collect::<Result<Vec<Key>>>()?).await?;
        Ok(format!("Successfully deleted {path}"))
    }

    async fn rename(&self, caller: &Caller, old: &str, new: &str) -> Outcome {
        let (old, new) = (checked_path(old)?, file_path(new)?);
        if old == ROOT || is_below(&new, &old) {
            return Err(Failed::Told(format!("Error: {old} cannot be renamed to {new}")));
        }
        let all = self.all(caller).await?;
        let (moving, staying): (Vec<MemoryFile>, Vec<MemoryFile>) =
            all.into_iter().partition(|file| file.path == old || is_below(&file.path, &old));
        if moving.is_empty() {
            return Err(Failed::Told(format!("Error: The path {old} does not exist")));
        }
        let taken = |file: &MemoryFile| {
            file.path == new || is_below(&file.path, &new) || is_below(&new, &file.path)
        };
        if old == new || staying.iter().any(taken) {
            return Err(Failed::Told(format!("Error: The destination {new} already exists")));
        }
        let mut sources = Vec::new();
        for file in moving {
            let key = self.key(caller, &file.path)?;
            let mut earlier: Vec<MemoryFile> = self.threads.earlier(&key).await?;
            earlier.push(file.clone());
            let path = checked_path(&format!("{new}{}", &file.path[old.len()..]))?;
            let moved = MemoryFile { path: path.clone(), changed_at: self.clock.now(), ..file };
            self.threads.create(&self.key(caller, &path)?, &moved, &earlier).await?;
            sources.push(key);
        }
        self.threads.erase(&sources).await?;
        Ok(format!("Successfully renamed {old} to {new}"))
    }

    /// Replaces a file's text by the result of `change`, which also returns the changed line.
    async fn edit(
        &self,
        caller: &Caller,
        path: &str,
        absent: &str,
        change: impl Fn(&str) -> std::result::Result<(String, usize), String>,
    ) -> Outcome<(String, usize)> {
        let key = self.key(caller, path)?;
        let (mut refused, mut line) = (None, 1);
        let next = |file: &MemoryFile| match change(&file.text) {
            Ok((text, at)) => {
                self.check_size(&text)?;
                (refused, line) = (None, at);
                Ok(Some(MemoryFile { text, changed_at: self.clock.now(), ..file.clone() }))
            }
            Err(reason) => {
                refused = Some(reason);
                Ok(None)
            }
        };
        let edited = self.threads.update(&key, PreviousValue::Kept, next).await?;
        match (edited, refused) {
            (None, _) => Err(Failed::Told(absent.to_owned())),
            (Some(_), Some(reason)) => Err(Failed::Told(reason)),
            (Some(file), None) => Ok((file.text, line)),
        }
    }

    fn check_size(&self, text: &str) -> Result<()> {
        if text.len() <= self.limits.memory_file_bytes_max {
            return Ok(());
        }
        Err(Error::OverLimit {
            what: "the size of the memory file in bytes".into(),
            size: text.len() as u64,
            limit: "memory_file_bytes_max",
            allowed: self.limits.memory_file_bytes_max as u64,
        })
    }

    async fn find(&self, caller: &Caller, path: &str) -> Result<Option<MemoryFile>> {
        Ok(self.threads.read(&self.key(caller, path)?).await?.map(|(_, file)| file))
    }

    pub async fn all(&self, caller: &Caller) -> Result<Vec<MemoryFile>> {
        authorize(caller, Action::Read)?;
        let listed = self.threads.list(&caller.scope).await?;
        let keys = listed.into_iter().map(|listed| listed.key).collect();
        Ok(self.threads.read_all(keys).await?.into_iter().map(|(_, file)| file).collect())
    }

    async fn below(&self, caller: &Caller, path: &str) -> Result<Vec<MemoryFile>> {
        let mut files = self.all(caller).await?;
        files.retain(|file| is_below(&file.path, path));
        Ok(files)
    }

    async fn at_or_below(&self, caller: &Caller, path: &str) -> Result<Vec<MemoryFile>> {
        match self.find(caller, path).await? {
            Some(file) => Ok(vec![file]),
            None => self.below(caller, path).await,
        }
    }

    fn key(&self, caller: &Caller, path: &str) -> Result<Key> {
        self.threads.key(&caller.scope, ContentHash::of(path).as_str())
    }
}
