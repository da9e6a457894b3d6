//! Applies a finished turn to the head.
//!
//! A pure function. On a conflict it runs again on the newer head, so it must depend on nothing but its
//! arguments.
//!
//! Invariant: the record's number is the head's count plus one.

use jiff::Timestamp;

use crate::hash::ContentHash;
use crate::receipt::DropReason;

use super::head::{
    AnsweredKey, CONTENTS_MAX, PRUNINGS_MAX, Pruning, SessionHead, TOOL_HISTORY_MAX, ToolExecution,
    push_bounded,
};
use super::record::{SaidTokens, TurnRecord};
use super::usage;

/// Maximum characters of the first message used as the title.
const TITLE_CHARACTERS: usize = 60;

/// An idempotency key and its request, both hashed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestKey {
    /// The key as the caller wrote it, for messages.
    pub shown: String,
    pub key: ContentHash,
    /// Hash of the request's body.
    pub body: ContentHash,
}

impl RequestKey {
    pub fn new(key: &str, body: &[u8]) -> Self {
        let shown = key.chars().take(64).collect();
        Self { shown, key: ContentHash::of(key), body: ContentHash::of_bytes(body) }
    }
}

/// Appends `record` to the session.
pub fn turn(
    head: &mut SessionHead,
    record: &mut TurnRecord,
    key: Option<&RequestKey>,
    keys_max: usize,
    now: Timestamp,
) {
    head.turns += 1;
    record.turn = head.turns;
    head.last_turn_at = Some(record.at);
    head.client_round = None;
    keep_places(head, record);
    count(head, record);
    usage::count(head, record);
    for (call, executed) in record.calls.iter().enumerate() {
        let execution = ToolExecution {
            tool: executed.tool.clone(),
            turn: record.turn,
            call,
            ok: executed.ok(),
        };
        push_bounded(&mut head.tool_history, execution, TOOL_HISTORY_MAX);
    }
    if let Some(key) = key {
        let answered = AnsweredKey { key: key.key, body: key.body, turn: record.turn, version: 0 };
        push_bounded(&mut head.answered, answered, keys_max);
    }
    head.under_way.retain(|work| work.until > now && key.is_none_or(|k| k.key != work.key));
    if head.title.is_none() {
        head.title = title(&record.message);
    }
    head.touch(now);
}

/// Stores this turn as the place of its own contents in the head.
fn keep_places(head: &mut SessionHead, record: &mut TurnRecord) {
    let turn = record.turn;
    if let Some(receipt) = &mut record.receipt {
        for piece in &mut receipt.pieces {
            if record.contents.contains_key(&piece.hash) {
                piece.kept_in = Some(turn);
            }
        }
    }
    for hash in record.contents.keys() {
        head.contents.insert(*hash, turn);
    }
    while head.contents.len() > CONTENTS_MAX {
        let oldest = head.contents.iter().min_by_key(|(_, turn)| **turn).map(|(h, _)| *h);
        oldest.map(|hash| head.contents.remove(&hash));
    }
}

fn count(head: &mut SessionHead, record: &TurnRecord) {
    let SaidTokens { message, reply, calls } = record.tokens;
    head.usage.said_tokens += [message, reply, calls].into_iter().map(u64::from).sum::<u64>();
    if let Some(usage) = record.usage {
        head.usage.model += usage;
    }
    let Some(receipt) = &record.receipt else { return };
    head.context_tokens = receipt.budget.used_tokens;
    head.usage.request_tokens += u64::from(receipt.budget.used_tokens);
    head.usage.stable_tokens += u64::from(receipt.stable_prefix_tokens);
    head.usage.replay.tokens += receipt.replay.tokens;
    head.usage.replay.stable_tokens += receipt.replay.stable_tokens;
    head.mode = receipt.mode;
    let dropped =
        receipt.pieces.iter().filter(|p| p.dropped.is_some_and(DropReason::is_loss)).count();
    if dropped > 0 {
        let pruning = Pruning {
            at: record.at,
            turn: record.turn,
            tokens_before: receipt.budget.considered_tokens,
            tokens_after: receipt.budget.used_tokens,
            dropped,
            strategy: "rank, then score, then age; recent and important history kept".into(),
        };
        push_bounded(&mut head.prunings, pruning, PRUNINGS_MAX);
    }
}

pub(super) fn title(message: &str) -> Option<String> {
    let line = message.lines().map(str::trim).find(|line| !line.is_empty())?;
    let mut title: String = line.chars().take(TITLE_CHARACTERS).collect();
    if title.len() < line.len() {
        title.push('…');
    }
    Some(title)
}
