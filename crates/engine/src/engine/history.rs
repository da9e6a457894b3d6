//! Reads turns, receipts and past requests.

use std::sync::Arc;

use crate::access::{Action, Caller, authorize};
use crate::error::{Error, Result};
use crate::id::SessionId;
use crate::model::ModelRequest;
use crate::rebuild;
use crate::receipt::Receipt;
use crate::receipt_diff::{self, ReceiptDiff};
use crate::session::LoadedSession;
use crate::session::record::TurnRecord;
use crate::session::withheld::Withheld;

use super::Engine;

/// Maximum turns per page.
pub(super) const LIMIT_MAX: u64 = 1_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// Oldest first.
    #[default]
    Ascending,
    /// Newest first.
    Descending,
}

#[derive(Debug, Clone, Copy)]
pub struct HistoryQuery {
    /// 1–1000.
    pub limit: u64,
    pub order: Order,
    /// The first turn of the page.
    pub from: Option<u64>,
}

#[derive(Debug)]
pub struct HistoryPage {
    /// In the requested order.
    pub turns: Vec<Arc<TurnRecord>>,
    /// The first turn of the next page.
    pub next: Option<u64>,
    /// The session's withheld turns.
    pub withheld: Withheld,
}

impl Engine {
    /// A page of a session's turns.
    pub async fn history(
        &self,
        caller: &Caller,
        id: &SessionId,
        query: HistoryQuery,
    ) -> Result<HistoryPage> {
        let loaded = self.session(caller, id).await?;
        self.turns_up_to(&loaded, loaded.head.turns, query).await
    }

    /// A page of the first `all` turns of a session.
    pub(super) async fn turns_up_to(
        &self,
        loaded: &LoadedSession,
        all: u64,
        query: HistoryQuery,
    ) -> Result<HistoryPage> {
        if !(1..=LIMIT_MAX).contains(&query.limit) {
            return Err(Error::invalid(
                "limit",
                format!("{} is outside 1-{LIMIT_MAX}", query.limit),
            ));
        }
        let (range, next) = match query.order {
            Order::Ascending => {
                let start = query.from.unwrap_or(1).max(1) - 1;
                let end = start.saturating_add(query.limit).min(all);
                (start.min(all)..end, (end < all && start < all).then_some(end + 1))
            }
            Order::Descending => {
                let end = query.from.unwrap_or(all).min(all);
                let start = end.saturating_sub(query.limit);
                (start..end, (start > 0).then_some(start))
            }
        };
        let mut turns = self.sessions.turns(loaded, range).await?;
        if query.order == Order::Descending {
            turns.reverse();
        }
        Ok(HistoryPage { turns, next, withheld: loaded.head.withheld.clone() })
    }

    pub async fn turn(
        &self,
        caller: &Caller,
        id: &SessionId,
        turn: u64,
    ) -> Result<(LoadedSession, Arc<TurnRecord>)> {
        authorize(caller, Action::Read)?;
        let loaded = self.sessions.load(&caller.session_key(id)).await?;
        let record = self.sessions.turn(&loaded, turn).await?;
        let turns = loaded.head.turns;
        let missing = || Error::NoTurn { session: id.clone(), turn, turns };
        Ok((loaded.clone(), record.ok_or_else(missing)?))
    }

    /// How long the commit of a turn took, if this process made it not long ago.
    pub fn commit_ms(&self, caller: &Caller, id: &SessionId, turn: u64) -> Option<u64> {
        self.turns.commit_times.of(&caller.session_key(id), turn)
    }

    /// What the model saw on that turn, and why.
    pub async fn receipt(&self, caller: &Caller, id: &SessionId, turn: u64) -> Result<Receipt> {
        let (loaded, record) = self.turn(caller, id, turn).await?;
        let receipt = rebuild::whole_receipt(&self.sessions, &loaded, &record).await?;
        let session = id.clone();
        receipt.ok_or(Error::NotKept { session, turn, what: "context data" })
    }

    /// The difference between what the model saw on two turns, of one session or of two.
    pub async fn receipt_diff(
        &self,
        caller: &Caller,
        (first, first_turn): (&SessionId, u64),
        (second, second_turn): (&SessionId, u64),
    ) -> Result<ReceiptDiff> {
        let first = self.receipt(caller, first, first_turn).await?;
        let second = self.receipt(caller, second, second_turn).await?;
        Ok(receipt_diff::diff(&first, &second))
    }

    /// The request of that turn, rebuilt byte for byte.
    pub async fn request(
        &self,
        caller: &Caller,
        id: &SessionId,
        turn: u64,
    ) -> Result<ModelRequest> {
        let (loaded, record) = self.turn(caller, id, turn).await?;
        rebuild::request(&self.sessions, &loaded, &record).await
    }

    /// The text of a piece as sent on that turn, by its hash.
    pub async fn kept_text(
        &self,
        caller: &Caller,
        id: &SessionId,
        turn: u64,
        hash: &str,
    ) -> Result<String> {
        let (loaded, record) = self.turn(caller, id, turn).await?;
        let missing = || Error::NotKept { session: id.clone(), turn, what: "such content" };
        let receipt = rebuild::whole_receipt(&self.sessions, &loaded, &record).await?;
        let receipt = receipt.ok_or_else(missing)?;
        let piece = receipt.pieces.iter().find(|p| p.hash.as_str() == hash).ok_or_else(missing)?;
        rebuild::piece_text(&self.sessions, &loaded, &record, piece).await?.ok_or_else(missing)
    }
}
