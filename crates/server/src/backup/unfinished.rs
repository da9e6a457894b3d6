//! A store that is being filled says so until it is whole.
//!
//! `migrate`, and `restore` into a store on other machines, write one thread after the other. What is on its way is
//! noted first: beside a local store in a file, in others as a thread. Whoever opens the store for use looks for
//! the note. It is no lock: two who fill the same store are not kept apart.
//!
//! Invariant: a note is removed only when everything has arrived.

use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use throughline_engine::access::system_scope;
use throughline_engine::id::ThreadId;
use throughline_engine::store::{Change, Expected, Found, Key, Kind, Store};
use throughline_store::disk;
use throughline_store::{OpenOptions, StoreUrl};
use uuid::Uuid;

use crate::failure::Failure;

/// The thread's name.
const ID: &str = "unfinished-copy";
/// How the file's name ends.
const ENDING: &str = ".filling";

/// What fills a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FilledBy {
    /// `throughline migrate`.
    Migrate,
    /// `throughline restore`.
    Restore,
}

/// What is on its way into a store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnfinishedCopy {
    /// What fills it.
    pub by: FilledBy,
    /// From where: a store without its secrets, or a file.
    pub from: String,
    /// When it began.
    pub since: Timestamp,
}

fn file_of(url: &StoreUrl) -> Option<PathBuf> {
    match url {
        StoreUrl::Sqlite(path) | StoreUrl::Files(path) => Some(disk::beside(path, ENDING)),
        StoreUrl::Memory | StoreUrl::Redis(_) | StoreUrl::S3(_) => None,
    }
}

/// Threads that the note takes in the store itself.
pub fn threads_of_its_own(url: &StoreUrl) -> u64 {
    u64::from(file_of(url).is_none())
}

fn key() -> Key {
    let id = ThreadId::new(ID).expect("a constant name is valid");
    Key { scope: system_scope(), kind: Kind::Job, id }
}

/// Whether a thread is the note.
pub fn is_note(thread: &Key) -> bool {
    *thread == key()
}

/// Opens the store that is to be filled, with the note in place before anything else is written to it.
pub async fn open(
    url: &StoreUrl,
    options: &OpenOptions,
    filling: &UnfinishedCopy,
) -> Result<Arc<dyn Store>, Failure> {
    let text = serde_json::to_vec(filling).unwrap_or_default();
    if let Some(file) = file_of(url) {
        if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            disk::make_folders(folder)?;
        }
        disk::write_whole(&file, &text)?;
        return Ok(throughline_store::open(url, options).await?);
    }
    let store = throughline_store::open(url, options).await?;
    let expected = match store.head(&key(), None).await? {
        Found::Head(head) => Expected::At(head.version),
        Found::Missing | Found::Unchanged => Expected::Absent,
    };
    let change = Change::of_head(text, filling.since, Uuid::now_v7());
    store.commit(&key(), expected, change).await?;
    Ok(store)
}

/// Notes that everything has arrived.
pub async fn end(url: &StoreUrl, store: &dyn Store) -> Result<(), Failure> {
    if file_of(url).is_none() {
        store.erase(&key()).await?;
    }
    forget(url)
}

/// Forgets what was on its way into a local store: another one is in its place.
pub fn forget(url: &StoreUrl) -> Result<(), Failure> {
    let Some(file) = file_of(url) else { return Ok(()) };
    if disk::remove(&file)? > 0 {
        disk::sync_folder_of(&file)?;
    }
    Ok(())
}

/// What was on its way into the store and has not arrived.
pub async fn find(url: &StoreUrl, store: &dyn Store) -> Result<Option<UnfinishedCopy>, Failure> {
    let text = match file_of(url) {
        Some(file) if !file.exists() => return Ok(None),
        Some(file) => std::fs::read(file)?,
        None => match store.head(&key(), None).await? {
            Found::Head(head) => head.bytes.to_vec(),
            Found::Missing | Found::Unchanged => return Ok(None),
        },
    };
    serde_json::from_slice(&text).map(Some).map_err(|error| {
        let what = format!("{url} is being filled, and the note of it cannot be read: {error}");
        Failure::new(what, "run the throughline migrate or restore that was begun again")
    })
}

/// The refusal of a store in which only a part has arrived.
pub fn refusal(url: &StoreUrl, filling: &UnfinishedCopy) -> Failure {
    let UnfinishedCopy { by, from, since } = filling;
    match by {
        FilledBy::Migrate => Failure::new(
            format!("{url} is not whole: the move from {from}, begun {since}, was not finished"),
            format!("throughline migrate --from {from} --to {url}: what has arrived is skipped"),
        ),
        FilledBy::Restore => Failure::new(
            format!("{url} is not whole: the restore that began {since} was not finished"),
            format!("restore again where {from} is, or the backup that it was made of"),
        ),
    }
}
