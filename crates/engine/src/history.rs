//! Turns as pieces of the history, with their text and day.
//!
//! Invariant: a piece's text depends only on the record, the part and the excerpt, so a receipt need not store it.

use std::sync::Arc;

use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::excerpt::Excerpt;
use crate::layout;
use crate::piece::{DayOf, HistoryPart, Piece, Position, Rank, SentPiece, Source};
use crate::prompt::quote;
use crate::rounds::{self, RESULT_CHARACTERS_MAX};
use crate::search::split_name;
use crate::session::head::Summary;
use crate::session::record::{CallRecord, TurnRecord};

/// A turn shown verbatim.
#[derive(Debug, Clone)]
pub struct HistoryTurn {
    pub turn: u64,
    /// Its day in the user's time zone.
    pub day: Date,
    /// Message, calls and reply, if present.
    pub pieces: Vec<Arc<SentPiece>>,
}

impl HistoryTurn {
    pub fn of(record: &TurnRecord, zone: &TimeZone) -> Self {
        let day = day_of(record, zone);
        let [calls, reply] = outcome(record);
        let parts = [HistoryPart::Message, calls, reply].into_iter();
        let pieces = parts.filter_map(|part| piece(record, part));
        let sent = pieces.map(|piece| SentPiece {
            piece,
            since: record.turn,
            kept_in: None,
            day: Some(day),
        });
        Self { turn: record.turn, day, pieces: sent.map(Arc::new).collect() }.shortened()
    }

    /// The turn with long results cut, as a new prefix shows it.
    pub fn shortened(mut self) -> Self {
        for sent in &mut self.pieces {
            let part = HistoryPart::Calls;
            if sent.piece.source != (Source::History { turn: self.turn, part }) {
                continue;
            }
            if let Some(text) = rounds::short(&sent.piece.text) {
                let source = Source::History { turn: self.turn, part: HistoryPart::ShortCalls };
                let Piece { why, place, rank, .. } = sent.piece.clone();
                let piece = Piece::new(source, why, place, rank, text);
                *sent = Arc::new(SentPiece { piece, ..SentPiece::clone(sent) });
            }
        }
        self
    }

    /// Tokens including frames.
    pub fn tokens(&self) -> u32 {
        let tokens = |sent: &Arc<SentPiece>| sent.piece.tokens + layout::MESSAGE_FRAME_TOKENS;
        self.pieces.iter().map(tokens).sum()
    }
}

/// The parts that follow a turn's message: its calls as the model was sent them, or else quoted, and the reply.
pub fn outcome(record: &TurnRecord) -> [HistoryPart; 2] {
    match (rounds::were_sent(record), rounds::answer(record) == record.reply) {
        (true, false) => [HistoryPart::Calls, HistoryPart::Answer],
        (true, true) => [HistoryPart::Calls, HistoryPart::Reply],
        (false, _) => [HistoryPart::Results, HistoryPart::Reply],
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
        HistoryPart::Answer => (Rank::OldHistory, None),
        HistoryPart::Results | HistoryPart::Calls | HistoryPart::ShortCalls => {
            (Rank::OldResults, None)
        }
    };
    let why = match part {
        HistoryPart::Results => "one of the last messages; its calls were not sent to a model here",
        _ => "one of the last messages",
    };
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
        HistoryPart::Answer => rounds::answer(record).to_owned(),
        HistoryPart::Calls => rounds::text(&record.calls),
        HistoryPart::ShortCalls => {
            let text = rounds::text(&record.calls);
            rounds::short(&text).unwrap_or(text)
        }
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

/// The text of a recalled turn in `layout`; of an excerpt, if one is given.
pub fn recalled_text(
    record: &TurnRecord,
    (part, excerpt): (HistoryPart, Option<Excerpt>),
    layout: u32,
) -> String {
    let (speaker, words) = match part.of_turn() {
        HistoryPart::Message => ("user", &record.message),
        HistoryPart::Reply => ("assistant", &record.reply),
        _ => return results_text(record),
    };
    if let Some(shown) = excerpt.and_then(|excerpt| excerpt.of(words)) {
        return match split_name(words).0 {
            Some(name) if shown.starts_with(name) => shown,
            name => format!("{}: {shown}", name.unwrap_or(speaker)),
        };
    }
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
        DayOf::Exchange => format!("[the exchange above: {day}]"),
    }
}

pub fn day_piece(on: Date, of: DayOf) -> Piece {
    let (place, why) = match of {
        DayOf::Message => (Position::Aside, "the day of the message"),
        DayOf::Turn => (Position::History, "the day changes here"),
        DayOf::Above => (Position::Aside, "the day of the messages above"),
        DayOf::Exchange => (Position::Aside, "the day of the exchange above"),
    };
    let text = day_text(on, of);
    Piece::new(Source::Day { on, of }, why, place, Rank::OldHistory, text)
}

/// The last day told before the end of `pieces`, and the last one told in front of a message.
pub fn told_days(pieces: &[Arc<SentPiece>]) -> (Option<Date>, Option<Date>) {
    let days = pieces.iter().rev().filter_map(|sent| match sent.piece.source {
        Source::Day { on, of } => Some((on, of)),
        _ => None,
    });
    let is_in_front = |(_, of): &(Date, DayOf)| matches!(of, DayOf::Message | DayOf::Turn);
    let mut in_front = days.clone().filter(is_in_front).map(|(on, _)| on);
    (days.map(|(on, _)| on).next(), in_front.next())
}

pub fn summary_piece(summary: &Summary) -> Piece {
    let Summary { from, to, .. } = *summary;
    let (what, last) = summary.claim();
    let origin = format!("{what} turns {from} to {last}");
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
