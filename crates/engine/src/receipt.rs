//! What a request was made of: every piece, where it came from, why, and what became of it.
//!
//! A receipt is committed with its turn. It holds no text: each piece names the hash of its content and
//! where that content is kept, so that [`crate::rebuild`] can make the request again to the byte.
//!
//! Invariant: `pieces` are in the order of sending, and every piece that was considered is in it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::hash::ContentHash;
use crate::item::ItemName;
use crate::mode::PromptMode;
use crate::piece::{IncludeMode, Position, Rank, Source};

/// The record of one assembled request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Receipt {
    /// When it was assembled.
    pub at: Timestamp,
    /// The layout that turns its pieces into a request.
    pub layout: u32,
    /// The prompt mode and why it was inferred.
    pub mode: PromptMode,
    pub mode_why: String,
    /// What there was to spend, and what was spent.
    pub budget: BudgetReport,
    /// Settings that were sent with the pieces.
    pub parameters: Parameters,
    /// Every piece, sent or dropped.
    pub pieces: Vec<ReceiptPiece>,
    /// The turn whose request this one begins with; absent where it starts a prefix of its own. What it
    /// begins with is not among the stored pieces: [`crate::rebuild`] puts it in front.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub continues: Option<u64>,
    /// The first turn that is shown word for word.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub window_from: u64,
    /// Tokens of the turns that are shown word for word.
    #[serde(default)]
    pub history_tokens: u32,
    /// Tokens at the start of the request that are the same as in the request before.
    #[serde(default)]
    pub stable_prefix_tokens: u32,
    /// Why the request does not begin with the one before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broken_by: Option<String>,
    /// What sending the whole conversation would have cost.
    #[serde(default)]
    pub replay: ReplayCost,
    /// Items that the reply referred to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub used: Vec<ItemName>,
    /// What [`Receipt::summary`] says, kept where not all pieces are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Whether no model was asked: the pieces are what one would be sent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_model: bool,
    /// Hash of the request's bytes.
    pub request_hash: ContentHash,
    /// Hash of the bytes that were sent, where a client's own request was handed on with what is here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handed_on_hash: Option<ContentHash>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The share of the price that a token costs which a provider has cached.
pub const CACHED_SHARE: f64 = 0.1;

/// What sending the whole conversation costs, instead of what was chosen of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ReplayCost {
    /// Tokens of everything said so far and of the message.
    pub tokens: u64,
    /// Of those, the ones that were in the request before.
    pub stable_tokens: u64,
}

impl ReplayCost {
    /// Tokens, where a cached one costs a tenth.
    pub fn effective_tokens(self) -> f64 {
        effective(self.tokens, self.stable_tokens)
    }
}

/// Tokens, where a cached one costs a tenth.
#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
pub fn effective(tokens: u64, stable_tokens: u64) -> f64 {
    let stable = stable_tokens.min(tokens);
    (tokens - stable) as f64 + CACHED_SHARE * stable as f64
}

/// Settings that go with a request.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Parameters {
    /// The longest reply.
    pub reply_tokens_max: u32,
    /// 0.0–1.0.
    pub temperature: f32,
}

/// What there was to spend, and what was spent.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct BudgetReport {
    /// Tokens of the model's window, less the reply.
    pub limit_tokens: u32,
    /// Tokens of all pieces that were considered.
    pub considered_tokens: u32,
    /// Tokens sent.
    pub used_tokens: u32,
    /// `used_tokens` of `limit_tokens`.
    pub share: f32,
    /// Whether the share is over the warning threshold.
    pub warning: bool,
    /// The model's own count relative to ours, as far as learnt.
    pub factor: f32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReceiptPiece {
    /// Where it came from.
    pub source: Source,
    /// Why it was considered.
    pub why: String,
    /// Where it stands.
    pub place: Position,
    /// How willingly it was given up.
    pub rank: Rank,
    /// Its match with the message, 0–1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f32>,
    pub tokens: u32,
    pub hash: ContentHash,
    /// The turn whose record keeps the text; absent where the turn that it quotes has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_in: Option<u64>,
    /// The turn with which it came into the request; absent where that is this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<u64>,
    /// Why it was not sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropped: Option<DropReason>,
    /// Whether the reply referred to it; only items are looked at. Stored in [`Receipt::used`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub used: bool,
}

impl ReceiptPiece {
    /// Whether it is part of the request.
    pub fn sent(&self) -> bool {
        self.dropped.is_none()
    }
}

/// Why a piece was not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DropReason {
    /// The window was full and others ranked higher.
    OverWindow,
    /// The history's share was full.
    OverHistory,
    /// The enrichment's share was full.
    OverEnrichment,
    /// The rest of its turn was dropped.
    WithItsTurn,
    /// Below the score that is kept, or not among the best.
    NotRelevant,
    /// It is in the request already.
    AlreadyPresent,
    /// It is older than the window, and condensed in the summary.
    Condensed,
    /// The item no longer exists.
    Missing,
    /// The tool's definition changed and is not approved.
    NotApproved,
}

impl DropReason {
    /// Its name, as in a stored receipt.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OverWindow => "over_window",
            Self::OverHistory => "over_history",
            Self::OverEnrichment => "over_enrichment",
            Self::WithItsTurn => "with_its_turn",
            Self::NotRelevant => "not_relevant",
            Self::AlreadyPresent => "already_present",
            Self::Condensed => "condensed",
            Self::Missing => "missing",
            Self::NotApproved => "not_approved",
        }
    }

    /// Whether something was left out that would have been sent, had there been room.
    pub fn is_loss(self) -> bool {
        !matches!(self, Self::NotRelevant | Self::AlreadyPresent)
    }
}

/// Rules, references and tools that were sent, counted by how they came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ModeCounts {
    /// In every session.
    pub always: usize,
    /// Added by hand.
    pub manual: usize,
    /// Chosen for this request.
    pub agent: usize,
}

impl ModeCounts {
    fn add(&mut self, mode: IncludeMode) {
        match mode {
            IncludeMode::Always => self.always += 1,
            IncludeMode::Manual => self.manual += 1,
            IncludeMode::Agent => self.agent += 1,
        }
    }
}

impl Receipt {
    /// Pieces and tokens that a client's own request was given.
    pub fn added(&self) -> (usize, u32) {
        // A client that sends the conversation itself is not given it.
        let resends = self.window_from == u64::MAX;
        let is_added = |piece: &&ReceiptPiece| match piece.source {
            Source::Message | Source::ClientRequest { .. } => false,
            Source::History { .. } => piece.sent() && !resends,
            _ => piece.sent(),
        };
        let added = self.pieces.iter().filter(is_added);
        added.fold((0, 0), |(pieces, tokens), piece| (pieces + 1, tokens + piece.tokens))
    }

    /// Pieces that there was no room for, their tokens, and the first reason.
    pub fn left_out(&self) -> Option<(usize, u32, DropReason)> {
        let lost = |piece: &ReceiptPiece| {
            piece.dropped.filter(|reason| reason.is_loss() && *reason != DropReason::Condensed)
        };
        let mut left_out: Option<(usize, u32, DropReason)> = None;
        for (piece, reason) in self.pieces.iter().filter_map(|p| lost(p).map(|reason| (p, reason)))
        {
            let (pieces, tokens, first) = left_out.unwrap_or((0, 0, reason));
            left_out = Some((pieces + 1, tokens + piece.tokens, first));
        }
        left_out
    }

    /// Tokens of this request, where a cached one costs a tenth.
    pub fn effective_tokens(&self) -> f64 {
        effective(self.budget.used_tokens.into(), self.stable_prefix_tokens.into())
    }

    /// The receipt as it is stored: what the request before has is not kept again.
    pub fn stored(mut self) -> Self {
        if self.continues.is_some() {
            self.summary = Some(self.summary());
            self.pieces.retain(|piece| piece.since.is_none() || !piece.sent());
        }
        self
    }

    /// Counts of the rules, references and tools that were sent.
    pub fn item_counts(&self) -> [ModeCounts; 3] {
        let mut counts = [ModeCounts::default(); 3];
        for piece in self.pieces.iter().filter(|piece| piece.sent()) {
            match &piece.source {
                Source::Rule { mode, .. } => counts[0].add(*mode),
                Source::Reference { mode, .. } => counts[1].add(*mode),
                Source::Tool { mode, .. } => counts[2].add(*mode),
                _ => {}
            }
        }
        counts
    }
}
