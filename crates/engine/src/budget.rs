//! What fits into the window, and what is left out.
//!
//! The only place where a piece is dropped. History and enrichment each have a share of the window; the
//! window as a whole comes last. The lowest rank goes first, then the worst score, then the oldest.
//!
//! Invariants: a turn's message and reply are dropped together, results with their turn at the latest;
//! what is required is never dropped; every dropped piece has its reason.

use crate::error::{Error, Result};
use crate::layout::MESSAGE_FRAME_TOKENS;
use crate::limits::Limits;
use crate::piece::{HistoryPart, Piece, Place, Rank, Source};
use crate::receipt::{BudgetReport, DropReason, Parameters};
use crate::session::head::SessionHead;

/// What there is to spend.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Budget {
    /// The window less the reply, in our tokens.
    pub total_tokens: u32,
    /// History's share.
    pub history_tokens: u32,
    /// Enrichment's share.
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
    /// the reply. `factor` is the model's count relative to ours.
    pub fn of(
        head: &SessionHead,
        limits: &Limits,
        wanted: Option<u32>,
        parameters: Parameters,
        factor: f32,
    ) -> Self {
        let persona = head.persona.as_ref();
        // A persona that wants more history than the window holds says that its model has a larger one.
        let persona_window = persona
            .map_or(0, |persona| persona.history_tokens_max.saturating_add(WINDOW_OVERHEAD_TOKENS));
        let window = limits.context_tokens.max(persona_window);
        let window = head.settings.context_tokens.unwrap_or(window);
        let total = wanted.unwrap_or_else(|| window.saturating_sub(parameters.reply_tokens_max));
        let history = persona.map_or(limits.history_tokens, |persona| persona.history_tokens_max);
        Self {
            total_tokens: scaled(total, factor),
            history_tokens: scaled(history, factor),
            enrichment_tokens: scaled(limits.enrichment_tokens, factor),
            warning_share: limits.warning_share,
            factor,
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

/// The pieces in the order of sending, each with its fate.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// All pieces that were considered.
    pub pieces: Vec<(Piece, Option<DropReason>)>,
    /// What was spent.
    pub report: BudgetReport,
}

impl Fitted {
    /// The pieces that are sent.
    pub fn sent(&self) -> impl Iterator<Item = &Piece> {
        self.pieces.iter().filter(|(_, fate)| fate.is_none()).map(|(piece, _)| piece)
    }

    /// How many pieces of history were dropped.
    pub fn history_dropped(&self) -> usize {
        self.pieces.iter().filter(|(p, fate)| p.place == Place::History && fate.is_some()).count()
    }
}

/// Keeps what fits `budget`. Pieces of one place keep the order in which they are given.
pub fn fit(mut pieces: Vec<Piece>, budget: Budget) -> Result<Fitted> {
    pieces.sort_by_key(|piece| piece.place);
    let mut fitting = Fitting { fates: vec![None; pieces.len()], pieces };
    let considered = fitting.total(|_| true);
    fitting.shrink(|p| p.place == Place::History, budget.history_tokens, DropReason::OverHistory);
    fitting.shrink(Piece::is_enrichment, budget.enrichment_tokens, DropReason::OverEnrichment);
    fitting.shrink(|_| true, budget.total_tokens, DropReason::OverWindow);
    let used = fitting.total(|_| true);
    if used > budget.total_tokens {
        return Err(Error::OverBudget { needed: used, budget: budget.total_tokens });
    }
    #[expect(clippy::cast_precision_loss, reason = "a share needs no more than 24 bits")]
    let share = used as f32 / budget.total_tokens.max(1) as f32;
    let report = BudgetReport {
        limit_tokens: budget.total_tokens,
        considered_tokens: considered,
        used_tokens: used,
        share,
        warning: share > budget.warning_share,
        factor: budget.factor,
    };
    Ok(Fitted { pieces: fitting.pieces.into_iter().zip(fitting.fates).collect(), report })
}

struct Fitting {
    pieces: Vec<Piece>,
    fates: Vec<Option<DropReason>>,
}

/// Tokens of a piece with its frame.
fn cost(piece: &Piece) -> u32 {
    let framed = matches!(piece.place, Place::History | Place::Message);
    piece.tokens + if framed { MESSAGE_FRAME_TOKENS } else { 0 }
}

impl Fitting {
    fn total(&self, counted: impl Fn(&Piece) -> bool) -> u32 {
        let kept = self.pieces.iter().zip(&self.fates).filter(|(p, f)| f.is_none() && counted(p));
        kept.map(|(piece, _)| cost(piece)).fold(0, u32::saturating_add)
    }

    /// Drops the least wanted of the `counted` pieces until they take at most `limit`.
    fn shrink(&mut self, counted: impl Fn(&Piece) -> bool, limit: u32, reason: DropReason) {
        let mut total = self.total(&counted);
        if total <= limit {
            return;
        }
        let mut order: Vec<usize> = (0..self.pieces.len())
            .filter(|&i| self.fates[i].is_none() && counted(&self.pieces[i]))
            .filter(|&i| self.pieces[i].rank != Rank::Required)
            .collect();
        order
            .sort_by(|&a, &b| wanted(&self.pieces[a], a).total_cmp_to(&wanted(&self.pieces[b], b)));
        for index in order {
            if total <= limit {
                return;
            }
            if self.fates[index].is_none() {
                self.drop_with_its_turn(index, reason);
                total = self.total(&counted);
            }
        }
    }

    /// Results may go alone; a message or a reply takes the whole turn with it.
    fn drop_with_its_turn(&mut self, index: usize, reason: DropReason) {
        self.fates[index] = Some(reason);
        let alone =
            matches!(self.pieces[index].source, Source::History { part: HistoryPart::Results, .. });
        let (false, Some(turn)) = (alone, self.pieces[index].history_turn()) else { return };
        for other in 0..self.pieces.len() {
            if self.fates[other].is_none() && self.pieces[other].history_turn() == Some(turn) {
                self.fates[other] = Some(DropReason::WithItsTurn);
            }
        }
    }
}

/// The order of giving up: rank, score, age.
struct Wanted(Rank, f32, usize);

fn wanted(piece: &Piece, position: usize) -> Wanted {
    Wanted(piece.rank, piece.score.unwrap_or(0.0), position)
}

impl Wanted {
    fn total_cmp_to(&self, other: &Self) -> std::cmp::Ordering {
        self.0
            .cmp(&other.0)
            .then_with(|| self.1.total_cmp(&other.1))
            .then_with(|| self.2.cmp(&other.2))
    }
}

#[cfg(test)]
#[path = "budget_tests.rs"]
mod tests;
