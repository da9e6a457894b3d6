//! Erases sessions and turns with everything derived from them, and counts what was removed.
//!
//! An erased session leaves a tombstone with only a hash of its key, so that it can be erased again from a
//! restored copy without revealing what it was.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::access::{Action, Caller, authorize};
use crate::error::{Error, Result};
use crate::fact::Forgotten;
use crate::id::SessionId;
use crate::session;
use crate::session::unreadable::damage;
use crate::store::{Erased, Key};
use crate::tombstone;

use super::Engine;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErasureReceipt {
    pub session: SessionId,
    pub at: Timestamp,
    pub stored: Erased,
    /// Documents removed from the search index.
    pub index_documents: u64,
    /// Facts gathered from it, which are forgotten too.
    #[serde(default)]
    pub facts: u64,
    /// The tombstone that keeps it erased after a restore.
    pub tombstone: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ErasedTurns {
    /// Turns erased by this call.
    pub turns: u64,
    /// Facts gathered from them, which are forgotten too.
    pub forgotten: Forgotten,
    /// Documents removed from the search index; it is rebuilt without them.
    pub index_documents: u64,
}

impl Engine {
    pub async fn erase(&self, caller: &Caller, id: &SessionId) -> Result<ErasureReceipt> {
        authorize(caller, Action::Write)?;
        let key = caller.session_key(id);
        let (last_activity, shares) = match self.sessions.find(&key).await {
            Ok(Some(loaded)) => (loaded.head.last_activity, loaded.head.shares.clone()),
            Ok(None) => return self.erase_copies(id, &key).await,
            // Unreadable data can be erased too.
            Err(error) if damage(&error).is_some() => (self.now(), Vec::new()),
            Err(error) => return Err(error),
        };
        let (store, clock) = (self.store().as_ref(), self.clock.as_ref());
        let tombstone = tombstone::write(store, clock, &key, last_activity).await?;
        self.forget_derived(&key);
        self.turns.resolver.look_ups.forget(&key.scope).await;
        let facts = self.facts.forget_of(caller, id, None).await?.facts;
        let mut stored = self.sessions.erase(&key).await?;
        stored.add(Erased { heads: 0, entries: 0, ..self.erase_shares(&shares).await? });
        let index_documents = self.indexer.remove(&key).await?;
        Ok(ErasureReceipt {
            session: id.clone(),
            at: self.now(),
            stored,
            index_documents,
            facts,
            tombstone: tombstone.to_string(),
        })
    }

    /// Erases copies next to the store, such as one made when the session was purged.
    async fn erase_copies(&self, id: &SessionId, key: &Key) -> Result<ErasureReceipt> {
        let stored = self.sessions.erase(key).await?;
        if stored == Erased::default() {
            return Err(Error::NoSession(id.clone()));
        }
        Ok(ErasureReceipt {
            session: id.clone(),
            at: self.now(),
            stored,
            index_documents: 0,
            facts: 0,
            tombstone: tombstone::tombstone_of(key).to_string(),
        })
    }

    /// Erases the content of turns and the facts gathered from them; turn numbers stay.
    pub async fn erase_turns(
        &self,
        caller: &Caller,
        id: &SessionId,
        turns: &BTreeSet<u64>,
    ) -> Result<ErasedTurns> {
        authorize(caller, Action::Write)?;
        let key = caller.session_key(id);
        self.forget_derived(&key);
        self.turns.resolver.look_ups.forget(&key.scope).await;
        let erased = session::erase::erase_turns(&self.sessions, &key, turns).await?;
        self.forget_derived(&key);
        let forgotten = self.facts.forget_of(caller, id, Some(turns)).await?;
        let index_documents = if erased > 0 { self.indexer.remove(&key).await? } else { 0 };
        Ok(ErasedTurns { turns: erased, forgotten, index_documents })
    }
}
