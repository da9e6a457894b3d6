//! What stays of an erased thread: a hash of its key, so that it can be erased again from a restored copy
//! without anybody knowing what it was.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::access::system_scope;
use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::hash::ContentHash;
use crate::id::ThreadId;
use crate::store::{Change, Expected, Found, Key, Kind, Store, StoreError};

/// What a tombstone holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tombstone {
    /// Hash of the erased key.
    pub key: ContentHash,
    /// When it was erased.
    pub at: Timestamp,
}

/// The hash under which a key is remembered as erased.
pub fn tombstone_of(key: &Key) -> ContentHash {
    ContentHash::of(&key.to_string())
}

/// Writes the tombstone of `key`. Comes before the erasing itself: if the process dies in between, erasing
/// again is harmless. Its time is not before `last_activity`, which a machine whose clock is ahead may have
/// written.
pub(crate) async fn write(
    store: &dyn Store,
    clock: &dyn Clock,
    key: &Key,
    last_activity: Timestamp,
) -> Result<ContentHash> {
    let hash = tombstone_of(key);
    let tombstone = Tombstone { key: hash.clone(), at: clock.now().max(last_activity) };
    let head = serde_json::to_vec(&tombstone).map_err(|error| Error::Unreadable {
        what: format!("the tombstone {hash}"),
        reason: error.to_string(),
    })?;
    let at =
        Key { scope: system_scope(), kind: Kind::Tombstone, id: ThreadId::new(hash.as_str())? };
    // A session of an erased one's name that is erased in its turn: the later time counts.
    let expected = match store.head(&at, None).await? {
        Found::Head(before) => Expected::At(before.version),
        Found::Missing | Found::Unchanged => Expected::Absent,
    };
    let change = Change {
        at: tombstone.at,
        head: head.into(),
        append: Vec::new(),
        overwrite: Vec::new(),
        expires_at: None,
        write_id: clock.id(),
    };
    match store.commit(&at, expected, change).await {
        Ok(_) | Err(StoreError::Conflict { .. }) => Ok(hash),
        Err(error) => Err(error.into()),
    }
}
