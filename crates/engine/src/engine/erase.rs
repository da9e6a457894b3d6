//! Erasing: everything derived goes too, and the answer counts what went.
//!
//! An erased session leaves a tombstone that holds only a hash of its key, so that it can be erased again
//! from a restored copy without anybody knowing what it was.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::access::{Action, Caller, authorize, system_scope};
use crate::error::{Error, Result};
use crate::hash::ContentHash;
use crate::id::{SessionId, ThreadId};
use crate::session::record::TurnRecord;
use crate::store::{Change, Erased, Expected, Found, Key, Kind, StoreError};

use super::Engine;

/// What went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErasureReceipt {
    /// The session.
    pub session: SessionId,
    /// When.
    pub at: Timestamp,
    /// What the store removed.
    pub stored: Erased,
    /// Documents that the search index removed.
    pub index_documents: u64,
    /// The tombstone that keeps it erased after a restore.
    pub tombstone: String,
}

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

impl Engine {
    /// Erases a session everywhere.
    pub async fn erase(&self, caller: &Caller, id: &SessionId) -> Result<ErasureReceipt> {
        authorize(caller, Action::Write)?;
        let key = caller.session_key(id);
        let loaded = self.sessions.load(&key).await?;
        let tombstone = self.bury(&key, loaded.head.last_activity).await?;
        self.forget_derived(&key);
        self.look_ups.forget(&key.scope).await;
        let stored = self.sessions.erase(&key).await?;
        let index_documents = self.unindex(&key).await?;
        Ok(ErasureReceipt {
            session: id.clone(),
            at: self.now(),
            stored,
            index_documents,
            tombstone: tombstone.to_string(),
        })
    }

    /// Erases the content of single turns; their numbers stay. Answers how many were erased now.
    pub async fn erase_turns(
        &self,
        caller: &Caller,
        id: &SessionId,
        turns: &BTreeSet<u64>,
    ) -> Result<u64> {
        authorize(caller, Action::Write)?;
        let key = caller.session_key(id);
        let loaded = self.sessions.load(&key).await?;
        let count = loaded.head.turns;
        if let Some(&turn) = turns.iter().find(|turn| **turn == 0 || **turn > count) {
            return Err(Error::NoTurn { session: id.clone(), turn, turns: count });
        }
        let mut fresh = Vec::new();
        for &turn in turns {
            let found = self.sessions.turns(&loaded, turn - 1..turn).await?;
            let standing =
                found.first().filter(|r| r.status != crate::session::record::TurnStatus::Erased);
            fresh.extend(standing.map(|record| (turn, record.at)));
        }
        if fresh.is_empty() {
            return Ok(0);
        }
        self.forget_derived(&key);
        self.look_ups.forget(&key.scope).await;
        self.sessions
            .overwrite(&key, |head| {
                head.erased_turns += fresh.len() as u64;
                head.contents.retain(|_, turn| !turns.contains(turn));
                head.tool_history.retain(|execution| !turns.contains(&execution.turn));
                if head
                    .summary
                    .as_ref()
                    .is_some_and(|s| turns.range(s.from..=s.to).next().is_some())
                {
                    head.summary = None;
                }
                Ok(fresh.iter().map(|(turn, at)| TurnRecord::erased(*turn, *at)).collect())
            })
            .await?;
        self.unindex(&key).await?;
        Ok(fresh.len() as u64)
    }

    /// Writes the tombstone first: if the process dies in between, erasing again is harmless. Its time is
    /// not before `last_activity`, which a machine whose clock is ahead may have written.
    pub(super) async fn bury(&self, key: &Key, last_activity: Timestamp) -> Result<ContentHash> {
        let hash = tombstone_of(key);
        let tombstone = Tombstone { key: hash.clone(), at: self.now().max(last_activity) };
        let head: bytes::Bytes = serde_json::to_vec(&tombstone).unwrap_or_default().into();
        let at =
            Key { scope: system_scope(), kind: Kind::Tombstone, id: ThreadId::new(hash.as_str())? };
        // A session of an erased one's name that is erased in its turn: the later time counts.
        let expected = match self.store().head(&at, None).await? {
            Found::Head(before) => Expected::At(before.version),
            Found::Missing | Found::Unchanged => Expected::Absent,
        };
        let change = Change {
            at: tombstone.at,
            head,
            append: Vec::new(),
            overwrite: Vec::new(),
            expires_at: None,
            write_id: self.new_id(),
        };
        match self.store().commit(&at, expected, change).await {
            Ok(_) | Err(StoreError::Conflict { .. }) => Ok(hash),
            Err(error) => Err(error.into()),
        }
    }
}
