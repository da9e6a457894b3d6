//! Reads turns from the cached tail or from the log.
//!
//! Invariant: a damaged turn affects no other; a record in its place says that it cannot be read.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;

use crate::error::{Error, Result};
use crate::store::Key;

use super::cache::{Cached, TAIL_TURNS_MAX};
use super::record::TurnRecord;
use super::unreadable::{damage, stand_in};
use super::{LoadedSession, Sessions};

impl Sessions {
    /// The last `count` turns, oldest first.
    pub async fn tail(&self, loaded: &LoadedSession, count: usize) -> Result<Vec<Arc<TurnRecord>>> {
        let last = loaded.head.turns;
        let first = last.saturating_sub(count as u64);
        self.turns(loaded, first..last).await
    }

    /// Turns by index in the log (turn number minus one), oldest first.
    pub async fn turns(
        &self,
        loaded: &LoadedSession,
        range: Range<u64>,
    ) -> Result<Vec<Arc<TurnRecord>>> {
        let range = range.start..range.end.min(loaded.head.turns);
        if range.is_empty() {
            return Ok(Vec::new());
        }
        let cached = self.cache.get(&loaded.key).filter(|c| c.version == loaded.version);
        if let Some(cached) = &cached {
            let tail_start = loaded.head.turns - cached.tail.len() as u64;
            if range.start >= tail_start {
                let from = usize::try_from(range.start - tail_start).unwrap_or(usize::MAX);
                let count = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
                return Ok(cached.tail.iter().skip(from).take(count).cloned().collect());
            }
        }
        let (turns, size) = match self.read_turns(&loaded.key, range.clone()).await {
            Err(error) if damage(&error).is_some() => {
                (self.one_by_one(loaded, range.clone()).await?, 0)
            }
            read => read?,
        };
        if let Some(cached) = cached
            && range.end == loaded.head.turns
            && turns.len() <= TAIL_TURNS_MAX
        {
            let bytes = cached.bytes + size * 2;
            let tail = turns.iter().cloned().collect();
            let filled = Cached { tail, bytes, head: cached.head.clone(), version: cached.version };
            self.cache.put(loaded.key.clone(), Arc::new(filled));
        }
        Ok(turns)
    }

    /// Turns of the log, with their size there.
    async fn read_turns(
        &self,
        key: &Key,
        range: Range<u64>,
    ) -> Result<(Vec<Arc<TurnRecord>>, usize)> {
        let entries = self.store.entries(key, range.clone()).await?;
        let parsed = entries.iter().zip(range).map(|(bytes, at)| parse_record(key, at, bytes));
        let turns = parsed.map(|turn| turn.map(Arc::new)).collect::<Result<_>>()?;
        Ok((turns, entries.iter().map(Bytes::len).sum()))
    }

    /// Turns by index, each read separately, so that a damaged one affects no other.
    async fn one_by_one(
        &self,
        loaded: &LoadedSession,
        places: impl IntoIterator<Item = u64>,
    ) -> Result<Vec<Arc<TurnRecord>>> {
        let mut turns = Vec::new();
        for at in places {
            match self.read_turns(&loaded.key, at..at + 1).await {
                Ok((read, _)) => turns.extend(read),
                Err(error) => match damage(&error) {
                    Some(reason) => {
                        let at_last = loaded.head.last_activity;
                        turns.push(Arc::new(stand_in(at + 1, at_last, reason)));
                    }
                    None => return Err(error),
                },
            }
        }
        Ok(turns)
    }

    /// A turn; `None` if the session has no such turn.
    pub async fn turn(&self, loaded: &LoadedSession, turn: u64) -> Result<Option<Arc<TurnRecord>>> {
        let Some(at) = turn.checked_sub(1) else { return Ok(None) };
        Ok(self.turns(loaded, at..turn).await?.into_iter().next())
    }

    /// Turns by number, in the order given.
    pub async fn turns_at(
        &self,
        loaded: &LoadedSession,
        turns: &BTreeSet<u64>,
    ) -> Result<Vec<Arc<TurnRecord>>> {
        let cached = self.cache.get(&loaded.key).filter(|c| c.version == loaded.version);
        let tail = cached.as_ref().map(|cached| &cached.tail);
        let tail_start = loaded.head.turns.saturating_sub(tail.map_or(0, |tail| tail.len() as u64));
        let recent = tail.into_iter().flatten().filter(|record| turns.contains(&record.turn));
        let older: Vec<u64> = turns
            .iter()
            .filter(|turn| **turn <= tail_start)
            .filter_map(|turn| turn.checked_sub(1))
            .collect();
        let mut found = Vec::new();
        if !older.is_empty() {
            let read = self.store.entries_at(&loaded.key, &older).await.map_err(Error::from);
            let parsed = read.and_then(|entries| {
                let parse = |(at, bytes): (&u64, &Bytes)| parse_record(&loaded.key, *at, bytes);
                older.iter().zip(&entries).map(|entry| parse(entry).map(Arc::new)).collect()
            });
            found = match parsed {
                Err(error) if damage(&error).is_some() => self.one_by_one(loaded, older).await?,
                parsed => parsed?,
            };
        }
        found.extend(recent.cloned());
        Ok(found)
    }
}

pub(super) fn parse_record(key: &Key, at: u64, bytes: &[u8]) -> Result<TurnRecord> {
    serde_json::from_slice(bytes).map_err(|error| Error::Unreadable {
        what: format!("turn {} of {key}", at + 1),
        reason: error.to_string(),
    })
}
