//! The storage contract: what every backend promises, and nothing a backend does.
//!
//! The unit is a *thread*: a versioned head and an append-only log of entries. A session is a thread;
//! a fact and a memory file are threads whose log holds their earlier versions; what recall derives of a session
//! is a thread beside it; presets, API keys, read-only links, tool pins
//! and job records are threads with an empty log. Heads and entries are opaque bytes here; only the engine
//! knows what is in them.
//!
//! Invariant: a head and the entries of one [`Change`] become visible together or not at all, and only
//! if the version is still the expected one. Nothing above this contract takes a lock for correctness.

mod error;

use std::fmt;
use std::ops::Range;

use async_trait::async_trait;
use bytes::Bytes;
use futures::future::try_join_all;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::id::{TenantId, ThreadId, UserId};

pub use error::{Result, StoreError};

/// Where threads live. One suite, `throughline_store::conformance`, checks every backend.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// The head, its version and the log's length. With `known`, a backend that can tell cheaply that
    /// the version is still `known` answers [`Found::Unchanged`] and sends no head.
    async fn head(&self, key: &Key, known: Option<Version>) -> Result<Found>;

    /// Log entries in `range`, oldest first. A range that reaches past the end answers what there is;
    /// a thread that does not exist answers nothing.
    async fn entries(&self, key: &Key, range: Range<u64>) -> Result<Vec<Bytes>>;

    /// The entries with these numbers, in the order given; a number past the end is left out. A backend
    /// where every question costs a way of its own answers them together.
    async fn entries_at(&self, key: &Key, numbers: &[u64]) -> Result<Vec<Bytes>> {
        let asked =
            numbers.iter().map(|&number| self.entries(key, number..number.saturating_add(1)));
        Ok(try_join_all(asked).await?.into_iter().flatten().collect())
    }

    /// Applies `change` as one step if the thread is still at `expected`, and answers the new version.
    /// On [`StoreError::Conflict`] nothing has changed. When it answers `Ok`, the change is as durable
    /// as [`Store::facts`] says. The cost does not grow with the length of the log.
    async fn commit(&self, key: &Key, expected: Expected, change: Change) -> Result<Version>;

    /// Threads of one kind in one scope, most recently changed first (then by id).
    async fn list(&self, scope: &Scope, kind: Kind, page: Page) -> Result<Vec<ListedThread>>;

    /// Every thread of the store in key order, from after `after`: for moving, checking and rebuilding.
    async fn scan(&self, after: Option<&Key>, limit: usize) -> Result<Vec<ListedThread>>;

    /// Removes the thread and all that the backend keeps of it, and says what went. Erasing what is
    /// not there is not an error: the counts are zero.
    async fn erase(&self, key: &Key) -> Result<Erased>;

    /// What this store is and what it promises, as found when it was opened.
    fn facts(&self) -> StoreFacts;

    /// Answers when the store can be reached, with the reason when it cannot.
    async fn ping(&self) -> Result<()>;

    /// Answers when something can be written, with the reason when it cannot: a full disk, a folder that became
    /// read-only. Leaves nothing behind, and costs about as much as a small commit.
    async fn probe_write(&self) -> Result<()> {
        self.ping().await
    }

    /// Reads everything and names what is wrong. Repairs nothing.
    async fn check(&self) -> Result<CheckReport>;
}

/// Who a thread belongs to. Taken from the credential, never from a request's body.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Scope {
    /// The organisation.
    pub tenant: TenantId,
    /// The person or program within it.
    pub user: UserId,
}

/// What a thread holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A conversation: head and turns.
    Session,
    /// A stored starting point for a persona.
    Preset,
    /// A hashed API key.
    ApiKey,
    /// An approved tool definition.
    Pin,
    /// A piece of background work.
    Job,
    /// How often an item was used.
    Usage,
    /// A fact about the user, with its earlier versions.
    Fact,
    /// A file of an application's memory tool, with its earlier versions.
    MemoryFile,
    /// The trace that an erased thread leaves, so that a restored copy can be erased again.
    Tombstone,
    /// What recall has derived of the session of the same id: vectors and counts of words.
    TurnIndex,
    /// Whose session a read-only link opens.
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

    /// The kind's name in paths and keys; stable for ever.
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

    /// Whether threads of this kind can be made again from others. They are not copied from store to store.
    pub fn is_derived(self) -> bool {
        self == Self::TurnIndex
    }

    /// The kind of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

/// The full name of a thread. Its order is scope, kind (by name), id; [`Store::scan`] follows it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Key {
    /// Who it belongs to.
    pub scope: Scope,
    /// What it holds.
    pub kind: Kind,
    /// Its name within scope and kind.
    pub id: ThreadId,
}

impl Key {
    /// Where what is derived of this session is stored.
    pub fn derived(&self) -> Self {
        Self { kind: Kind::TurnIndex, ..self.clone() }
    }

    /// The session that this is derived of; none where it is not derived.
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

/// A thread's version. `number` counts its commits from 1; `incarnation` is drawn at random when the
/// thread is created, so that a thread erased and made anew is never taken for the old one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Version {
    /// Commits so far.
    pub number: u64,
    /// Which life of this key.
    pub incarnation: u32,
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.number)
    }
}

/// What [`Store::head`] found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// There is no such thread.
    Missing,
    /// It is still at the version that the caller knows.
    Unchanged,
    Head(Head),
}

/// A head as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    pub version: Version,
    /// Entries in the log.
    pub entries: u64,
    /// The bytes that were committed.
    pub bytes: Bytes,
}

/// What a commit expects to find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// No such thread.
    Absent,
    /// The thread at exactly this version.
    At(Version),
}

/// One atomic step of a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// When, by the engine's clock; orders [`Store::list`].
    pub at: Timestamp,
    pub head: Bytes,
    /// Entries added at the end of the log.
    pub append: Vec<Bytes>,
    /// Entries whose content is erased: the old bytes go everywhere, the new ones stand in their place.
    /// For erasing only; history is never rewritten.
    pub overwrite: Vec<(u64, Bytes)>,
    /// When a backend that expires by itself may drop the thread.
    pub expires_at: Option<Timestamp>,
    /// Recognises our own success when the reply to a commit was lost. Unique per attempt.
    pub write_id: uuid::Uuid,
}

impl Change {
    /// A new head, and nothing else.
    pub fn of_head(head: impl Into<Bytes>, at: Timestamp, write_id: uuid::Uuid) -> Self {
        let head = head.into();
        Self { at, head, append: Vec::new(), overwrite: Vec::new(), expires_at: None, write_id }
    }
}

/// A stretch of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// At most this many.
    pub limit: usize,
    /// Go on after this thread of the previous stretch.
    pub after: Option<PageMark>,
}

/// The last thread of a stretch: its change time and id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageMark {
    /// When it was last changed.
    pub changed_at: Timestamp,
    pub id: ThreadId,
}

/// One thread in a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedThread {
    /// Its full name.
    pub key: Key,
    pub version: Version,
    /// Entries in its log.
    pub entries: u64,
    /// The time of its last change.
    pub changed_at: Timestamp,
}

/// What an erasure removed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Erased {
    /// Heads removed: 0 or 1.
    pub heads: u64,
    /// Log entries removed.
    pub entries: u64,
    /// Files, objects, rows or keys that held them.
    pub records: u64,
    /// Bytes of heads and entries removed.
    pub bytes: u64,
    /// Copies that the backend could not remove (an object version under retention, say), or that go later by
    /// themselves.
    pub left: u64,
    /// What is to be known of those, one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl Erased {
    /// Counts what another erasure removed as well.
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

/// Threads that [`list_all`] lists at a time.
const LISTED_AT_ONCE: usize = 1_000;

/// Every thread of a kind in a scope, most recently changed first.
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

/// How long an acknowledged write lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Durability {
    /// Gone when the process ends.
    Memory,
    /// On its way to disk; up to this much may be lost.
    #[serde(rename = "buffered 1s")]
    BufferedSecond,
    /// Left to the operating system.
    Buffered,
    /// On disk before the answer.
    Fsync,
    /// In a store that keeps several copies before the answer.
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

/// What a store is, as found when it was opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StoreFacts {
    /// `sqlite`, `files`, `redis`, `s3` or `memory`.
    pub backend: &'static str,
    /// Where, with secrets taken out.
    pub location: String,
    /// How long an acknowledged write lasts.
    pub durability: Durability,
    /// Whether several processes may write.
    pub many_writers: bool,
    /// Threads that are known to be damaged; [`Store::check`] names them.
    pub damaged: u64,
    /// What was found out at the start: library version, eviction policy, result of the probe…
    pub notes: Vec<String>,
}

/// The result of reading everything.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct CheckReport {
    /// Threads read.
    pub threads: u64,
    /// Log entries read.
    pub entries: u64,
    /// What is wrong, one sentence each, with the name.
    pub problems: Vec<String>,
    /// What was noticed and does no harm, one sentence each.
    pub notes: Vec<String>,
}
