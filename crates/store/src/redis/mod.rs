//! Threads in Redis, on a single server or a cluster, for concurrent writers.
//!
//! A commit is one script, so head and log change atomically; the keys of a thread share a slot, so the
//! script also works on a cluster. Sessions expire as in seed 001. The server's settings are read on
//! opening and reported: see [`settings`].
//!
//! - [`options`]: the URL. [`keys`]: key names. [`connection`]: commands and retries.
//! - [`commit`], [`listing`], [`check`], [`rewrite`]: the store's operations. [`shared`]: a cache beside the threads.
//!
//! Invariant: every thread is in its user's set; an id without a thread is harmless.

mod check;
mod commit;
mod connection;
mod keys;
mod listing;
pub mod options;
mod rewrite;
mod settings;
mod shared;
mod single;

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use throughline_engine::store::{
    Change, CheckReport, Erased, Expected, Found, Head, Key, Kind, ListedThread, Page, Result,
    Scope, Store, StoreError, StoreFacts, Version,
};

use connection::{Connection, Script};
use keys::Keys;
pub use options::RedisOptions;
use rewrite::Rewrites;
pub use shared::RedisShared;

/// Entries read per command.
const ENTRIES_AT_ONCE: u64 = 5_000;

/// A Redis server or cluster whose settings have been checked.
pub struct RedisStore {
    connection: Connection,
    keys: Keys,
    options: RedisOptions,
    scripts: Scripts,
    append_only: bool,
    rewrites: Rewrites,
    facts: StoreFacts,
    /// Commits that turned out to be done although the reply was lost.
    recognised: AtomicU64,
}

struct Scripts {
    head: Script,
    commit: Script,
    erase: Script,
    announce: Script,
    forget: Script,
}

impl RedisStore {
    /// Connects, reads the server's settings and refuses unsafe ones.
    pub async fn open(options: RedisOptions) -> Result<Self> {
        let connection = Connection::open(&options).await?;
        let found = settings::read(&connection).await?;
        let mut notes = found.notes;
        notes.push(match options.session_ttl {
            Some(ttl) => format!("sessions expire {} s after their last change", ttl.as_secs()),
            None => "sessions do not expire".into(),
        });
        if found.append_only && !options.rewrite_on_erase {
            notes.push("erased bytes stay in the append-only file until its next rewrite".into());
        }
        let facts = StoreFacts {
            backend: "redis",
            location: options.location().to_owned(),
            durability: found.durability,
            many_writers: true,
            damaged: 0,
            notes,
        };
        let scripts = Scripts {
            head: Script::new(include_str!("scripts/head.lua")),
            commit: Script::new(include_str!("scripts/commit.lua")),
            erase: Script::new(include_str!("scripts/erase.lua")),
            announce: Script::new(include_str!("scripts/announce.lua")),
            forget: Script::new(include_str!("scripts/forget.lua")),
        };
        let keys = Keys::new(&options.prefix);
        let append_only = found.append_only;
        let recognised = AtomicU64::new(0);
        let rewrites = Rewrites::default();
        Ok(Self { connection, keys, options, scripts, append_only, rewrites, facts, recognised })
    }

    /// Number of commits that were recognised as done although the reply was lost.
    pub fn own_writes_recognised(&self) -> u64 {
        self.recognised.load(Ordering::Relaxed)
    }
}

#[async_trait]
impl Store for RedisStore {
    async fn head(&self, key: &Key, known: Option<Version>) -> Result<Found> {
        let thread = self.keys.thread(key);
        let number = known.map_or(String::new(), |version| version.number.to_string());
        let incarnation = known.map_or(String::new(), |version| version.incarnation.to_string());
        let call = self.scripts.head.call(std::slice::from_ref(&thread));
        let call = call.arg(number).arg(incarnation);
        let fields: Vec<Vec<u8>> = self.connection.run(&call).await?.value;
        match fields.as_slice() {
            [] => Ok(Found::Missing),
            [_] => Ok(Found::Unchanged),
            [number, incarnation, entries, head] => Ok(Found::Head(Head {
                version: version(&thread, number, incarnation)?,
                entries: parse(&thread, "entries", entries)?,
                bytes: Bytes::from(head.clone()),
            })),
            _ => Err(damaged(&thread, "its fields are not those of a thread")),
        }
    }

    async fn entries(&self, key: &Key, range: Range<u64>) -> Result<Vec<Bytes>> {
        let log = self.keys.log(key);
        let mut entries = Vec::new();
        let mut from = range.start;
        while from < range.end {
            let to = range.end.min(from.saturating_add(ENTRIES_AT_ONCE));
            let place = |at: u64| i64::try_from(at).unwrap_or(i64::MAX);
            let mut command = redis::cmd("LRANGE");
            command.arg(&log).arg(place(from)).arg(place(to - 1));
            let found: Vec<Vec<u8>> = self.connection.query(&command).await?;
            let complete = found.len() as u64 == to - from;
            entries.extend(found.into_iter().map(Bytes::from));
            if !complete {
                break;
            }
            from = to;
        }
        Ok(entries)
    }

    async fn commit(&self, key: &Key, expected: Expected, change: Change) -> Result<Version> {
        self.commit_change(key, expected, &change).await
    }

    async fn list(&self, scope: &Scope, kind: Kind, page: Page) -> Result<Vec<ListedThread>> {
        self.list_newest(scope, kind, page).await
    }

    async fn scan(&self, after: Option<&Key>, limit: usize) -> Result<Vec<ListedThread>> {
        self.scan_in_order(after, limit).await
    }

    async fn erase(&self, key: &Key) -> Result<Erased> {
        self.erase_thread(key).await
    }

    fn facts(&self) -> StoreFacts {
        self.facts.clone()
    }

    async fn ping(&self) -> Result<()> {
        for node in self.connection.primaries().await? {
            let _: String = self.connection.query_node(node.as_ref(), &redis::cmd("PING")).await?;
        }
        Ok(())
    }

    async fn probe_write(&self) -> Result<()> {
        self.ping().await?;
        let mut command = redis::cmd("SET");
        command.arg(self.keys.probe()).arg("1").arg("PX").arg(1000);
        self.connection.query::<String>(&command).await.map(drop)
    }

    async fn check(&self) -> Result<CheckReport> {
        self.check_all().await
    }
}

fn version(thread: &str, number: &[u8], incarnation: &[u8]) -> Result<Version> {
    let number = parse(thread, "version", number)?;
    Ok(Version { number, incarnation: parse(thread, "incarnation", incarnation)? })
}

fn parse<T: std::str::FromStr>(thread: &str, field: &str, bytes: &[u8]) -> Result<T> {
    let text = std::str::from_utf8(bytes).ok();
    let parsed = text.and_then(|text| text.parse().ok());
    parsed.ok_or_else(|| damaged(thread, &format!("its {field} cannot be read")))
}

fn damaged(thread: &str, reason: &str) -> StoreError {
    StoreError::Damaged { what: format!("key {thread}"), reason: reason.to_owned() }
}
