//! Compares two receipts.
//!
//! A pure function that reads no text. Pieces are matched by source, and by order if a source has several.
//!
//! Invariant: every piece of both receipts is counted exactly once.

use serde::Serialize;

use crate::hash::ContentHash;
use crate::piece::Source;
use crate::receipt::{DropReason, Receipt, ReceiptPiece};

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReceiptDiff {
    /// Pieces that only the first has.
    pub only_first: Vec<ReceiptPiece>,
    /// Pieces that only the second has.
    pub only_second: Vec<ReceiptPiece>,
    /// Pieces sent in only one, or dropped for different reasons.
    pub moved: Vec<MovedPiece>,
    /// Pieces of the same source with different text.
    pub changed: Vec<ChangedPiece>,
    /// Number of identical pieces.
    pub same: usize,
    /// Tokens sent, in the first and in the second.
    pub used_tokens: [u32; 2],
    pub same_request: bool,
}

/// A piece with a different fate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MovedPiece {
    pub source: Source,
    /// Why it was dropped in the first; `None` if it was sent.
    pub first: Option<DropReason>,
    /// Why it was dropped in the second.
    pub second: Option<DropReason>,
    pub changed: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChangedPiece {
    pub source: Source,
    /// Hash of the text in the first.
    pub first: ContentHash,
    /// Hash of the text in the second.
    pub second: ContentHash,
    /// Tokens in both.
    pub tokens: [u32; 2],
}

pub fn diff(first: &Receipt, second: &Receipt) -> ReceiptDiff {
    let mut result = ReceiptDiff {
        only_first: Vec::new(),
        only_second: Vec::new(),
        moved: Vec::new(),
        changed: Vec::new(),
        same: 0,
        used_tokens: [first.budget.used_tokens, second.budget.used_tokens],
        same_request: first.request_hash == second.request_hash,
    };
    let mut waiting: Vec<&ReceiptPiece> = second.pieces.iter().collect();
    for piece in &first.pieces {
        let found = waiting.iter().position(|other| other.source == piece.source);
        match found {
            Some(at) => result.compare(piece, waiting.remove(at)),
            None => result.only_first.push(piece.clone()),
        }
    }
    result.only_second = waiting.into_iter().cloned().collect();
    result
}

impl ReceiptDiff {
    fn compare(&mut self, first: &ReceiptPiece, second: &ReceiptPiece) {
        let changed = first.hash != second.hash;
        let source = first.source.clone();
        if first.dropped != second.dropped {
            let (first, second) = (first.dropped, second.dropped);
            self.moved.push(MovedPiece { source, first, second, changed });
        } else if changed {
            let tokens = [first.tokens, second.tokens];
            let (first, second) = (first.hash, second.hash);
            self.changed.push(ChangedPiece { source, first, second, tokens });
        } else {
            self.same += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mode::PromptMode;
    use crate::piece::{IncludeMode, Position, Rank};
    use crate::receipt::{BudgetReport, Parameters, ReplayCost};

    /// `name=text` is a rule that was sent, `-name=text` one that was dropped.
    fn receipt(pieces: &str) -> Receipt {
        let pieces = pieces.split_whitespace().map(|word| {
            let (name, text) = word.trim_start_matches('-').split_once('=').expect("name=text");
            ReceiptPiece {
                source: Source::Rule { name: name.into(), mode: IncludeMode::Always },
                why: String::new(),
                place: Position::System,
                rank: Rank::SessionItem,
                score: None,
                tokens: 1,
                hash: ContentHash::of(text),
                kept_in: None,
                since: None,
                dropped: word.starts_with('-').then_some(DropReason::OverWindow),
                used: false,
                erased: false,
            }
        });
        Receipt {
            at: jiff::Timestamp::UNIX_EPOCH,
            layout: 1,
            mode: PromptMode::General,
            mode_why: String::new(),
            budget: BudgetReport::default(),
            asked_tokens: None,
            parameters: Parameters { reply_tokens_max: 1, temperature: 0.0 },
            pieces: pieces.collect(),
            continues: None,
            window_from: 1,
            history_tokens: 0,
            stable_prefix_tokens: 0,
            broken_by: None,
            replay: ReplayCost::default(),
            used: Vec::new(),
            summary: None,
            no_model: false,
            request_hash: ContentHash::of("request"),
            handed_on_hash: None,
        }
    }

    fn name(source: &Source) -> &str {
        match source {
            Source::Rule { name, .. } => name,
            _ => "",
        }
    }

    fn check(first: &str, second: &str, expected: &str) {
        let diff = diff(&receipt(first), &receipt(second));
        let mut words = vec![format!("same {}", diff.same)];
        words.extend(diff.only_first.iter().map(|p| format!("first {}", name(&p.source))));
        words.extend(diff.only_second.iter().map(|p| format!("second {}", name(&p.source))));
        words.extend(diff.moved.iter().map(|p| {
            let fate = |dropped: Option<DropReason>| if dropped.is_some() { "out" } else { "in" };
            let also = if p.changed { " changed" } else { "" };
            format!("{} {}-{}{also}", name(&p.source), fate(p.first), fate(p.second))
        }));
        words.extend(diff.changed.iter().map(|p| format!("changed {}", name(&p.source))));
        assert_eq!(words.join(", "), expected);
    }

    #[test]
    fn a_receipt_compared_with_itself_is_the_same() {
        check("a=1 -b=2", "a=1 -b=2", "same 2");
    }

    #[test]
    fn what_only_one_has_is_named_on_its_side() {
        check("a=1 b=2", "b=2 c=3", "same 1, first a, second c");
    }

    #[test]
    fn another_fate_and_another_text_are_told_apart() {
        check("a=1 b=1 c=1", "-a=1 b=2 -c=2", "same 0, a in-out, c in-out changed, changed b");
    }

    #[test]
    fn pieces_of_one_source_are_matched_in_order_and_counted_once() {
        check("a=1 a=2", "a=1 a=2 a=3", "same 2, second a");
    }
}
