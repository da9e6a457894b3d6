//! Recent turns as pieces, and the words in which any turn is quoted.
//!
//! The verbatim window starts after the summary, so that it grows at its end and the start of the prompt
//! stays the same from turn to turn. Which turns matter most is decided here; which fit is not.
//!
//! Invariant: the text of a piece is a function of the record and its part alone, so that a receipt need
//! not keep it.

use std::sync::Arc;

use crate::limits::Limits;
use crate::piece::{HistoryPart, Piece, Place, Rank, Source};
use crate::prompt::quote;
use crate::session::head::{SessionHead, Summary};
use crate::session::record::{TurnRecord, TurnStatus};

/// The most characters of one result that the history shows; the whole is in the log.
const RESULT_CHARACTERS_MAX: usize = 4_000;

/// The first turn of the verbatim window, and how many turns that makes.
pub fn window(head: &SessionHead, turns_max: u64) -> (u64, usize) {
    let summarised = head.summary.as_ref().map_or(0, |summary| summary.to);
    let first = (summarised + 1).max((head.turns + 1).saturating_sub(turns_max));
    let count = usize::try_from((head.turns + 1).saturating_sub(first)).unwrap_or(usize::MAX);
    (first, count)
}

/// The turns of the window as pieces, oldest first.
pub fn recent(turns: &[Arc<TurnRecord>], limits: &Limits) -> Vec<Piece> {
    let recent_from = turns.len().saturating_sub(limits.keep_recent_messages / 2);
    let mut important_left = limits.keep_important_messages;
    let mut ranks = vec![Rank::OldHistory; turns.len()];
    for (at, turn) in turns.iter().enumerate().rev() {
        if at >= recent_from {
            ranks[at] = Rank::RecentHistory;
        } else if turn.is_important() && important_left > 0 {
            important_left -= 1;
            ranks[at] = Rank::ImportantHistory;
        }
    }
    turns.iter().zip(ranks).flat_map(|(turn, rank)| pieces_of(turn, rank)).collect()
}

fn pieces_of(record: &TurnRecord, rank: Rank) -> Vec<Piece> {
    if record.status == TurnStatus::Erased {
        return Vec::new();
    }
    let why = match rank {
        Rank::RecentHistory => "one of the last messages",
        Rank::ImportantHistory => "within the window; tools or entities",
        _ => "within the window",
    };
    let results_rank = match rank {
        Rank::RecentHistory => Rank::RecentResults,
        _ => Rank::OldResults,
    };
    let piece = |part, rank, tokens: Option<u32>| {
        let text = text_of(record, part);
        if text.is_empty() {
            return None;
        }
        let source = Source::History { turn: record.turn, part };
        Some(match tokens {
            Some(tokens) => Piece::counted(source, why, Place::History, rank, text, tokens),
            None => Piece::new(source, why, Place::History, rank, text),
        })
    };
    [
        piece(HistoryPart::Message, rank, Some(record.tokens.message)),
        piece(HistoryPart::Results, results_rank, None),
        piece(HistoryPart::Reply, rank, Some(record.tokens.reply)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The words of a part of a turn, as the history shows them.
pub fn text_of(record: &TurnRecord, part: HistoryPart) -> String {
    match part {
        HistoryPart::Message => record.message.clone(),
        HistoryPart::Reply => record.reply.clone(),
        HistoryPart::Results => results_text(record),
    }
}

/// What the tools of a turn answered, quoted as data.
pub fn results_text(record: &TurnRecord) -> String {
    let quoted: Vec<String> = record
        .calls
        .iter()
        .map(|call| {
            let origin =
                format!("tool {} with {}, turn {}", call.tool, call.arguments, record.turn);
            quote(&origin, &shortened(&call.result_text()))
        })
        .collect();
    quoted.join("\n")
}

/// The words of an older turn, as recall shows them.
pub fn recalled_text(record: &TurnRecord, part: HistoryPart) -> String {
    match part {
        HistoryPart::Results => results_text(record),
        HistoryPart::Message => quote(&format!("the user, turn {}", record.turn), &record.message),
        HistoryPart::Reply => quote(&format!("the assistant, turn {}", record.turn), &record.reply),
    }
}

/// The summary, quoted.
pub fn summary_piece(summary: &Summary) -> Piece {
    let origin = format!("notes on turns {} to {}", summary.from, summary.to);
    Piece::new(
        Source::Summary { from: summary.from, to: summary.to },
        format!("condenses turns {} to {} (by {})", summary.from, summary.to, summary.by),
        Place::Preface,
        Rank::Summary,
        quote(&origin, &summary.text),
    )
}

fn shortened(text: &str) -> String {
    let Some((cut, _)) = text.char_indices().nth(RESULT_CHARACTERS_MAX) else {
        return text.to_owned();
    };
    let all = text.chars().count();
    format!("{}\n[cut: {RESULT_CHARACTERS_MAX} of {all} characters]", &text[..cut])
}
