//! Erasing: everything derived goes too, and the answer counts what went.
//!
//! An erased session leaves a tombstone that holds only a hash of its key, so that it can be erased again
//! from a restored copy without anybody knowing what it was.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::access::{Action, Caller, authorize};
use crate::error::{Error, Result};
use crate::id::SessionId;
use crate::session::record::TurnRecord;
use crate::store::Erased;
use crate::tombstone;

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

impl Engine {
    /// Erases a session everywhere.
    pub async fn erase(&self, caller: &Caller, id: &SessionId) -> Result<ErasureReceipt> {
        authorize(caller, Action::Write)?;
        let key = caller.session_key(id);
        let loaded = self.sessions.load(&key).await?;
        let tombstone = tombstone::write(
            self.store().as_ref(),
            self.clock.as_ref(),
            &key,
            loaded.head.last_activity,
        )
        .await?;
        self.forget_derived(&key);
        self.turns.resolver.look_ups.forget(&key.scope).await;
        let stored = self.sessions.erase(&key).await?;
        let index_documents = self.indexer.remove(&key).await?;
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
            // One that cannot be read may still hold what it held.
            let standing = found.first().filter(|r| {
                r.status != crate::session::record::TurnStatus::Erased || r.error.is_some()
            });
            fresh.extend(standing.map(|record| (turn, record.at)));
        }
        if fresh.is_empty() {
            return Ok(0);
        }
        self.forget_derived(&key);
        self.turns.resolver.look_ups.forget(&key.scope).await;
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
        self.indexer.remove(&key).await?;
        Ok(fresh.len() as u64)
    }
}
