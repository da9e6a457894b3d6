//! What the next request begins with: the request before, its reply, and what was said since.
//!
//! Kept in memory per session after each turn; read from the receipts where it is not. A cached entry names the
//! request that it holds, and is only used for exactly that one.

use std::sync::Arc;
use std::time::Duration;

use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::budget::cost;
use crate::hash::ContentHash;
use crate::history::{self, HistoryTurn};
use crate::piece::{HistoryPart, IncludeMode, Piece, Position, SentPiece, Source};
use crate::session::LoadedSession;
use crate::session::record::TurnRecord;
use crate::store::Key;
use crate::tool::ToolName;
use crate::tool_search;

use super::must_be_kept;

/// What a cached piece weighs beside its text, in bytes.
const PIECE_BYTES: usize = 256;

/// The request before, with what followed it.
#[derive(Debug, Clone)]
pub struct Prefix {
    /// The turn whose request it is.
    pub turn: u64,
    /// The first turn that it shows word for word.
    pub window_from: u64,
    /// Its pieces, then the reply and the turns since.
    pub pieces: Vec<Arc<SentPiece>>,
    /// How many of the pieces were in that request.
    pub sent: usize,
}

impl Prefix {
    /// The prefix that `record`'s request makes, with its reply and the turns `since`.
    pub fn new(
        record: &TurnRecord,
        request: &[Arc<SentPiece>],
        since: &[Arc<TurnRecord>],
        zone: &TimeZone,
    ) -> Option<Self> {
        let receipt = record.receipt.as_ref()?;
        let day = Some(history::day_of(record, zone));
        // What came in with this turn was sent before the turn had a number and a time.
        let numbered = |sent: &Arc<SentPiece>| match sent.since {
            NEW => Arc::new(numbered(sent, record.turn, day)),
            _ => sent.clone(),
        };
        let mut pieces: Vec<Arc<SentPiece>> = request.iter().map(numbered).collect();
        let sent = pieces.len();
        let answers = [HistoryPart::Results, HistoryPart::Reply];
        pieces.extend(answers.into_iter().filter_map(|part| {
            let piece = history::piece(record, part)?;
            Some(Arc::new(SentPiece { piece, since: NEW, kept_in: None, day }))
        }));
        for turn in since {
            let said = HistoryTurn::of(turn, zone).pieces.into_iter();
            pieces.extend(said.map(|sent| Arc::new(SentPiece { since: NEW, ..(*sent).clone() })));
        }
        Some(Self { turn: record.turn, window_from: receipt.window_from.max(1), pieces, sent })
    }

    /// The pieces of tools and system.
    pub fn frame(&self) -> &[Arc<SentPiece>] {
        let end = self.pieces.iter().position(|sent| !is_frame(&sent.piece));
        &self.pieces[..end.unwrap_or(self.pieces.len())]
    }

    /// The tools that were declared because they fitted a message, in order.
    pub fn chosen_tools(&self) -> Vec<ToolName> {
        let chosen = self.frame().iter().filter_map(|sent| match &sent.piece.source {
            Source::Tool { server, name, mode: IncludeMode::Agent } => {
                Some(ToolName { server: server.clone(), name: name.clone() })
            }
            _ => None,
        });
        chosen.collect()
    }

    /// Whether it let the model search for tools.
    pub fn offers_search(&self) -> bool {
        self.frame().iter().any(|sent| tool_search::is_offered_by(&sent.piece.source))
    }

    /// The conversation: everything behind the frame.
    pub fn stream(&self) -> &[Arc<SentPiece>] {
        &self.pieces[self.frame().len()..]
    }

    /// The turns of the conversation, without what stood beside their messages.
    pub fn turns(&self) -> Vec<HistoryTurn> {
        let mut turns: Vec<HistoryTurn> = Vec::new();
        for sent in self.stream() {
            let (Some(turn), Some(day)) = (sent.piece.history_turn(), sent.day) else { continue };
            match turns.last_mut().filter(|last| last.turn == turn) {
                Some(last) => last.pieces.push(sent.clone()),
                None => turns.push(HistoryTurn { turn, day, pieces: vec![sent.clone()] }),
            }
        }
        turns
    }

    /// Tokens of its conversation.
    pub fn stream_tokens(&self) -> u32 {
        self.stream().iter().map(|sent| cost(&sent.piece)).sum()
    }
}

/// The turn of pieces that come in with a request whose turn has no number yet.
pub const NEW: u64 = 0;

/// A piece that came in with the turn of that number.
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

/// Whether a piece stands among tools and system.
pub(super) fn is_frame(piece: &Piece) -> bool {
    matches!(piece.place, Position::Tools | Position::System)
}

/// The pieces of the last request of recently used sessions.
pub struct PrefixCache(moka::sync::Cache<Key, Arc<CachedRequest>>);

struct CachedRequest {
    hash: ContentHash,
    /// Turns of the session that were out of use when it was kept.
    unused_turns: u64,
    pieces: Arc<Vec<Arc<SentPiece>>>,
}

impl PrefixCache {
    /// Holds `bytes_max` of texts, each for `life` after its last use.
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

    /// The pieces of the request of that hash.
    pub fn get(
        &self,
        session: &LoadedSession,
        hash: &ContentHash,
    ) -> Option<Arc<Vec<Arc<SentPiece>>>> {
        let cached = self.0.get(&session.key)?;
        let is_it = cached.hash == *hash && cached.unused_turns == session.head.unused_turns();
        is_it.then(|| cached.pieces.clone())
    }

    /// Keeps the pieces of a session's last request.
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

    /// Forgets a session.
    pub fn forget(&self, session: &Key) {
        self.0.invalidate(session);
    }
}
