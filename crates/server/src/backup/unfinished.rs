//! Marks a store as incomplete while it is being filled.
//!
//! `migrate`, and `restore` into a remote store, write thread by thread. The mark is written first: beside a
//! local store as a file, in a remote one as a thread. Opening the store for use checks for it. It is not a
//! lock: two processes may fill the same store.
//!
//! Invariant: the mark is removed only when everything has been copied.

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

/// Id of the thread.
const ID: &str = "unfinished-copy";
/// Extension of the file.
const ENDING: &str = ".filling";

/// Command that fills a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FilledBy {
    /// `throughline migrate`.
    Migrate,
    /// `throughline restore`.
    Restore,
}

/// A copy in progress.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnfinishedCopy {
    /// Command that fills the store.
    pub by: FilledBy,
    /// Source: a store URL without secrets, or a file.
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

/// Threads that the mark adds to the store itself.
pub fn threads_of_its_own(url: &StoreUrl) -> u64 {
    u64::from(file_of(url).is_none())
}

fn key() -> Key {
    let id = ThreadId::new(ID).expect("a constant name is valid");
    Key { scope: system_scope(), kind: Kind::Job, id }
}

/// Whether a thread is the mark.
pub fn is_note(thread: &Key) -> bool {
    *thread == key()
}

/// Opens the store to fill, after writing the mark.
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

/// Removes the mark: everything has been copied.
pub async fn end(url: &StoreUrl, store: &dyn Store) -> Result<(), Failure> {
    if file_of(url).is_none() {
        store.erase(&key()).await?;
    }
    forget(url)
}

/// Removes the mark of a local store that was replaced.
pub fn forget(url: &StoreUrl) -> Result<(), Failure> {
    let Some(file) = file_of(url) else { return Ok(()) };
    if disk::remove(&file)? > 0 {
        disk::sync_folder_of(&file)?;
    }
    Ok(())
}

/// The copy into the store that has not finished, if any.
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
        let what = format!("{url} is incomplete, and its mark is unreadable: {error}");
        Failure::new(what, "repeat the throughline migrate or restore that was started")
    })
}

/// The error for an incomplete store.
pub fn refusal(url: &StoreUrl, filling: &UnfinishedCopy) -> Failure {
    let UnfinishedCopy { by, from, since } = filling;
    match by {
        FilledBy::Migrate => Failure::new(
            format!(
                "{url} is incomplete: the migration from {from}, started {since}, did not finish"
            ),
            format!(
                "run throughline migrate --from {from} --to {url} again; it skips what was copied"
            ),
        ),
        FilledBy::Restore => Failure::new(
            format!("{url} is incomplete: the restore started {since} did not finish"),
            format!("restore again from {from}, or from the backup it was made of"),
        ),
    }
}
