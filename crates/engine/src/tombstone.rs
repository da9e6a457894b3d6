//! Tombstones: the hash of an erased thread's key, so that it can be erased again from a restored copy without
//! revealing what it was.

use futures::{StreamExt as _, TryStreamExt as _, stream};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::access::system_scope;
use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::hash::ContentHash;
use crate::id::ThreadId;
use crate::life::stored_life;
use crate::store::{Change, Expected, Found, Key, Kind, Store, StoreError};

/// Maximum incarnations recorded per key; the oldest are dropped.
const LIVES_MAX: usize = 1000;
/// Threads read at the same time.
const READ_AT_ONCE: usize = 64;
/// Maximum attempts against concurrent writers.
const ATTEMPTS_MAX: usize = 20;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tombstone {
    /// Hash of the erased key.
    pub key: ContentHash,
    /// When it was last erased.
    pub at: Timestamp,
    /// The erased incarnations of that key, oldest first. Timestamps could not tell them apart.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lives: Vec<Uuid>,
    /// When something of an unknown incarnation was erased: by an earlier version, or because it was unreadable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown_at: Option<Timestamp>,
}

impl Tombstone {
    /// When something was erased of which only the time is known.
    pub fn unknown_at(&self) -> Option<Timestamp> {
        if self.lives.is_empty() { Some(self.at) } else { self.unknown_at }
    }

    /// Adds an erasure.
    fn after(before: Option<Self>, key: ContentHash, at: Timestamp, life: Option<Uuid>) -> Self {
        let mut unknown_at = before.as_ref().and_then(Self::unknown_at);
        let mut lives = before.map(|before| before.lives).unwrap_or_default();
        match life {
            // Erased again because the first attempt was interrupted.
            Some(life) if lives.contains(&life) => {}
            Some(life) => lives.push(life),
            None => unknown_at = Some(at),
        }
        let surplus = lives.len().saturating_sub(LIVES_MAX);
        lives.drain(..surplus);
        Self { key, at, lives, unknown_at }
    }
}

/// The hash that identifies an erased key.
pub fn tombstone_of(key: &Key) -> ContentHash {
    ContentHash::of(&key.to_string())
}

/// Writes the tombstone of `key` before the erasure: if the process dies in between, erasing again is harmless.
/// It names the life of the thread; for a thread without one, its time counts, which is at least `last_activity`,
/// because a server with a fast clock may have written that.
pub(crate) async fn write(
    store: &dyn Store,
    clock: &dyn Clock,
    key: &Key,
    last_activity: Timestamp,
) -> Result<ContentHash> {
    let hash = tombstone_of(key);
    for _ in 0..ATTEMPTS_MAX {
        let (at, expected, change) = next(store, clock, key, last_activity).await?;
        match store.commit(&at, expected, change).await {
            Ok(_) => return Ok(hash),
            Err(StoreError::Conflict { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(Error::Contended { session: key.id.clone().into(), attempts: ATTEMPTS_MAX })
}

/// Writes the tombstones of many keys together.
pub(crate) async fn write_all(store: &dyn Store, clock: &dyn Clock, keys: &[Key]) -> Result<()> {
    let now = clock.now();
    let reading =
        keys.iter().cloned().map(|key| async move { next(store, clock, &key, now).await });
    let changes: Vec<_> = stream::iter(reading).buffered(READ_AT_ONCE).try_collect().await?;
    for (key, written) in keys.iter().zip(store.commit_all(changes).await) {
        match written {
            Ok(_) => {}
            Err(StoreError::Conflict { .. }) => {
                write(store, clock, key, now).await?;
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// The change that adds an erasure to the tombstone of `key`.
async fn next(
    store: &dyn Store,
    clock: &dyn Clock,
    key: &Key,
    last_activity: Timestamp,
) -> Result<(Key, Expected, Change)> {
    let hash = tombstone_of(key);
    let life = stored_life(store, key).await?;
    let at =
        Key { scope: system_scope(), kind: Kind::Tombstone, id: ThreadId::new(hash.as_str())? };
    let (expected, before) = match store.head(&at, None).await? {
        Found::Head(head) => (Expected::At(head.version), serde_json::from_slice(&head.bytes).ok()),
        Found::Missing | Found::Unchanged => (Expected::Absent, None),
    };
    let when = clock.now().max(last_activity);
    let tombstone = Tombstone::after(before, hash, when, life);
    let head = serde_json::to_vec(&tombstone).map_err(|error| Error::Unreadable {
        what: format!("the tombstone {hash}"),
        reason: error.to_string(),
    })?;
    Ok((at, expected, Change::of_head(head, tombstone.at, clock.id())))
}
