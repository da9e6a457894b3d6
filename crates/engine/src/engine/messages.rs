//! A session as individual messages: listed in pages, deleted in pairs.
//!
//! Each turn that is not erased has two messages, `TURN-user` and `TURN-assistant`. Deleting one deletes the
//! other too, so that the rest stays a dialogue.
//!
//! Invariant: turn numbers never change, so a message id never changes its meaning.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;

use crate::access::{Action, Caller, authorize};
use crate::error::{Error, Result};
use crate::id::SessionId;
use crate::model::Role;
use crate::session::LoadedSession;
use crate::session::record::{TurnRecord, TurnStatus};

use super::Engine;
use super::history::Order;
use crate::preset::check_page;

/// Turns read at once.
const STRETCH: u64 = 500;
/// Maximum ids per deletion.
const NAMED_MAX: usize = 1_000;

#[derive(Debug, Clone, PartialEq)]
pub struct SaidMessage {
    /// `TURN-user` or `TURN-assistant`.
    pub id: String,
    pub role: Role,
    pub content: String,
    pub tokens: u32,
    pub at: Timestamp,
}

#[derive(Debug)]
pub struct MessagePage {
    /// In the requested order.
    pub messages: Vec<SaidMessage>,
    pub total: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unwanted {
    /// By id, with their pairs.
    Named(Vec<String>),
    OlderThan(Timestamp),
    All,
}

pub fn messages_of(record: &TurnRecord) -> [SaidMessage; 2] {
    let said = |role, name: &str, content: &str, tokens| SaidMessage {
        id: format!("{}-{name}", record.turn),
        role,
        content: content.to_owned(),
        tokens,
        at: record.at,
    };
    let reply = match (&record.error, record.reply.is_empty()) {
        (Some(error), true) => error.message.as_str(),
        _ => record.reply.as_str(),
    };
    [
        said(Role::User, "user", &record.message, record.tokens.message),
        said(Role::Assistant, "assistant", reply, record.tokens.reply),
    ]
}

impl Engine {
    /// A page of the messages; `page` counts from 1.
    pub async fn messages(
        &self,
        caller: &Caller,
        id: &SessionId,
        page: usize,
        page_size: usize,
        order: Order,
    ) -> Result<MessagePage> {
        check_page(page, page_size)?;
        let loaded = self.session(caller, id).await?;
        let standing = loaded.head.turns - loaded.head.erased_turns.min(loaded.head.turns);
        let first = (page - 1) * page_size;
        let (skipped, wanted) = (first / 2, page_size / 2 + 2);
        let records = self.standing_turns(&loaded, order, skipped, wanted).await?;
        let messages = records.iter().flat_map(|record| {
            let mut pair = messages_of(record);
            if order == Order::Descending {
                pair.reverse();
            }
            pair
        });
        let messages = messages.skip(first % 2).take(page_size).collect();
        Ok(MessagePage { messages, total: standing * 2 })
    }

    /// Deletes messages with their pairs; returns how many.
    pub async fn delete_messages(
        &self,
        caller: &Caller,
        id: &SessionId,
        unwanted: Unwanted,
    ) -> Result<u64> {
        authorize(caller, Action::Write)?;
        let loaded = self.session(caller, id).await?;
        let turns = match unwanted {
            Unwanted::Named(ids) => named_turns(&ids, loaded.head.turns)?,
            Unwanted::OlderThan(time) => self.turns_before(&loaded, time).await?,
            Unwanted::All => (1..=loaded.head.turns).collect(),
        };
        Ok(self.erase_turns(caller, id, &turns).await?.turns * 2)
    }

    /// Turns that are not erased, skipping the first `skipped`.
    async fn standing_turns(
        &self,
        loaded: &LoadedSession,
        order: Order,
        skipped: usize,
        wanted: usize,
    ) -> Result<Vec<Arc<TurnRecord>>> {
        let turns = loaded.head.turns;
        // If nothing was erased the position is known, else it must be counted.
        let (mut at, mut skip) = match loaded.head.erased_turns {
            0 => ((skipped as u64).min(turns), 0),
            _ => (0, skipped),
        };
        let mut found = Vec::new();
        while at < turns && found.len() < wanted {
            let step = STRETCH.min(turns - at).min(if skip == 0 { 64 } else { STRETCH });
            let range = match order {
                Order::Ascending => at..at + step,
                Order::Descending => turns - at - step..turns - at,
            };
            let mut records = self.sessions.turns(loaded, range).await?;
            if order == Order::Descending {
                records.reverse();
            }
            for record in records.into_iter().filter(|r| r.status != TurnStatus::Erased) {
                if skip > 0 {
                    skip -= 1;
                } else if found.len() < wanted {
                    found.push(record);
                }
            }
            at += step;
        }
        Ok(found)
    }

    async fn turns_before(&self, loaded: &LoadedSession, time: Timestamp) -> Result<BTreeSet<u64>> {
        let mut turns = BTreeSet::new();
        let mut at = 0;
        while at < loaded.head.turns {
            let end = (at + STRETCH).min(loaded.head.turns);
            for record in self.sessions.turns(loaded, at..end).await? {
                if record.at >= time {
                    return Ok(turns);
                }
                turns.insert(record.turn);
            }
            at = end;
        }
        Ok(turns)
    }
}

fn named_turns(ids: &[String], turns: u64) -> Result<BTreeSet<u64>> {
    if ids.is_empty() || ids.len() > NAMED_MAX {
        let reason = format!("{} ids is outside 1-{NAMED_MAX}", ids.len());
        return Err(Error::invalid("conversationIds", reason));
    }
    ids.iter()
        .map(|id| {
            let number = id.strip_suffix("-user").or_else(|| id.strip_suffix("-assistant"));
            let turn = number.and_then(|number| number.parse::<u64>().ok());
            turn.filter(|turn| (1..=turns).contains(turn)).ok_or_else(|| {
                let shown: String = id.chars().take(40).collect();
                let range = if turns == 0 {
                    "there are no conversations".to_owned()
                } else {
                    format!("ids go from 1-user to {turns}-assistant")
                };
                Error::invalid("conversationIds", format!("{shown:?} is no conversation; {range}"))
            })
        })
        .collect()
}
