//! Erases again in a restored store what was erased since its backup.
//!
//! It only needs the store that holds the copy.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use throughline_engine::access::system_scope;
use throughline_engine::error::Error;
use throughline_engine::id::ThreadId;
use throughline_engine::life::stored_life;
use throughline_engine::limits::Limits;
use throughline_engine::session::{Sessions, erase};
use throughline_engine::store::{Change, Expected, Found, Key, Kind, Store, StoreError};
use throughline_engine::tombstone::{Tombstone, tombstone_of};
use uuid::Uuid;

use super::erasures::{ErasureLog, Erasures};
use crate::clock;
use crate::failure::Failure;

/// Threads per listing.
const STRETCH: usize = 200;

/// What was erased again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct ErasedAgain {
    /// Sessions and other threads.
    pub threads: u64,
    /// Single turns.
    pub turns: u64,
}

/// Adds the tombstones in a store to `erasures`.
pub async fn of_store(store: &dyn Store, erasures: &mut Erasures) -> Result<(), StoreError> {
    let mut after: Option<Key> = None;
    loop {
        let listed = store.scan(after.as_ref(), STRETCH).await?;
        let Some(last) = listed.last() else { return Ok(()) };
        after = Some(last.key.clone());
        for listed in listed.iter().filter(|listed| listed.key.kind == Kind::Tombstone) {
            let Found::Head(head) = store.head(&listed.key, None).await? else { continue };
            if let Ok(tombstone) = serde_json::from_slice::<Tombstone>(&head.bytes) {
                erasures.add_tombstone(tombstone);
            }
        }
    }
}

/// Adds the erasures of a log to `erasures`; returns the numbers of unreadable lines.
pub fn of_log(log: &ErasureLog, erasures: &mut Erasures) -> Result<Vec<usize>, Failure> {
    let read = log.read().map_err(|error| {
        let what = format!("cannot read {}: {error}", log.path().display());
        Failure::new(what, "make it readable; without it, erased data could come back")
    })?;
    for erasure in read.erasures {
        erasures.add(erasure);
    }
    Ok(read.damaged)
}

/// Erases in `store` what `erasures` and its own tombstones name, and writes all tombstones to it.
pub async fn erase(store: &Arc<dyn Store>, mut erasures: Erasures) -> Result<ErasedAgain, Failure> {
    of_store(store.as_ref(), &mut erasures).await?;
    let mut again = ErasedAgain::default();
    let mut after: Option<Key> = None;
    loop {
        let listed = store.scan(after.as_ref(), STRETCH).await?;
        let Some(last) = listed.last() else { break };
        after = Some(last.key.clone());
        for listed in listed.iter().filter(|listed| listed.key.kind != Kind::Tombstone) {
            let hash = tombstone_of(&listed.key.source().unwrap_or_else(|| listed.key.clone()));
            if !erasures.know(&hash) {
                continue;
            }
            if listed.key.kind.is_derived() {
                // Derived data is rebuilt from what remains of its session.
                store.erase(&listed.key).await?;
                continue;
            }
            let life = stored_life(store.as_ref(), &listed.key).await?;
            if erasures.hold(&hash, life, listed.changed_at) {
                again.threads += store.erase(&listed.key).await?.heads;
                continue;
            }
            let mut turns = erasures.turns(&hash, life, listed.changed_at);
            turns.retain(|turn| *turn <= listed.entries);
            if !turns.is_empty() && listed.key.kind == Kind::Session {
                again.turns += erase_turns(store, &listed.key, &turns).await?;
            }
        }
    }
    bury(store.as_ref(), &erasures).await?;
    Ok(again)
}

/// Erases single turns of a session in `store`.
pub async fn erase_turns(
    store: &Arc<dyn Store>,
    key: &Key,
    turns: &BTreeSet<u64>,
) -> Result<u64, Error> {
    let attempts = Limits::default().commit_attempts_max;
    let sessions = Sessions::new(store.clone(), clock::system(), 0, Duration::ZERO, attempts);
    erase::erase_turns(&sessions, key, turns).await
}

/// Writes the tombstones into the restored store, so that the next restore knows them too.
async fn bury(store: &dyn Store, erasures: &Erasures) -> Result<(), Failure> {
    for tombstone in erasures.tombstones() {
        let id = ThreadId::new(tombstone.key.as_str()).map_err(Error::from)?;
        let key = Key { scope: system_scope(), kind: Kind::Tombstone, id };
        let (expected, known) = match store.head(&key, None).await? {
            Found::Head(head) => (Expected::At(head.version), Some(head.bytes)),
            Found::Missing | Found::Unchanged => (Expected::Absent, None),
        };
        let head = serde_json::to_vec(&tombstone).unwrap_or_default();
        if known.as_deref() == Some(head.as_slice()) {
            continue;
        }
        let change = Change::of_head(head, tombstone.at, Uuid::now_v7());
        match store.commit(&key, expected, change).await {
            Ok(_) | Err(StoreError::Conflict { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use throughline_engine::access::Caller;
    use throughline_engine::id::SessionId;
    use throughline_store::memory::Memory;

    use super::super::erasures::Erasure;
    use super::*;

    #[tokio::test]
    async fn what_was_derived_of_an_erased_session_or_turn_goes_too() {
        let store: Arc<dyn Store> = Arc::new(Memory::new());
        let mut erasures = Erasures::default();
        let at = Timestamp::UNIX_EPOCH;
        for (name, turns) in [("gone", None), ("cut", Some(7)), ("left", None)] {
            let id = SessionId::new(name).unwrap();
            let key = Caller::local().session_key(&id);
            for key in [key.clone(), key.derived()] {
                let change = Change::of_head("{}", at, Uuid::now_v7());
                store.commit(&key, Expected::Absent, change).await.unwrap();
            }
            if name != "left" {
                let (key, turns) = (tombstone_of(&key), turns.into_iter().collect());
                erasures.add(Erasure { key, at, life: None, turns });
            }
        }
        erase(&store, erasures).await.unwrap();
        let listed = store.scan(None, 100).await.unwrap();
        let derived = listed.iter().filter(|listed| listed.key.kind == Kind::TurnIndex);
        let left: Vec<&str> = derived.map(|listed| listed.key.id.as_str()).collect();
        assert_eq!(left, ["left"]);
    }
}
