//! Turns as pieces of the history, with their text and day.
//!
//! Invariant: a piece's text depends only on the record and the part, so a receipt need not store it.

use std::sync::Arc;

use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::layout;
use crate::piece::{DayOf, HistoryPart, Piece, Position, Rank, SentPiece, Source};
use crate::prompt::quote;
use crate::search::split_name;
use crate::session::head::Summary;
use crate::session::record::{CallRecord, TurnRecord};

/// Maximum characters of a tool result shown in the history; the log has all of it.
const RESULT_CHARACTERS_MAX: usize = 4_000;

/// A turn shown verbatim.
#[derive(Debug, Clone)]
pub struct HistoryTurn {
    pub turn: u64,
    /// Its day in the user's time zone.
    pub day: Date,
    /// Message, results and reply, if present.
    pub pieces: Vec<Arc<SentPiece>>,
}

impl HistoryTurn {
    pub fn of(record: &TurnRecord, zone: &TimeZone) -> Self {
        let day = day_of(record, zone);
        let parts = [HistoryPart::Message, HistoryPart::Results, HistoryPart::Reply];
        let pieces = parts.into_iter().filter_map(|part| piece(record, part));
        let sent = pieces.map(|piece| SentPiece {
            piece,
            since: record.turn,
            kept_in: None,
            day: Some(day),
        });
        Self { turn: record.turn, day, pieces: sent.map(Arc::new).collect() }
    }

    /// Tokens including frames.
    pub fn tokens(&self) -> u32 {
        let tokens = |sent: &Arc<SentPiece>| sent.piece.tokens + layout::MESSAGE_FRAME_TOKENS;
        self.pieces.iter().map(tokens).sum()
    }
}

/// A part of a turn as a piece; `None` if the turn has no such part.
pub fn piece(record: &TurnRecord, part: HistoryPart) -> Option<Piece> {
    let text = text_of(record, part);
    if text.is_empty() {
        return None;
    }
    let source = Source::History { turn: record.turn, part };
    let (rank, tokens) = match part {
        HistoryPart::Message => (Rank::OldHistory, Some(record.tokens.message)),
        HistoryPart::Reply => (Rank::OldHistory, Some(record.tokens.reply)),
        HistoryPart::Results => (Rank::OldResults, None),
    };
    let why = "one of the last messages";
    Some(match tokens {
        Some(tokens) => Piece::counted(source, why, Position::History, rank, text, tokens),
        None => Piece::new(source, why, Position::History, rank, text),
    })
}

pub fn day_of(record: &TurnRecord, zone: &TimeZone) -> Date {
    record.at.to_zoned(zone.clone()).date()
}

/// The text of a part of a turn in the history.
pub fn text_of(record: &TurnRecord, part: HistoryPart) -> String {
    match part {
        HistoryPart::Message => record.message.clone(),
        HistoryPart::Reply => record.reply.clone(),
        HistoryPart::Results => results_text(record),
    }
}

/// The tool results of a turn, quoted as data.
pub fn results_text(record: &TurnRecord) -> String {
    let quoted: Vec<String> = record
        .calls
        .iter()
        .map(|call| {
            let origin =
                format!("tool {} with {}, turn {}", call.tool, call.arguments, record.turn);
            quote(&origin, &shortened(call))
        })
        .collect();
    quoted.join("\n")
}

/// The text of a recalled turn in `layout`.
pub fn recalled_text(record: &TurnRecord, part: HistoryPart, layout: u32) -> String {
    let (speaker, words) = match part {
        HistoryPart::Results => return results_text(record),
        HistoryPart::Message => ("user", &record.message),
        HistoryPart::Reply => ("assistant", &record.reply),
    };
    if layout == layout::FIRST {
        return quote(&format!("the {speaker}, turn {}", record.turn), words);
    }
    // A text that names its speaker needs no other name.
    match split_name(words) {
        (Some(_), _) => words.clone(),
        (None, _) => format!("{speaker}: {words}"),
    }
}

pub fn day_text(on: Date, of: DayOf) -> String {
    let day = layout::day(on);
    match of {
        DayOf::Message => format!("[today: {}, {day}]", on.strftime("%A")),
        DayOf::Turn => format!("[{day}]"),
        DayOf::Above => format!("[the messages above: {day}]"),
    }
}

pub fn day_piece(on: Date, of: DayOf) -> Piece {
    let (place, why) = match of {
        DayOf::Message => (Position::Aside, "the day of the message"),
        DayOf::Turn => (Position::History, "the day changes here"),
        DayOf::Above => (Position::Aside, "the day of the messages above"),
    };
    let text = day_text(on, of);
    Piece::new(Source::Day { on, of }, why, place, Rank::OldHistory, text)
}

pub fn summary_piece(summary: &Summary) -> Piece {
    let Summary { from, to, .. } = *summary;
    let what = if summary.is_extract() { "some sentences of" } else { "notes on" };
    let origin = format!("{what} turns {from} to {to}");
    Piece::new(
        Source::Summary { from, to },
        format!("condenses turns {from} to {to} (by {})", summary.by),
        Position::Preface,
        Rank::Summary,
        quote(&origin, &summary.text),
    )
}

fn shortened(call: &CallRecord) -> String {
    let text = call.result_text();
    let Some((cut, _)) = text.char_indices().nth(RESULT_CHARACTERS_MAX) else {
        return text;
    };
    let whole = call.output.as_ref().and_then(|output| output.whole_characters);
    let all = whole.unwrap_or_else(|| text.chars().count() as u64);
    format!("{}\n[cut: {RESULT_CHARACTERS_MAX} of {all} characters]", &text[..cut])
}
