//! Recalled parts of earlier turns as pieces: short ones whole, and of long ones the sentences that fit the message.

use std::collections::HashSet;

use super::Material;
use crate::excerpt::Excerpt;
use crate::history;
use crate::layout::SPEAKER_TOKENS;
use crate::lexicon;
use crate::memory::Recalled;
use crate::piece::{HistoryPart, Piece, Position, Rank, Source};
use crate::search::split_name;
use crate::search::words::stems;

/// The part of the room in which long parts of earlier turns are shown whole, best first: one in so many. What the
/// assistant said is long, so more of it if the message speaks to the assistant.
const WHOLE_PART: u32 = 4;
const WHOLE_PART_ADDRESSED: u32 = 2;

/// Chooses what is shown of long parts.
pub(super) struct Excerpts<'a> {
    message: &'a str,
    /// The stems of the message, made for the first excerpt.
    wanted: Option<HashSet<String>>,
    /// Tokens left for long parts that are shown whole.
    whole_left: u32,
}

impl<'a> Excerpts<'a> {
    pub(super) fn of(message: &'a str, room: u32) -> Self {
        let (_, said) = split_name(message);
        let part = if lexicon::addresses(said) { WHOLE_PART_ADDRESSED } else { WHOLE_PART };
        Self { message: said, wanted: None, whole_left: room / part }
    }

    /// The excerpt of the next best match; `None` to show all of it.
    pub(super) fn next(&mut self, found: &Recalled) -> Option<Excerpt> {
        if !found.is_long() {
            return None;
        }
        if let Some(left) = self.whole_left.checked_sub(found.tokens()) {
            self.whole_left = left;
            return None;
        }
        let wanted = self.wanted.get_or_insert_with(|| stems(self.message).into_iter().collect());
        Excerpt::best(&history::text_of(&found.record, found.part), wanted)
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
