//! The storage contract that every backend implements.
//!
//! The unit is a *thread*: a versioned head and an append-only log of entries. A session is a thread. So are
//! facts and memory files, whose log holds earlier versions, and the recall index of a session. Presets, API
//! keys, read-only links, tool pins and job records are threads with an empty log. Heads and entries are opaque
//! bytes; only the engine interprets them.
//!
//! Invariant: the head and entries of a [`Change`] become visible together or not at all, and only if the version
//! is still the expected one. Nothing above this contract needs a lock for correctness.

mod error;

use std::fmt;
use std::ops::Range;

use async_trait::async_trait;
use bytes::Bytes;
use futures::future::try_join_all;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::id::{TenantId, ThreadId, UserId};

pub use error::{Result, StoreError};

/// Changes that wait at the same time: a store writes those that wait together.
const COMMITTED_AT_ONCE: usize = 256;
/// The same for erasures.
const ERASED_AT_ONCE: usize = 64;

/// A store of threads. Every backend must pass `throughline_store::conformance`.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// The head, its version and the length of the log. If the version is still `known` and the backend can tell
    /// cheaply, it returns [`Found::Unchanged`] without the head.
    async fn head(&self, key: &Key, known: Option<Version>) -> Result<Found>;

    /// Log entries in `range`, oldest first. A range past the end returns what exists; a missing thread returns
    /// nothing.
    async fn entries(&self, key: &Key, range: Range<u64>) -> Result<Vec<Bytes>>;

    /// The entries with these numbers, in the order given; numbers past the end are skipped. Remote backends
    /// should override this to fetch them in one round trip.
    async fn entries_at(&self, key: &Key, numbers: &[u64]) -> Result<Vec<Bytes>> {
        let asked =
            numbers.iter().map(|&number| self.entries(key, number..number.saturating_add(1)));
        Ok(try_join_all(asked).await?.into_iter().flatten().collect())
    }

    /// Applies `change` atomically if the thread is still at `expected`, and returns the new version. On
    /// [`StoreError::Conflict`] nothing has changed. On `Ok` the change is as durable as [`Store::facts`] states.
    /// The cost must not grow with the length of the log.
    async fn commit(&self, key: &Key, expected: Expected, change: Change) -> Result<Version>;

    /// Applies many changes, each by itself as [`Store::commit`] does; the answers are in their order. A store that has
    /// to wait for something before each commit should override this to wait once.
    async fn commit_all(&self, changes: Vec<(Key, Expected, Change)>) -> Vec<Result<Version>> {
        let committing = changes.into_iter().map(|(key, expected, change)| async move {
            self.commit(&key, expected, change).await
        });
        stream::iter(committing).buffered(COMMITTED_AT_ONCE).collect().await
    }

    /// Threads of one kind in a scope, most recently changed first (then by id).
    async fn list(&self, scope: &Scope, kind: Kind, page: Page) -> Result<Vec<ListedThread>>;

    /// All threads of the store in key order, starting after `after`: for copying, checking and rebuilding.
    async fn scan(&self, after: Option<&Key>, limit: usize) -> Result<Vec<ListedThread>>;

    /// Removes the thread and everything the backend stores of it; returns what was removed. Erasing a missing
    /// thread is not an error: the counts are zero.
    async fn erase(&self, key: &Key) -> Result<Erased>;

    /// Erases many threads, as [`Store::erase`] does each; the answers are in their order. If it fails, some may be
    /// erased.
    async fn erase_all(&self, keys: &[Key]) -> Result<Vec<Erased>> {
        let erasing = keys.iter().cloned().map(|key| async move { self.erase(&key).await });
        stream::iter(erasing).buffered(ERASED_AT_ONCE).try_collect().await
    }

    /// What was found out about the store when it was opened.
    fn facts(&self) -> StoreFacts;

    /// Whether no other process can be using the store now. A store that cannot tell is not alone.
    fn is_alone(&self) -> bool {
        !self.facts().many_writers
    }

    /// Fails with the reason if the store cannot be reached.
    async fn ping(&self) -> Result<()>;

    /// Fails with the reason if nothing can be written: a full disk, a folder that became read-only. Leaves
    /// nothing behind and costs about as much as a small commit.
    async fn probe_write(&self) -> Result<()> {
        self.ping().await
    }

    /// Reads everything and reports problems. Repairs nothing.
    async fn check(&self) -> Result<CheckReport>;
}

/// The owner of a thread. Taken from the credential, never from a request body.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Scope {
    pub tenant: TenantId,
    pub user: UserId,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A session: head and turns.
    Session,
    /// A template for personas.
    Preset,
    /// A hashed API key.
    ApiKey,
    /// An approved tool definition.
    Pin,
    /// A background job.
    Job,
    /// How often an item was used.
    Usage,
    /// A fact about the user, with its earlier versions.
    Fact,
    /// A file of an application's memory tool, with its earlier versions.
    MemoryFile,
    /// A record of an erased thread, so that a restored copy can be erased again.
    Tombstone,
    /// The recall index of the session with the same id: vectors and word counts.
    TurnIndex,
    /// The session that a read-only link opens.
    Share,
}

impl Kind {
    /// All kinds, in key order.
    pub const ALL: [Self; 11] = [
        Self::Session,
        Self::Preset,
        Self::ApiKey,
        Self::Pin,
        Self::Job,
        Self::Usage,
        Self::Fact,
        Self::MemoryFile,
        Self::Tombstone,
        Self::TurnIndex,
        Self::Share,
    ];

    /// The name in paths and keys; never changes.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Preset => "preset",
            Self::ApiKey => "api_key",
            Self::Pin => "pin",
            Self::Job => "job",
            Self::Usage => "usage",
            Self::Fact => "fact",
            Self::MemoryFile => "memory_file",
            Self::Tombstone => "tombstone",
            Self::TurnIndex => "turn_index",
            Self::Share => "share",
        }
    }

    /// Whether threads of this kind can be rebuilt from others. They are not copied between stores.
    pub fn is_derived(self) -> bool {
        self == Self::TurnIndex
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

/// The full name of a thread. Ordered by scope, kind (by name), id, as in [`Store::scan`].
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Key {
    pub scope: Scope,
    pub kind: Kind,
    /// Unique within scope and kind.
    pub id: ThreadId,
}

impl Key {
    /// The key of the recall index of this session.
    pub fn derived(&self) -> Self {
        Self { kind: Kind::TurnIndex, ..self.clone() }
    }

    /// The session this was derived from; `None` if it is not derived.
    pub fn source(&self) -> Option<Self> {
        self.kind.is_derived().then(|| Self { kind: Kind::Session, ..self.clone() })
    }

    fn parts(&self) -> (&str, &str, &str, &str) {
        (self.scope.tenant.as_str(), self.scope.user.as_str(), self.kind.as_str(), self.id.as_str())
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.parts().cmp(&other.parts())
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (tenant, user, kind, id) = self.parts();
        write!(f, "{tenant}/{user}/{kind}/{id}")
    }
}

/// A thread's version. `number` counts commits from 1; `incarnation` is random per creation, so that a thread
/// that was erased and created again is not mistaken for the old one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Version {
    /// Number of commits.
    pub number: u64,
    pub incarnation: u32,
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.number)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    Missing,
    /// Still at the version the caller knows.
    Unchanged,
    Head(Head),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    pub version: Version,
    /// Number of log entries.
    pub entries: u64,
    pub bytes: Bytes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    Absent,
    At(Version),
}

/// An atomic change of a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The engine's time; orders [`Store::list`].
    pub at: Timestamp,
    pub head: Bytes,
    /// Entries appended to the log.
    pub append: Vec<Bytes>,
    /// Entries whose content is erased: the old bytes are removed everywhere and replaced by these. Only for
    /// erasing; history is never rewritten.
    pub overwrite: Vec<(u64, Bytes)>,
    /// When a backend with expiry may drop the thread.
    pub expires_at: Option<Timestamp>,
    /// Identifies this attempt, so that a commit whose reply was lost is recognised as applied.
    pub write_id: uuid::Uuid,
}

impl Change {
    pub fn of_head(head: impl Into<Bytes>, at: Timestamp, write_id: uuid::Uuid) -> Self {
        let head = head.into();
        Self { at, head, append: Vec::new(), overwrite: Vec::new(), expires_at: None, write_id }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    pub limit: usize,
    /// Continue after this thread of the previous page.
    pub after: Option<PageMark>,
}

/// The last thread of a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageMark {
    pub changed_at: Timestamp,
    pub id: ThreadId,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedThread {
    pub key: Key,
    pub version: Version,
    /// Number of log entries.
    pub entries: u64,
    pub changed_at: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Erased {
    /// 0 or 1.
    pub heads: u64,
    pub entries: u64,
    /// Files, objects, rows or keys that contained them.
    pub records: u64,
    /// Bytes of heads and entries.
    pub bytes: u64,
    /// Copies the backend could not remove (e.g. an object version under retention), or that expire later.
    pub left: u64,
    /// Notes about those, one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl Erased {
    pub fn add(&mut self, other: Self) {
        self.heads += other.heads;
        self.entries += other.entries;
        self.records += other.records;
        self.bytes += other.bytes;
        self.left += other.left;
        for note in other.notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
    }
}

/// Threads listed at once by [`list_all`].
const LISTED_AT_ONCE: usize = 1_000;

/// All threads of a kind in a scope, most recently changed first.
pub async fn list_all(store: &dyn Store, scope: &Scope, kind: Kind) -> Result<Vec<ListedThread>> {
    let mut all: Vec<ListedThread> = Vec::new();
    loop {
        let after = all
            .last()
            .map(|listed| PageMark { changed_at: listed.changed_at, id: listed.key.id.clone() });
        let listed = store.list(scope, kind, Page { limit: LISTED_AT_ONCE, after }).await?;
        let last = listed.len() < LISTED_AT_ONCE;
        all.extend(listed);
        if last {
            return Ok(all);
        }
    }
}

/// How durable an acknowledged write is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Durability {
    /// Lost when the process ends.
    Memory,
    /// Written to disk within a second.
    #[serde(rename = "buffered 1s")]
    BufferedSecond,
    /// Flushed by the operating system.
    Buffered,
    /// On disk before the reply.
    Fsync,
    /// In several copies before the reply.
    Replicated,
}

impl fmt::Display for Durability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Memory => "memory",
            Self::BufferedSecond => "buffered 1s",
            Self::Buffered => "buffered",
            Self::Fsync => "fsync",
            Self::Replicated => "replicated",
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StoreFacts {
    /// `sqlite`, `files`, `redis`, `s3` or `memory`.
    pub backend: &'static str,
    /// Without secrets.
    pub location: String,
    pub durability: Durability,
    /// Whether several processes may write.
    pub many_writers: bool,
    /// Number of threads known to be damaged; [`Store::check`] names them.
    pub damaged: u64,
    /// What was found out at startup: library version, eviction policy, result of the probe…
    pub notes: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct CheckReport {
    pub threads: u64,
    pub entries: u64,
    /// Problems, one sentence each, with the name.
    pub problems: Vec<String>,
    /// Harmless findings, one sentence each.
    pub notes: Vec<String>,
}
