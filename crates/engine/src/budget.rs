//! What there is to spend, and which of the pieces beside a message are worth it.
//!
//! Room is given by usefulness for the message: the highest rank first, then the best score. A piece that does
//! not fit is left out and the next is tried, so nothing is left out while there is room for it.
//!
//! Invariant: what is required is never left out; every piece that is has its reason.

use std::cmp::Reverse;
use std::sync::Arc;

use crate::layout::{DAY_TOKENS, MESSAGE_FRAME_TOKENS, RECALLED_FRAME_TOKENS};
use crate::limits::Limits;
use crate::piece::{Piece, Position, Rank, SentPiece};
use crate::receipt::{BudgetReport, DropReason, Parameters};
use crate::session::head::SessionHead;

/// What there is to spend.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Budget {
    /// The window less the reply, in our tokens.
    pub total_tokens: u32,
    /// History's share.
    pub history_tokens: u32,
    /// What is brought in beside one message at most.
    pub enrichment_tokens: u32,
    /// Share at which a warning is recorded.
    pub warning_share: f32,
    /// The model's count relative to ours.
    pub factor: f32,
}

/// What a window holds beside the history: instructions, the message, the reply.
const WINDOW_OVERHEAD_TOKENS: u32 = 1_000;

impl Budget {
    /// What a request of the session may spend: `wanted` where the caller says, else the model's window less
    /// the reply. `model_window` is the model's own, where it is known; `factor` its count relative to ours.
    pub fn of(
        head: &SessionHead,
        limits: &Limits,
        wanted: Option<u32>,
        parameters: Parameters,
        (model_window, factor): (Option<u32>, f32),
    ) -> Self {
        let persona = head.persona.as_ref();
        // A persona that wants more history than the window holds says that its model has a larger one.
        let persona_window = persona
            .map_or(0, |persona| persona.history_tokens_max.saturating_add(WINDOW_OVERHEAD_TOKENS));
        let window = model_window.unwrap_or(limits.context_tokens).max(persona_window);
        let window = head.settings.context_tokens.unwrap_or(window);
        let total = wanted.unwrap_or_else(|| window.saturating_sub(parameters.reply_tokens_max));
        let history = persona.map_or(u32::MAX, |persona| persona.history_tokens_max);
        Self {
            total_tokens: scaled(total, factor),
            history_tokens: scaled(history, factor),
            enrichment_tokens: scaled(limits.enrichment_tokens, factor),
            warning_share: limits.warning_share,
            factor,
        }
    }

    /// A share of the whole, in tokens.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a share of a small positive number"
    )]
    pub fn share(self, share: f32) -> u32 {
        (self.total_tokens as f32 * share) as u32
    }

    /// What was spent of it.
    pub fn report(self, used: u32, considered: u32) -> BudgetReport {
        #[expect(clippy::cast_precision_loss, reason = "a share needs no more than 24 bits")]
        let share = used as f32 / self.total_tokens.max(1) as f32;
        BudgetReport {
            limit_tokens: self.total_tokens,
            considered_tokens: considered,
            used_tokens: used,
            share,
            warning: share > self.warning_share,
            factor: self.factor,
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a budget is a small positive number"
)]
fn scaled(tokens: u32, factor: f32) -> u32 {
    (tokens as f32 / factor.max(0.25)) as u32
}

/// Pieces in the order of sending, each with its fate.
#[derive(Debug, Clone)]
pub struct Fitted {
    /// All pieces that were considered.
    pub pieces: Vec<(Arc<SentPiece>, Option<DropReason>)>,
    /// What was spent.
    pub report: BudgetReport,
}

/// Tokens of a piece with its frame.
pub fn cost(piece: &Piece) -> u32 {
    let framed = matches!(piece.place, Position::History | Position::Message);
    piece.tokens + if framed { MESSAGE_FRAME_TOKENS } else { 1 }
}

/// Tokens of pieces that must be sent.
pub fn required<'a>(pieces: impl Iterator<Item = &'a Piece>) -> u32 {
    pieces.filter(|piece| piece.rank == Rank::Required).map(cost).sum()
}

/// Which of `pieces` fit into `room`, in the order in which they are given: highest rank first, then best
/// score, then as given; recalled pieces take `recall_room` at most, and all that is not required
/// `enrichment_room`.
pub fn choose(
    pieces: &[Piece],
    room: u32,
    (recall_room, enrichment_room): (u32, u32),
) -> Vec<Option<DropReason>> {
    let mut order: Vec<usize> = (0..pieces.len()).collect();
    order.sort_by(|&left, &right| {
        let score = |at: usize| pieces[at].score.unwrap_or(0.0);
        Reverse(pieces[left].rank)
            .cmp(&Reverse(pieces[right].rank))
            .then_with(|| score(right).total_cmp(&score(left)))
    });
    let mut fates = vec![Some(DropReason::OverWindow); pieces.len()];
    let mut left = room;
    let mut recall = Recall { left: recall_room, days: Vec::new() };
    let mut enrichment = enrichment_room;
    for at in order {
        let piece = &pieces[at];
        let needed = recall.cost(piece);
        let is_required = matches!(piece.rank, Rank::Required | Rank::SessionItem);
        fates[at] = if needed > left {
            Some(DropReason::OverWindow)
        } else if is_required {
            None
        } else if needed > enrichment || (piece.is_recalled() && needed > recall.left) {
            Some(DropReason::OverEnrichment)
        } else {
            enrichment -= needed;
            None
        };
        if fates[at].is_none() {
            left -= needed;
            recall.take(piece, needed);
        }
    }
    fates
}

/// What recalled pieces cost together: one frame, and a line for each day among them.
struct Recall {
    left: u32,
    days: Vec<Option<jiff::civil::Date>>,
}

impl Recall {
    fn cost(&self, piece: &Piece) -> u32 {
        if !piece.is_recalled() {
            return cost(piece);
        }
        let frame = if self.days.is_empty() { RECALLED_FRAME_TOKENS } else { 0 };
        let day = if self.days.contains(&piece.day()) { 0 } else { DAY_TOKENS };
        cost(piece) + frame + day
    }

    fn take(&mut self, piece: &Piece, cost: u32) {
        if piece.is_recalled() {
            self.left = self.left.saturating_sub(cost);
            if !self.days.contains(&piece.day()) {
                self.days.push(piece.day());
            }
        }
    }
}

#[cfg(test)]
#[path = "budget_tests.rs"]
mod tests;
