//! Statistics of a session: counts, tokens, pace, and the summary.
//!
//! Computed on request from the log, in steps; nothing is stored.

use jiff::Timestamp;
use serde::Serialize;

use crate::access::Caller;
use crate::error::Result;
use crate::id::SessionId;
use crate::session::head::{SessionHead, Summary, TokenUsage};
use crate::session::record::{TurnRecord, TurnStatus};

use super::Engine;

/// Maximum turns read, newest first.
const TURNS_MAX: u64 = 100_000;
/// Turns read at once.
const STRETCH: u64 = 500;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Statistics {
    /// Including erased turns.
    pub turns: u64,
    pub erased_turns: u64,
    /// Turns these statistics cover.
    pub counted_turns: u64,
    /// Of those, turns that failed or were refused.
    pub failed_turns: u64,
    /// Of those, turns with tool calls.
    pub turns_with_tools: u64,
    pub tool_calls: u64,
    pub heated_messages: u64,
    pub message_tokens: u64,
    pub reply_tokens: u64,
    /// Tokens over the whole session.
    pub usage: TokenUsage,
    /// Days with at least one turn.
    pub active_days: u64,
    pub first_at: Option<Timestamp>,
    pub last_at: Option<Timestamp>,
    /// Median time of a reply.
    pub reply_ms_median: Option<u64>,
    pub summary: Option<Summary>,
    /// The most relevant entities.
    pub about: Vec<String>,
}

impl Engine {
    pub async fn statistics(&self, caller: &Caller, id: &SessionId) -> Result<Statistics> {
        let loaded = self.session(caller, id).await?;
        let head = &loaded.head;
        let mut counted = Counted::default();
        let mut at = head.turns.saturating_sub(TURNS_MAX);
        while at < head.turns {
            let end = (at + STRETCH).min(head.turns);
            for record in self.sessions.turns(&loaded, at..end).await? {
                counted.add(&record);
            }
            at = end;
        }
        let mut statistics = counted.finish();
        statistics.turns = head.turns;
        statistics.erased_turns = head.erased_turns;
        statistics.usage = head.usage;
        statistics.summary.clone_from(&head.summary);
        statistics.about = about(head);
        Ok(statistics)
    }
}

/// Names of recently mentioned entities.
fn about(head: &SessionHead) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for entity in head.entities.focus.iter().flat_map(|focus| &focus.refs) {
        if !names.contains(&entity.name) {
            names.push(entity.name.clone());
        }
    }
    names.truncate(10);
    names
}

#[derive(Default)]
struct Counted {
    turns: u64,
    failed: u64,
    with_tools: u64,
    calls: u64,
    heated: u64,
    message_tokens: u64,
    reply_tokens: u64,
    days: std::collections::BTreeSet<i64>,
    first: Option<Timestamp>,
    last: Option<Timestamp>,
    took: Vec<u64>,
}

impl Counted {
    fn add(&mut self, record: &TurnRecord) {
        if record.status == TurnStatus::Erased {
            return;
        }
        self.turns += 1;
        self.failed += u64::from(matches!(record.status, TurnStatus::Failed | TurnStatus::Refused));
        self.with_tools += u64::from(!record.calls.is_empty());
        self.calls += record.calls.len() as u64;
        self.heated += u64::from(crate::persona::heat(&record.message).is_some());
        self.message_tokens += u64::from(record.tokens.message);
        self.reply_tokens += u64::from(record.tokens.reply);
        self.days.insert(record.at.as_second().div_euclid(86_400));
        self.first = self.first.or(Some(record.at));
        self.last = Some(record.at);
        self.took.extend(record.took_ms);
    }

    fn finish(mut self) -> Statistics {
        self.took.sort_unstable();
        Statistics {
            turns: 0,
            erased_turns: 0,
            counted_turns: self.turns,
            failed_turns: self.failed,
            turns_with_tools: self.with_tools,
            tool_calls: self.calls,
            heated_messages: self.heated,
            message_tokens: self.message_tokens,
            reply_tokens: self.reply_tokens,
            usage: TokenUsage::default(),
            active_days: self.days.len() as u64,
            first_at: self.first,
            last_at: self.last,
            reply_ms_median: self.took.get(self.took.len() / 2).copied(),
            summary: None,
            about: Vec::new(),
        }
    }
}
