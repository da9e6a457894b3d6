//! Stores recall indexes of sessions in the background.
//!
//! Several servers may do it at once: the slower one loses its commit and stops. Erasing may happen meanwhile, so
//! after a write the session is checked again: an erasure before the check is noticed here, and one after it
//! removes what was written.
//!
//! Invariant: when [`Memory::keep`] returns, the stored index has nothing of a turn that was erased before.

use std::sync::Arc;

use jiff::Timestamp;
use uuid::Uuid;

use super::across::is_open;
use super::stored::{KNOWN_TURNS_MIN, MadeOf, SEGMENT_TURNS, StoredIndex, change};
use super::{CATCH_UP_TURNS, Memory};
use crate::entity::KnownEntities;
use crate::error::Result;
use crate::search::TurnUnit;
use crate::session::{LoadedSession, Sessions};
use crate::store::{Change, Expected, Found, StoreError};

/// Maximum turns per commit.
const COMMIT_TURNS: u64 = 4_096;

struct Writing {
    expected: Expected,
    turns: u64,
    sealed: u64,
    /// Units after the sealed segments.
    units: Vec<TurnUnit>,
    known: Arc<KnownEntities>,
}

impl Memory {
    /// Turns of a session that this process has not stored yet, as far as it knows.
    pub fn turns_not_kept(&self, loaded: &LoadedSession) -> u64 {
        loaded.head.turns.saturating_sub(self.kept.get(&loaded.key).unwrap_or(0))
    }

    /// Stores the missing part of a session's index. `ids` generates an id for each write.
    pub async fn keep(
        &self,
        sessions: &Sessions,
        loaded: &LoadedSession,
        now: Timestamp,
        ids: impl Fn() -> Uuid,
    ) -> Result<()> {
        let (store, key, head) = (sessions.store().as_ref(), loaded.key.derived(), &loaded.head);
        let found = StoredIndex::find(store, &loaded.key, self.embedder.name()).await?;
        let is_current = |found: &StoredIndex| {
            found.made_of.version == loaded.version && found.rest(head).is_some()
        };
        if found.as_ref().is_some_and(is_current) {
            self.kept.insert(loaded.key.clone(), head.turns);
            return Ok(());
        }
        let fitting = found.filter(|found| found.made_of.fits(loaded.version, head));
        let rest = fitting.and_then(|found| Some((found.rest(head)?, found)));
        let mut writing = match rest {
            Some(((units, known), found)) => Writing {
                expected: found.expected(),
                turns: found.made_of.turns,
                sealed: found.made_of.turns / SEGMENT_TURNS,
                units,
                known: Arc::new(KnownEntities::of(known)),
            },
            None => {
                // The stored index cannot be used.
                if !matches!(store.head(&key, None).await, Ok(Found::Missing)) {
                    store.erase(&key).await?;
                }
                Writing {
                    expected: Expected::Absent,
                    turns: 0,
                    sealed: 0,
                    units: Vec::new(),
                    known: Default::default(),
                }
            }
        };
        loop {
            let end = (writing.turns + COMMIT_TURNS).min(head.turns);
            if !self.read_to(sessions, loaded, end, &mut writing).await? {
                return Ok(());
            }
            let mut made_of = MadeOf::new(loaded, self.embedder.name(), is_open(head));
            made_of.turns = end;
            if end < head.turns {
                // No session has this version, so the index counts as incomplete.
                made_of.version.number = 0;
            }
            let known = (head.turns >= KNOWN_TURNS_MIN).then_some(writing.known.as_ref());
            let of_units = (writing.sealed, writing.units.as_slice());
            let change = change(made_of, known, of_units, (now, ids()))?;
            let change = Change { expires_at: head.purge_at(), ..change };
            match store.commit(&key, writing.expected, change).await {
                Ok(version) => writing.expected = Expected::At(version),
                // Another server stores it.
                Err(StoreError::Conflict { .. }) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
            writing.sealed = end / SEGMENT_TURNS;
            writing.units.retain(|unit| unit.turn > writing.sealed * SEGMENT_TURNS);
            if end == head.turns {
                break;
            }
        }
        let now = sessions.find(&loaded.key).await?;
        let stands = now.is_some_and(|now| {
            let made_of = MadeOf::new(loaded, self.embedder.name(), is_open(head));
            made_of.fits(now.version, &now.head)
        });
        if !stands {
            store.erase(&key).await?;
            return Ok(());
        }
        self.kept.insert(loaded.key.clone(), head.turns);
        Ok(())
    }

    /// Reads turns up to `end`; returns `false` if some have no vector because the embedder failed.
    async fn read_to(
        &self,
        sessions: &Sessions,
        loaded: &LoadedSession,
        end: u64,
        writing: &mut Writing,
    ) -> Result<bool> {
        while writing.turns < end {
            let next = (writing.turns + CATCH_UP_TURNS).min(end);
            let records = sessions.turns(loaded, writing.turns..next).await?;
            let (mut units, complete) = self.units(&loaded.head, &records).await;
            if !complete {
                return Ok(false);
            }
            writing.units.append(&mut units);
            self.learn(&records, &loaded.head.entities, &mut writing.known);
            writing.turns = next;
        }
        Ok(true)
    }
}
