//! A head made anew from the log, for a session whose head is lost.
//!
//! Counters, titles and the places of contents follow from the turns. What is in the head alone is not brought
//! back: settings, persona, items, tags, and who the conversation was with.

use crate::id::SessionId;

use super::apply;
use super::head::SessionHead;
use super::record::{TurnRecord, TurnStatus};

/// The head of a session that consists of these turns, in order. Each gets the number of its place.
pub fn head_of(id: SessionId, turns: &mut [TurnRecord]) -> SessionHead {
    let began = turns.first().map_or(jiff::Timestamp::UNIX_EPOCH, |turn| turn.at);
    let mut head = SessionHead::new(id, began);
    for record in turns {
        let at = record.at;
        head.erased_turns += u64::from(record.status == TurnStatus::Erased);
        apply::turn(&mut head, record, None, 0, at);
    }
    head
}
