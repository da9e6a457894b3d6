//! Lives: which of the threads that ever had a key this one is.
//!
//! A thread gets a life when it is created and keeps it in its head, through every change and in every copy. A
//! tombstone names the life that was erased, so a restore erases exactly that one again, whatever the clocks
//! said, and leaves what was created later under the same key.
//!
//! Invariant: the life of a thread never changes.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::store::{Found, Key, Kind, Store, StoreError};

/// The life of a thread, from its head; `None` if it has none.
pub fn life_of(key: &Key, head: &[u8]) -> Option<Uuid> {
    #[derive(Deserialize)]
    struct Told {
        life: Option<Uuid>,
        created_at: Option<serde_json::Value>,
    }
    if key.kind == Kind::Share {
        // The id is the hash of a random token, so no other link will ever have it.
        return Some(Uuid::new_v5(&Uuid::NAMESPACE_OID, key.id.as_str().as_bytes()));
    }
    let told: Told = serde_json::from_slice(head).ok()?;
    // Earlier versions stored no life of these; their time of creation is part of every copy.
    let created_at = told.created_at.filter(|_| matches!(key.kind, Kind::Fact | Kind::Preset));
    let earlier = created_at
        .map(|at| Uuid::new_v5(&Uuid::NAMESPACE_OID, format!("{}/{at}", key.id).as_bytes()));
    told.life.or(earlier)
}

/// The life of a stored thread; `None` if it is missing, unreadable or has none.
pub async fn stored_life(store: &dyn Store, key: &Key) -> Result<Option<Uuid>, StoreError> {
    match store.head(key, None).await {
        Ok(Found::Head(head)) => Ok(life_of(key, &head.bytes)),
        Ok(Found::Missing | Found::Unchanged) | Err(StoreError::Damaged { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// A value as the head of a thread with this life.
pub(crate) fn encode_with_life<T: Serialize>(
    value: &T,
    life: Uuid,
) -> serde_json::Result<bytes::Bytes> {
    #[derive(Serialize)]
    struct Lived<'a, T> {
        life: Uuid,
        #[serde(flatten)]
        value: &'a T,
    }
    Ok(serde_json::to_vec(&Lived { life, value })?.into())
}
