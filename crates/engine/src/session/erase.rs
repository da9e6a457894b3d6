//! Erases or withholds turns, and removes what the session's head and other turns have of them.
//!
//! It needs only a store, because it is also repeated in a restored copy. The recall index of the session is
//! erased as a whole and rebuilt later. What is outside the store (the search index, look-ups) is up to the
//! caller.
//!
//! Invariant: turns keep their numbers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::sabotage::{self, Switch};
use crate::store::Key;

use super::apply::title;
use super::erased_words::{ErasedWords, own_texts, strings};
use super::head::SessionHead;
use super::record::{TurnRecord, TurnStatus};
use super::redact::{Redaction, client_body};
use super::sessions::{Sessions, Step};

/// How often an erasure begins again because a turn was added meanwhile.
const ATTEMPTS_MAX: usize = 20;

/// Erases the content of `turns`; returns how many were erased by this call.
pub async fn erase_turns(sessions: &Sessions, key: &Key, turns: &BTreeSet<u64>) -> Result<u64> {
    let mut erased = erase_once(sessions, key, turns).await;
    for _ in 1..ATTEMPTS_MAX {
        if !matches!(erased, Err(Error::Contended { .. })) {
            break;
        }
        erased = erase_once(sessions, key, turns).await;
    }
    erased
}

async fn erase_once(sessions: &Sessions, key: &Key, turns: &BTreeSet<u64>) -> Result<u64> {
    let loaded = sessions.load(key).await?;
    let count = loaded.head.turns;
    if let Some(&turn) = turns.iter().find(|turn| **turn == 0 || **turn > count) {
        return Err(Error::NoTurn { session: key.id.clone().into(), turn, turns: count });
    }
    let (mut fresh, mut titles) = (Vec::new(), Vec::new());
    for &turn in turns {
        let found = sessions.turns(&loaded, turn - 1..turn).await?;
        // An unreadable turn may still contain its data.
        let standing =
            found.first().filter(|r| r.status != TurnStatus::Erased || r.error.is_some());
        titles.extend(standing.and_then(|record| title(&record.message)));
        fresh.extend(standing.map(|record| (turn, record.at)));
    }
    if fresh.is_empty() {
        sessions.store().erase(&key.derived()).await?;
        return Ok(0);
    }
    let all = sessions.turns(&loaded, 0..count).await?;
    // A damaged record may have no number of its own.
    let all: Vec<Arc<TurnRecord>> = all.into_iter().filter(|record| record.turn > 0).collect();
    let (erased, others): (Vec<_>, Vec<_>) =
        all.iter().cloned().partition(|record| turns.contains(&record.turn));
    let said: String =
        others.iter().flat_map(|record| own_texts(record)).collect::<Vec<_>>().join("\n");
    let said = said.to_lowercase();
    let is_said = |name: &str| said.contains(&name.to_lowercase());
    let before = sent_before(&all, turns);
    let words = ErasedWords::of(erased.iter().map(AsRef::as_ref), &others, &before);
    let overwritten = sessions.overwrite(key, |head| {
        if head.turns != count {
            // The new turn may show what is erased.
            return Err(Error::Contended {
                session: key.id.clone().into(),
                attempts: ATTEMPTS_MAX,
            });
        }
        head.dialogue = None;
        head.erased_turns += fresh.len() as u64;
        forget(head, turns);
        head.entities.forget_turns(turns, is_said);
        // A title made from the first message is removed with it.
        head.forget_titles(&titles);
        let mut redaction = Redaction::new(turns, &all, &words);
        let mut records: Vec<TurnRecord> =
            fresh.iter().map(|(turn, at)| TurnRecord::erased(*turn, *at)).collect();
        for other in &others {
            let mut record = TurnRecord::clone(other);
            record.entities.retain(|mention| is_said(&mention.name));
            if !sabotage::is(Switch::KeepDerived) {
                redaction.record(&mut record);
            }
            if record != **other {
                records.push(record);
            }
        }
        redaction.head(head);
        Ok(records)
    });
    overwritten.await?;
    // After the head is written, so that an index made meanwhile is of the new head.
    sessions.store().erase(&key.derived()).await?;
    Ok(fresh.len() as u64)
}

/// The last request that a client sent before the first of `turns`: what is in it gives nothing of them away.
fn sent_before(records: &[Arc<TurnRecord>], turns: &BTreeSet<u64>) -> Vec<String> {
    let earlier = records.iter().filter(|record| Some(&record.turn) < turns.first());
    let earlier: BTreeMap<u64, Arc<TurnRecord>> =
        earlier.map(|record| (record.turn, record.clone())).collect();
    let last = earlier.values().rev().find(|record| record.client_body.is_some());
    let body = last.and_then(|record| client_body(&earlier, record.turn));
    let json = body.and_then(|body| serde_json::from_str(&body).ok());
    json.map(|json| strings(&json)).unwrap_or_default()
}

impl SessionHead {
    /// Withholds the turn that was just added: in the same commit, so that no crash leaves it in search.
    pub(crate) fn withhold_last(&mut self, message: &str) {
        self.dialogue = None;
        self.withheld.add(&BTreeSet::from([self.turns]), self.turns);
        self.forget_titles(&title(message).into_iter().collect::<Vec<_>>());
    }
}

/// Withholds `turns`: their text stays in the log, and what was derived from them is removed. Returns how many
/// were not withheld before.
pub async fn withhold_turns(sessions: &Sessions, key: &Key, turns: &BTreeSet<u64>) -> Result<u64> {
    let loaded = sessions.load(key).await?;
    let (mut fresh, mut titles) = (BTreeSet::new(), Vec::new());
    for &turn in turns.range(1..=loaded.head.turns) {
        let found = sessions.turns(&loaded, turn - 1..turn).await?;
        let Some(record) = found.first().filter(|record| loaded.head.uses(record)) else {
            continue;
        };
        titles.extend(title(&record.message));
        fresh.insert(turn);
    }
    if !fresh.is_empty() {
        let update = sessions.update(key, |head, _| {
            head.dialogue = None;
            head.withheld.add(&fresh, head.turns);
            forget_notes(head, &fresh);
            head.forget_titles(&titles);
            Ok(Step::Commit(None, ()))
        });
        update.await?;
    }
    sessions.store().erase(&key.derived()).await?;
    Ok(fresh.len() as u64)
}

/// Removes what was derived from `turns` from the head.
fn forget(head: &mut SessionHead, turns: &BTreeSet<u64>) {
    head.contents.retain(|_, turn| !turns.contains(turn));
    head.tool_history.retain(|execution| !turns.contains(&execution.turn));
    forget_notes(head, turns);
}

/// A summary of `turns` is removed, to be made again without them.
fn forget_notes(head: &mut SessionHead, turns: &BTreeSet<u64>) {
    let summarised =
        |summary: &super::head::Summary| turns.range(summary.from..=summary.to).next().is_some();
    if head.summary.as_ref().is_some_and(summarised) {
        head.summary = None;
    }
}
