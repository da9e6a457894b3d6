//! Rebuilds a lost head from the log.
//!
//! Counters, titles and the places of contents follow from the turns. What only the head had is lost: settings,
//! persona, items, tags, the agent, decisions and links.

use crate::id::SessionId;

use super::apply;
use super::head::SessionHead;
use super::record::{TurnRecord, TurnStatus};

/// The head of a session with these turns, in order. Each is numbered by its position.
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
