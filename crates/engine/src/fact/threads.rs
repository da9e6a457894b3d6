//! Versioned values as threads: the head is the value, the log has earlier versions.
//!
//! Each user also has a marker: a thread without content whose version changes with every write, so that one
//! cheap read tells any process whether its cached copy is valid.
//!
//! Invariant: the marker moves after every change and, for an erasure, also before it.

use std::sync::Arc;

use futures::{StreamExt as _, TryStreamExt as _, stream};
use serde::Serialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::id::ThreadId;
use crate::life::{encode_with_life, life_of};
use crate::session::unreadable::if_readable;
use crate::store::{
    Change, Erased, Expected, Found, Key, Kind, ListedThread, Scope, Store, StoreError, Version,
    list_all,
};
use crate::tombstone;

/// Threads read, written or erased concurrently.
pub(super) const AT_ONCE: usize = 64;
/// Threads created at the same time, for the same reason as below.
pub(super) const CREATED_AT_ONCE: usize = 256;
/// Threads erased together: others may write in between.
const ERASED_AT_ONCE: usize = 1_000;
/// Maximum attempts against concurrent writers.
const ATTEMPTS_MAX: usize = 20;

pub(super) struct Threads {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    kind: Kind,
}

/// What a change does with the previous value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PreviousValue {
    /// It is appended to the log.
    Kept,
    /// It is dropped: the content has not changed.
    Dropped,
}

impl Threads {
    pub(super) fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>, kind: Kind) -> Self {
        Self { store, clock, kind }
    }

    pub(super) fn key(&self, scope: &Scope, id: &str) -> Result<Key> {
        Ok(Key { scope: scope.clone(), kind: self.kind, id: ThreadId::new(id)? })
    }

    /// Every thread of the scope, most recently changed first.
    pub(super) async fn list(&self, scope: &Scope) -> Result<Vec<ListedThread>> {
        Ok(list_all(self.store.as_ref(), scope, self.kind).await?)
    }

    pub(super) async fn read<T: DeserializeOwned>(
        &self,
        key: &Key,
    ) -> Result<Option<(Version, T)>> {
        let Found::Head(head) = self.store.head(key, None).await? else { return Ok(None) };
        Ok(Some((head.version, decode(key, &head.bytes)?)))
    }

    /// The values of `keys` that exist, unordered.
    pub(super) async fn read_all<T: DeserializeOwned>(
        &self,
        keys: Vec<Key>,
    ) -> Result<Vec<(Version, T)>> {
        let reading =
            stream::iter(keys).map(|key| async move { if_readable(self.read(&key).await) });
        let found: Vec<Option<(Version, T)>> =
            reading.buffer_unordered(AT_ONCE).try_collect().await?;
        Ok(found.into_iter().flatten().collect())
    }

    /// The earlier versions, oldest first.
    pub(super) async fn earlier<T: DeserializeOwned>(&self, key: &Key) -> Result<Vec<T>> {
        let entries = self.store.entries(key, 0..u64::MAX).await?;
        entries.iter().map(|bytes| decode(key, bytes)).collect()
    }

    /// Creates a thread with the given earlier versions.
    pub(super) async fn create<T: Serialize>(
        &self,
        key: &Key,
        value: &T,
        earlier: &[T],
    ) -> Result<()> {
        let append = earlier.iter().map(|earlier| encode(key, earlier)).collect::<Result<_>>()?;
        let head = self.encode_head(key, value, None)?;
        self.commit(key, Expected::Absent, head, append).await?;
        Ok(())
    }

    /// Replaces the value by the result of `next`; `None` leaves it. Returns the resulting value, or `None` if
    /// there is no such thread.
    pub(super) async fn update<T: Serialize + DeserializeOwned>(
        &self,
        key: &Key,
        earlier: PreviousValue,
        mut next: impl FnMut(&T) -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        for _ in 0..ATTEMPTS_MAX {
            let Found::Head(head) = self.store.head(key, None).await? else { return Ok(None) };
            let before: T = decode(key, &head.bytes)?;
            let Some(after) = next(&before)? else { return Ok(Some(before)) };
            let append = match earlier {
                PreviousValue::Kept => vec![encode(key, &before)?],
                PreviousValue::Dropped => Vec::new(),
            };
            let next_head = self.encode_head(key, &after, life_of(key, &head.bytes))?;
            match self.commit(key, Expected::At(head.version), next_head, append).await {
                Ok(_) => return Ok(Some(after)),
                Err(StoreError::Conflict { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::UnderWay { key: key.id.to_string() })
    }

    /// The head with its life; without one it begins a new life.
    fn encode_head<T: Serialize>(
        &self,
        key: &Key,
        value: &T,
        life: Option<Uuid>,
    ) -> Result<bytes::Bytes> {
        let life = life.unwrap_or_else(|| self.clock.id());
        encode_with_life(value, life).map_err(|error| unreadable(key, &error))
    }

    /// Erases threads, leaving tombstones; returns what was removed.
    pub(super) async fn erase(&self, keys: &[Key]) -> Result<Erased> {
        let mut sum = Erased::default();
        for keys in keys.chunks(ERASED_AT_ONCE) {
            tombstone::write_all(self.store.as_ref(), self.clock.as_ref(), keys).await?;
            self.store.erase_all(keys).await?.into_iter().for_each(|one| sum.add(one));
        }
        Ok(sum)
    }

    /// Removes threads that were just created and never reported to anybody.
    pub(super) async fn take_back(&self, keys: &[Key]) {
        for key in keys {
            if let Err(error) = self.store.erase(key).await {
                tracing::warn!(thread = %key, %error, "cannot undo a partial write; the value stays");
            }
        }
    }

    /// The version of the marker of `scope`; `known` is that of a cached copy.
    pub(super) async fn mark(
        &self,
        scope: &Scope,
        known: Option<Version>,
    ) -> Result<Option<Version>> {
        Ok(match self.store.head(&self.marker(scope)?, known).await? {
            Found::Missing => None,
            Found::Unchanged => known,
            Found::Head(head) => Some(head.version),
        })
    }

    pub(super) async fn move_on(&self, scope: &Scope) -> Result<()> {
        let key = self.marker(scope)?;
        for _ in 0..ATTEMPTS_MAX {
            let expected = match self.store.head(&key, None).await? {
                Found::Head(head) => Expected::At(head.version),
                Found::Missing | Found::Unchanged => Expected::Absent,
            };
            match self.commit(&key, expected, "{}".into(), Vec::new()).await {
                Ok(_) => return Ok(()),
                // Somebody else moved it, perhaps before our change.
                Err(StoreError::Conflict { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::UnderWay { key: key.id.to_string() })
    }

    fn marker(&self, scope: &Scope) -> Result<Key> {
        let id = ThreadId::new(format!("changes-of-{}", self.kind.as_str()))?;
        Ok(Key { scope: scope.clone(), kind: Kind::Job, id })
    }

    async fn commit(
        &self,
        key: &Key,
        expected: Expected,
        head: bytes::Bytes,
        append: Vec<bytes::Bytes>,
    ) -> Result<Version, StoreError> {
        let change = Change {
            at: self.clock.now(),
            head,
            append,
            overwrite: Vec::new(),
            expires_at: None,
            write_id: self.clock.id(),
        };
        self.store.commit(key, expected, change).await
    }
}

fn encode<T: Serialize>(key: &Key, value: &T) -> Result<bytes::Bytes> {
    Ok(serde_json::to_vec(value).map_err(|error| unreadable(key, &error))?.into())
}

fn decode<T: DeserializeOwned>(key: &Key, bytes: &[u8]) -> Result<T> {
    serde_json::from_slice(bytes).map_err(|error| unreadable(key, &error))
}

fn unreadable(key: &Key, error: &serde_json::Error) -> Error {
    Error::Unreadable { what: key.to_string(), reason: error.to_string() }
}

/// A fact after its change at that time; `None` if it was forgotten.
pub(crate) async fn fact_at(
    store: &dyn Store,
    scope: &Scope,
    (id, at): (&str, jiff::Timestamp),
) -> Result<Option<super::Fact>> {
    let Ok(id) = ThreadId::new(id) else { return Ok(None) };
    let key = Key { scope: scope.clone(), kind: Kind::Fact, id };
    let Found::Head(head) = store.head(&key, None).await? else { return Ok(None) };
    let now: super::Fact = decode(&key, &head.bytes)?;
    if now.changed_at == at {
        return Ok(Some(now));
    }
    for bytes in store.entries(&key, 0..u64::MAX).await? {
        let earlier: super::Fact = decode(&key, &bytes)?;
        if earlier.changed_at == at {
            return Ok(Some(earlier));
        }
    }
    Ok(None)
}
