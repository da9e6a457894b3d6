//! Recalled parts of earlier turns as pieces: short ones whole, and of long ones the sentences that fit the message.

use std::collections::HashSet;

use super::Material;
use crate::excerpt::Excerpt;
use crate::history;
use crate::layout::SPEAKER_TOKENS;
use crate::memory::Recalled;
use crate::piece::{HistoryPart, Piece, Position, Rank, Source};
use crate::search::split_name;
use crate::search::words::stems;

/// A long part of an earlier turn is shown whole if it is one of so many best matches and takes at most this part of
/// the room.
const WHOLE_BEST: usize = 2;
const WHOLE_PART: u32 = 3;

/// Chooses what is shown of long parts.
pub(super) struct Excerpts {
    wanted: HashSet<String>,
    room: u32,
}

impl Excerpts {
    pub(super) fn of(message: &str, room: u32) -> Self {
        Self { wanted: stems(split_name(message).1).into_iter().collect(), room }
    }

    /// The excerpt of the match in that place of the ranking; `None` to show all of it.
    pub(super) fn excerpt(&self, found: &Recalled, place: usize) -> Option<Excerpt> {
        let fits = || found.tokens() <= self.room / WHOLE_PART;
        if !found.is_long() || place < WHOLE_BEST && fits() {
            return None;
        }
        Excerpt::best(&history::text_of(&found.record, found.part), &self.wanted)
    }
}

/// A recalled part of a turn.
pub(super) fn recalled_piece(
    found: &Recalled,
    excerpt: Option<Excerpt>,
    material: &Material<'_>,
) -> Piece {
    let Recalled { record, part, score, .. } = found;
    let day = history::day_of(record, &material.zone);
    let (turn, on) = (record.turn, Some(day));
    let text = history::recalled_text(record, (*part, excerpt), crate::layout::CURRENT);
    let why = match (&found.session, excerpt) {
        (None, None) => "an older turn that fits the message",
        (Some(_), None) => "said in another session, and fits the message",
        (None, Some(_)) => "the part of a long older turn that fits the message",
        (Some(_), Some(_)) => "said in another session at length; this part fits the message",
    };
    let (source, rank) = match (&found.session, *part) {
        (Some(session), part) => {
            let session = session.clone();
            (Source::Elsewhere { session, turn, part, on: day, excerpt }, Rank::Recalled)
        }
        (None, HistoryPart::Results) => (Source::EarlierResult { turn, on }, Rank::EarlierResult),
        (None, part) => (Source::Recalled { turn, part, on, excerpt }, Rank::Recalled),
    };
    let named = split_name(&text).0.is_some();
    let speaker = if named { 0 } else { SPEAKER_TOKENS };
    let whole = match part {
        HistoryPart::Message => Some(record.tokens.message + speaker),
        HistoryPart::Reply => Some(record.tokens.reply + speaker),
        _ => None,
    };
    let piece = match whole.filter(|_| excerpt.is_none()) {
        Some(tokens) => Piece::counted(source, why, Position::Aside, rank, text, tokens),
        None => Piece::new(source, why, Position::Aside, rank, text),
    };
    piece.scored(*score)
}
