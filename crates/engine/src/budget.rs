//! The token budget, and which pieces fit into it besides the message.
//!
//! Highest rank first, then best score. If a piece does not fit, the next one is tried, so nothing is dropped
//! while there is room for it.
//!
//! Invariant: a dropped piece has a reason. Required pieces come first; a request that has no room for its
//! message and for what every request begins with is an error.

use std::cmp::Reverse;
use std::sync::Arc;

use crate::layout::{DAY_TOKENS, MESSAGE_FRAME_TOKENS, RECALLED_FRAME_TOKENS};
use crate::limits::Limits;
use crate::piece::{Piece, Position, Rank, SentPiece};
use crate::receipt::{BudgetReport, DropReason, Parameters};
use crate::session::head::SessionHead;

/// Token limits of a request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Budget {
    /// The context window minus the reply, in our tokens.
    pub total_tokens: u32,
    /// The same in the model's tokens, as it was asked for.
    pub wanted_tokens: u32,
    pub history_tokens: u32,
    /// Maximum for pieces added to one message.
    pub enrichment_tokens: u32,
    /// Share at which a warning is recorded.
    pub warning_share: f32,
    /// The model's token count relative to ours.
    pub factor: f32,
}

/// Room for instructions, message and reply besides the history.
const WINDOW_OVERHEAD_TOKENS: u32 = 1_000;

/// A model that counts fewer tokens than this share of ours is not believed.
const FACTOR_MIN: f32 = 0.25;

impl Budget {
    /// The budget of a request: `wanted` if given, else the window minus the reply. `model_window` is the model's
    /// own, if known; `factor` is its token count relative to ours.
    pub fn of(
        head: &SessionHead,
        limits: &Limits,
        wanted: Option<u32>,
        parameters: Parameters,
        (model_window, factor): (Option<u32>, f32),
    ) -> Self {
        let persona = head.persona.as_ref();
        // A persona that asks for more history than the window holds implies a larger window.
        let persona_window = persona
            .map_or(0, |persona| persona.history_tokens_max.saturating_add(WINDOW_OVERHEAD_TOKENS));
        let window = model_window.unwrap_or(limits.context_tokens).max(persona_window);
        let window = head.settings.context_tokens.unwrap_or(window);
        let total = wanted.unwrap_or_else(|| window.saturating_sub(parameters.reply_tokens_max));
        let history = persona.map_or(u32::MAX, |persona| persona.history_tokens_max);
        Self {
            total_tokens: scaled(total, factor),
            wanted_tokens: total,
            history_tokens: scaled(history, factor),
            enrichment_tokens: scaled(limits.enrichment_tokens, factor),
            warning_share: limits.warning_share,
            factor,
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a share of a small positive number"
    )]
    pub fn share(self, share: f32) -> u32 {
        (self.total_tokens as f32 * share) as u32
    }

    /// Our tokens in the model's.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a count of tokens is a small positive number"
    )]
    pub fn in_model_tokens(self, tokens: u32) -> u32 {
        (tokens as f32 * self.factor.max(FACTOR_MIN)).ceil() as u32
    }

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
    (tokens as f32 / factor.max(FACTOR_MIN)) as u32
}

/// Pieces in the order they are sent, each with the reason if it was dropped.
#[derive(Debug, Clone)]
pub struct Fitted {
    /// All pieces that were considered.
    pub pieces: Vec<(Arc<SentPiece>, Option<DropReason>)>,
    pub report: BudgetReport,
}

/// Tokens of a piece including its frame.
pub fn cost(piece: &Piece) -> u32 {
    let framed = matches!(piece.place, Position::History | Position::Message);
    piece.tokens + if framed { MESSAGE_FRAME_TOKENS } else { 1 }
}

/// Decides which of `pieces` fit into `room`: highest rank first, then best score, then in the order given.
/// Recalled pieces take at most `recall_room`, and all pieces that are not required at most `enrichment_room`.
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

/// Tracks the cost of recalled pieces: one frame, and a line for each day.
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
