//! What a request can start with: the previous request, or the newest turns from the log.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use jiff::tz::TimeZone;

use super::Pipeline;
use crate::error::{Error, Result};
use crate::history::HistoryTurn;
use crate::layout;
use crate::memory;
use crate::piece::{SentPiece, Source};
use crate::rebuild;
use crate::request::Prefix;
use crate::session::LoadedSession;
use crate::session::record::{TurnKind, TurnRecord};

/// Turns at the end of the session that a turn has in hand.
const RECENT_TURNS: usize = 16;
/// Turns read at once.
const STEP_TURNS: u64 = 64;

pub(super) struct Shown {
    /// The previous request with its reply.
    pub prefix: Option<Prefix>,
    /// The newest turns, oldest first, if there is no such request.
    pub history: Vec<HistoryTurn>,
    /// Whether it starts with the first turn of the session.
    pub is_whole: bool,
    /// The last turns, oldest first.
    pub recent: Vec<Arc<TurnRecord>>,
    /// Why the previous request cannot be continued, if there is one.
    pub lost: Option<&'static str>,
}

const WITHHELD: &str = "something that was shown is withheld now";
const ERASED: &str = "something that was shown is erased";
const RESENT: &str = "the client sent the history itself before";
const NO_RECEIPT: &str = "the turns before name no prepared request";

impl Pipeline {
    /// The newest turns of a session, oldest first, without what is withheld.
    pub(super) async fn recent(&self, session: &LoadedSession) -> Result<Vec<Arc<TurnRecord>>> {
        let mut recent = self.sessions.tail(session, RECENT_TURNS).await?;
        recent.retain(|record| !session.head.withheld.holds(record.turn));
        Ok(recent)
    }

    /// What of the session a request of `tokens` can show; `resends` if its client sends the history itself.
    pub(super) async fn shown(
        &self,
        session: &LoadedSession,
        kind: TurnKind,
        zone: &TimeZone,
        tokens: u32,
        resends: bool,
    ) -> Result<Shown> {
        let recent = self.recent(session).await?;
        let lost = match self.prefix(session, (kind, resends), &recent, zone).await? {
            Ok(prefix) => {
                let (is_whole, history) = (prefix.window_from <= 1, Vec::new());
                return Ok(Shown { prefix: Some(prefix), history, is_whole, recent, lost: None });
            }
            Err(lost) => lost,
        };
        let (history, is_whole) = self.newest(session, zone, tokens).await?;
        Ok(Shown { prefix: None, history, is_whole, recent, lost })
    }

    /// The last request that can be continued, or why there is none.
    async fn prefix(
        &self,
        session: &LoadedSession,
        (kind, resends): (TurnKind, bool),
        recent: &[Arc<TurnRecord>],
        zone: &TimeZone,
    ) -> Result<std::result::Result<Prefix, Option<&'static str>>> {
        let said = recent.iter().rev().filter(|record| record.is_history());
        let mut since = Vec::new();
        for record in said {
            let receipt = record.receipt.as_ref().filter(|receipt| {
                let same_door = (record.kind == TurnKind::DropIn) == (kind == TurnKind::DropIn);
                receipt.layout == layout::CURRENT && same_door
            });
            let Some(receipt) = receipt else {
                since.push(record.clone());
                continue;
            };
            if session.head.withheld.may_be_shown_by(record.turn) {
                return Ok(Err(Some(WITHHELD)));
            }
            // Its history was the client's, so there is no window to go on with.
            if receipt.window_from == u64::MAX && !resends {
                return Ok(Err(Some(RESENT)));
            }
            since.reverse();
            let cached = self.prefixes.get(session, &receipt.request_hash);
            let pieces = match cached {
                Some(pieces) if self.stands(session, &pieces).await? => pieces,
                _ => match self.read_pieces(session, record, zone).await? {
                    Some(pieces) => pieces,
                    None => return Ok(Err(Some(ERASED))),
                },
            };
            let mut after = self.written_meanwhile(session, record, &pieces, recent).await?;
            after.append(&mut since);
            return Ok(Prefix::new(record, &pieces, &after, zone).ok_or(None));
        }
        // Other endpoints have requests of their own.
        let unnamed = since.iter().any(|record| record.kind == TurnKind::Recorded);
        Ok(Err(unnamed.then_some(NO_RECEIPT)))
    }

    /// Turns of the window that a past request does not show, because they were written while it was under way.
    async fn written_meanwhile(
        &self,
        session: &LoadedSession,
        record: &TurnRecord,
        pieces: &[Arc<SentPiece>],
        recent: &[Arc<TurnRecord>],
    ) -> Result<Vec<Arc<TurnRecord>>> {
        let Some(receipt) = &record.receipt else { return Ok(Vec::new()) };
        // A message that is read back names its turn only by when it was added.
        let shown: HashSet<u64> = pieces
            .iter()
            .filter_map(|sent| match &sent.piece.source {
                Source::Message => Some(sent.since),
                _ => sent.piece.history_turn(),
            })
            .collect();
        let window = receipt.window_from.max(1)..record.turn;
        let after = receipt.continues.unwrap_or(0);
        let in_hand = |turn: u64| recent.iter().find(|record| record.turn == turn).cloned();
        let missing = window.filter(|turn| !shown.contains(turn));
        let (mut found, mut unread) = (Vec::new(), BTreeSet::new());
        for turn in missing {
            match in_hand(turn) {
                Some(record) => found.push(record),
                None if turn > after => {
                    unread.insert(turn);
                }
                None => {}
            }
        }
        if !unread.is_empty() {
            found.extend(self.sessions.turns_at(session, &unread).await?);
        }
        found.retain(|record| session.head.shows(record));
        found.sort_by_key(|record| record.turn);
        Ok(found)
    }

    /// Whether everything quoted from other sessions may still be shown.
    async fn stands(&self, session: &LoadedSession, pieces: &[Arc<SentPiece>]) -> Result<bool> {
        let scope = &session.key.scope;
        let facts = pieces.iter().filter_map(|sent| match &sent.piece.source {
            Source::Fact { id, .. } => Some(id.as_str()),
            _ => None,
        });
        let facts: Vec<&str> = facts.collect();
        if !facts.is_empty() {
            let Some(kept) = self.facts.kept(scope, &facts).await? else { return Ok(false) };
            let mut silent = memory::silent(&self.sessions, scope, kept.iter()).await?;
            silent.remove(&session.head.id);
            if !silent.is_empty() {
                return Ok(false);
            }
        }
        let named = memory::elsewhere(pieces.iter().map(|sent| &sent.piece.source));
        if named.is_empty() {
            return Ok(true);
        }
        let standing = memory::standing(&self.sessions, scope, &named).await?;
        Ok(standing.len() == named.values().map(|turns| turns.len()).sum::<usize>())
    }

    /// The pieces of a past request; `None` if something of it was erased.
    async fn read_pieces(
        &self,
        session: &LoadedSession,
        record: &TurnRecord,
        zone: &TimeZone,
    ) -> Result<Option<Arc<Vec<Arc<SentPiece>>>>> {
        match rebuild::pieces(&self.sessions, session, record, zone).await {
            Ok(pieces) => Ok(Some(Arc::new(pieces))),
            Err(Error::NotKept { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The newest turns that fit into `tokens`, oldest first, and whether those are all.
    async fn newest(
        &self,
        session: &LoadedSession,
        zone: &TimeZone,
        tokens: u32,
    ) -> Result<(Vec<HistoryTurn>, bool)> {
        let mut newest_first = Vec::new();
        let (mut end, mut total) = (session.head.turns, 0);
        while end > 0 && total <= tokens {
            let start = end.saturating_sub(STEP_TURNS);
            let read = self.sessions.turns(session, start..end).await?;
            for record in read.iter().rev().filter(|record| session.head.shows(record)) {
                let turn = HistoryTurn::of(record, zone);
                total += turn.tokens();
                newest_first.push(turn);
            }
            end = start;
        }
        newest_first.reverse();
        Ok((newest_first, end == 0))
    }
}
