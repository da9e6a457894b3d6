//! What the next request starts with: the request before, its reply, and the turns since.
//!
//! Cached per session after each turn, else read from the receipts. A cached entry names its request and is used
//! only for that one.

use std::sync::Arc;
use std::time::Duration;

use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::budget::cost;
use crate::hash::ContentHash;
use crate::history::{self, HistoryTurn};
use crate::piece::{DayOf, HistoryPart, IncludeMode, Piece, Position, SentPiece, Source};
use crate::rounds;
use crate::session::LoadedSession;
use crate::session::record::TurnRecord;
use crate::store::Key;
use crate::tool::ToolName;
use crate::tool_search;

use super::must_be_kept;

/// Size of a cached piece besides its text, in bytes.
const PIECE_BYTES: usize = 256;

/// The request before, and what followed it.
#[derive(Debug, Clone)]
pub struct Prefix {
    pub turn: u64,
    /// The first turn shown verbatim.
    pub window_from: u64,
    /// Its pieces, then the reply and the turns since.
    pub pieces: Vec<Arc<SentPiece>>,
    /// The number of pieces that were in that turn's last request.
    pub sent: usize,
}

impl Prefix {
    /// The prefix made of `record`'s request, its reply and the turns `since`.
    pub fn new(
        record: &TurnRecord,
        request: &[Arc<SentPiece>],
        since: &[Arc<TurnRecord>],
        zone: &TimeZone,
    ) -> Option<Self> {
        let receipt = record.receipt.as_ref()?;
        let day = Some(history::day_of(record, zone));
        // This turn's pieces were sent before the turn had a number and a time. What is read back from receipts
        // has both, and every message in it was the newest one once.
        let numbered = |sent: &Arc<SentPiece>| match sent.since {
            NEW => Arc::new(numbered(sent, record.turn, day)),
            turn if sent.piece.source == Source::Message => {
                Arc::new(numbered(sent, turn, sent.day))
            }
            _ => sent.clone(),
        };
        let mut pieces: Vec<Arc<SentPiece>> = request.iter().map(numbered).collect();
        let (mut told, _) = history::told_days(&pieces);
        // Its last request had its calls as well.
        let sent = pieces.len() + usize::from(rounds::ended_in_request(record));
        pieces.extend(history::outcome(record).into_iter().filter_map(|part| {
            let piece = history::piece(record, part)?;
            Some(Arc::new(SentPiece { piece, since: NEW, kept_in: None, day }))
        }));
        let mark = |on: Date, of: DayOf| {
            let piece = history::day_piece(on, of);
            Arc::new(SentPiece { piece, since: NEW, kept_in: None, day: None })
        };
        // The day of this turn was unknown when its message was sent.
        if let Some(on) = day.filter(|day| told.is_some_and(|told| told != *day)) {
            pieces.push(mark(on, DayOf::Exchange));
            told = Some(on);
        }
        for turn in since {
            let HistoryTurn { day: on, pieces: said, .. } = HistoryTurn::of(turn, zone);
            if told.is_some_and(|told| told != on) {
                pieces.push(mark(on, DayOf::Turn));
                told = Some(on);
            }
            let new = |sent: Arc<SentPiece>| Arc::new(SentPiece { since: NEW, ..(*sent).clone() });
            pieces.extend(said.into_iter().map(new));
        }
        Some(Self { turn: record.turn, window_from: receipt.window_from.max(1), pieces, sent })
    }

    /// The pieces of tools and system.
    pub fn frame(&self) -> &[Arc<SentPiece>] {
        let end = self.pieces.iter().position(|sent| !is_frame(&sent.piece));
        &self.pieces[..end.unwrap_or(self.pieces.len())]
    }

    /// The tools that were declared because they matched a message, in order.
    pub fn chosen_tools(&self) -> Vec<ToolName> {
        let chosen = self.frame().iter().filter_map(|sent| match &sent.piece.source {
            Source::Tool { server, name, mode: IncludeMode::Agent } => {
                Some(ToolName { server: server.clone(), name: name.clone() })
            }
            _ => None,
        });
        chosen.collect()
    }

    /// The tools that `call_tool` names, in order, and those named beside messages.
    pub fn named_tools(&self) -> (Vec<ToolName>, Vec<ToolName>) {
        let named = |pieces: &[Arc<SentPiece>]| {
            let named = pieces.iter().filter_map(|sent| match &sent.piece.source {
                Source::ToolNames { tools } => Some(tools.clone()),
                _ => None,
            });
            named.flatten().collect()
        };
        (named(self.frame()), named(self.stream()))
    }

    pub fn offers_search(&self) -> bool {
        self.frame().iter().any(|sent| tool_search::is_offered_by(&sent.piece.source))
    }

    /// Everything after the frame.
    pub fn stream(&self) -> &[Arc<SentPiece>] {
        &self.pieces[self.frame().len()..]
    }

    /// The turns in order, without what was added to their messages.
    pub fn turns(&self) -> Vec<HistoryTurn> {
        let mut turns: Vec<HistoryTurn> = Vec::new();
        for sent in self.stream() {
            let (Some(turn), Some(day)) = (sent.piece.history_turn(), sent.day) else { continue };
            match turns.last_mut().filter(|last| last.turn == turn) {
                Some(last) => last.pieces.push(sent.clone()),
                None => turns.push(HistoryTurn { turn, day, pieces: vec![sent.clone()] }),
            }
        }
        // A turn that was written while another was under way comes after that one.
        turns.sort_by_key(|turn| turn.turn);
        turns
    }

    pub fn stream_tokens(&self) -> u32 {
        self.stream().iter().map(|sent| cost(&sent.piece)).sum()
    }
}

/// The turn number of pieces of a request that has none yet.
pub(super) const NEW: u64 = 0;

/// A piece added by the turn of that number.
fn numbered(sent: &SentPiece, turn: u64, day: Option<Date>) -> SentPiece {
    let is_message = sent.piece.source == Source::Message;
    let piece = match is_message {
        true => {
            let source = Source::History { turn, part: HistoryPart::Message };
            Piece { source, place: Position::History, ..sent.piece.clone() }
        }
        false => sent.piece.clone(),
    };
    let kept_in = sent.kept_in.or_else(|| must_be_kept(&piece.source).then_some(turn));
    let day = if is_message { day } else { sent.day };
    SentPiece { piece, since: turn, kept_in, day }
}

/// Whether a piece is part of the tools or system.
pub(super) fn is_frame(piece: &Piece) -> bool {
    matches!(piece.place, Position::Tools | Position::System)
}

/// The pieces of the last request of recently used sessions.
pub struct PrefixCache(moka::sync::Cache<Key, Arc<CachedRequest>>);

struct CachedRequest {
    hash: ContentHash,
    /// The number of withdrawn turns at that time.
    unused_turns: u64,
    pieces: Arc<Vec<Arc<SentPiece>>>,
}

impl PrefixCache {
    /// `life` is the time after the last use at which an entry is dropped.
    pub fn new(bytes_max: u64, life: Duration) -> Self {
        let cache = moka::sync::Cache::builder()
            .max_capacity(bytes_max)
            .weigher(|_: &Key, cached: &Arc<CachedRequest>| {
                let bytes = cached.pieces.iter().map(|sent| sent.piece.text.len() + PIECE_BYTES);
                u32::try_from(bytes.sum::<usize>()).unwrap_or(u32::MAX)
            })
            .time_to_idle(life)
            .build();
        Self(cache)
    }

    /// The pieces of the request with that hash.
    pub fn get(
        &self,
        session: &LoadedSession,
        hash: &ContentHash,
    ) -> Option<Arc<Vec<Arc<SentPiece>>>> {
        let cached = self.0.get(&session.key)?;
        let is_it = cached.hash == *hash && cached.unused_turns == session.head.unused_turns();
        is_it.then(|| cached.pieces.clone())
    }

    /// Stores the pieces of a session's last request.
    pub fn keep(
        &self,
        session: &LoadedSession,
        hash: ContentHash,
        pieces: Arc<Vec<Arc<SentPiece>>>,
    ) {
        let unused_turns = session.head.unused_turns();
        let cached = CachedRequest { hash, unused_turns, pieces };
        self.0.insert(session.key.clone(), Arc::new(cached));
    }

    pub fn forget(&self, session: &Key) {
        self.0.invalidate(session);
    }
}
