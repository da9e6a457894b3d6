//! Makes the receipt of an assembled request.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::error::Result;
use crate::hash::ContentHash;
use crate::layout;
use crate::model::ModelRequest;
use crate::piece::{HistoryPart, Piece, SentPiece, Source};
use crate::receipt::{BudgetReport, DropReason, Receipt, ReceiptPiece, ReplayCost};

use super::prefix::NEW;
use super::window::Window;
use super::{Material, hash_of};

pub(super) struct Report<'a> {
    pub pieces: Vec<(Arc<SentPiece>, Option<DropReason>)>,
    pub left_out: Vec<(Piece, DropReason)>,
    pub window: &'a Window,
    pub spent: Spent,
}

/// The cost of a request, and what it shares with the one before.
pub(super) struct Spent {
    budget: BudgetReport,
    history_tokens: u32,
    stable_tokens: u32,
    replay: ReplayCost,
}

impl Spent {
    /// The cost of sending `sent`.
    pub(super) fn of(
        material: &Material<'_>,
        window: &Window,
        sent: &[Arc<SentPiece>],
        budget: BudgetReport,
    ) -> Self {
        let before = material.prefix.as_ref();
        let before = before.map_or(&[][..], |prefix| &prefix.pieces[..prefix.sent]);
        let same = before.iter().zip(sent).take_while(|(before, now)| {
            before.piece.hash == now.piece.hash && before.piece.place_alike(&now.piece)
        });
        let same = same.map(|(_, now)| now).filter(|now| window.counts(now));
        let stable_tokens = same.map(|now| crate::budget::cost(&now.piece)).sum();
        let history = sent.iter().filter(|sent| sent.piece.history_turn().is_some());
        let history_tokens = history.map(|sent| crate::budget::cost(&sent.piece)).sum();
        Self { budget, history_tokens, stable_tokens, replay: replay(material) }
    }
}

/// The cost of sending the whole session.
fn replay(material: &Material<'_>) -> ReplayCost {
    let said = material.head.usage.said_tokens;
    let message = sum_of(&material.input.message);
    let last_reply = material.recent.last().map_or(0, |turn| u64::from(turn.tokens.reply));
    ReplayCost { tokens: said + message, stable_tokens: said.saturating_sub(last_reply) }
}

fn sum_of(message: &str) -> u64 {
    crate::tokens::count(message).into()
}

impl Report<'_> {
    /// The receipt, and the texts that no record stores yet.
    pub(super) fn receipt(
        self,
        material: &Material<'_>,
        request: &ModelRequest,
    ) -> Result<(Receipt, BTreeMap<ContentHash, String>)> {
        let mut contents = BTreeMap::new();
        let mut pieces = Vec::with_capacity(self.pieces.len() + self.left_out.len());
        for (sent, fate) in &self.pieces {
            let mut kept_in = sent.kept_in;
            if fate.is_none() && kept_in.is_none() && must_be_kept(&sent.piece.source) {
                kept_in = material.head.contents.get(&sent.piece.hash).copied();
                if kept_in.is_none() {
                    contents.insert(sent.piece.hash, sent.piece.text.to_string());
                }
            }
            let since = (sent.since != NEW).then_some(sent.since);
            pieces.push(receipt_piece(&sent.piece, kept_in, since, *fate));
        }
        let left_out = self.left_out.into_iter();
        pieces.extend(
            left_out.map(|(piece, reason)| receipt_piece(&piece, None, None, Some(reason))),
        );
        let receipt = Receipt {
            at: material.now,
            layout: layout::CURRENT,
            mode: material.mode.0,
            mode_why: material.mode.1.clone(),
            budget: self.spent.budget,
            asked_tokens: material.input.budget_tokens,
            parameters: material.parameters,
            pieces,
            continues: self.window.continues,
            window_from: self.window.from,
            history_tokens: self.spent.history_tokens,
            stable_prefix_tokens: self.spent.stable_tokens,
            broken_by: self.window.broken_by.clone(),
            replay: self.spent.replay,
            used: Vec::new(),
            summary: None,
            no_model: material.no_model,
            request_hash: hash_of(request)?,
            handed_on_hash: None,
        };
        Ok((receipt, contents))
    }
}

/// Whether a piece's text is stored nowhere but in a record's contents.
pub(crate) fn must_be_kept(source: &Source) -> bool {
    !matches!(
        source,
        Source::History { .. }
            | Source::Recalled { .. }
            | Source::Elsewhere { .. }
            | Source::Fact { .. }
            | Source::EarlierResult { .. }
            | Source::Day { .. }
            | Source::ClientRequest { .. }
            | Source::Message
    )
}

/// A piece as listed in a receipt.
fn receipt_piece(
    piece: &Piece,
    kept_in: Option<u64>,
    since: Option<u64>,
    dropped: Option<DropReason>,
) -> ReceiptPiece {
    ReceiptPiece {
        source: piece.source.clone(),
        why: piece.why.clone(),
        place: piece.place,
        rank: piece.rank,
        score: piece.score,
        tokens: piece.tokens,
        hash: piece.hash,
        kept_in,
        since,
        dropped,
        used: false,
        erased: false,
    }
}

impl Piece {
    /// Whether both have the same position in a request; a message is part of the history later.
    fn place_alike(&self, other: &Self) -> bool {
        let part = |piece: &Self| match piece.source {
            Source::Message => Some(HistoryPart::Message),
            Source::History { part, .. } => Some(part),
            _ => None,
        };
        self.place == other.place || (part(self).is_some() && part(self) == part(other))
    }
}
