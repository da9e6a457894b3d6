//! Receipts: every piece considered for a request, its origin, the reason, and whether it was sent.
//!
//! A receipt is committed with its turn. It contains no text: each piece names the hash of its content and where
//! that is stored, so that [`crate::rebuild`] can reproduce the request byte for byte.
//!
//! Invariant: `pieces` are in sending order and include every piece considered; stored receipts omit those
//! inherited from the request before ([`Receipt::stored`]).

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::hash::ContentHash;
use crate::item::ItemName;
use crate::mode::PromptMode;
use crate::piece::{HistoryPart, IncludeMode, Position, Rank, Source};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Receipt {
    pub at: Timestamp,
    /// The layout used for the request.
    pub layout: u32,
    pub mode: PromptMode,
    pub mode_why: String,
    pub budget: BudgetReport,
    /// The budget that the caller asked for, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_tokens: Option<u32>,
    pub parameters: Parameters,
    pub pieces: Vec<ReceiptPiece>,
    /// The turn whose request this one starts with, if any. The inherited pieces are not stored here;
    /// [`crate::rebuild`] adds them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub continues: Option<u64>,
    /// The first turn shown verbatim.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub window_from: u64,
    /// Tokens of the turns shown verbatim.
    #[serde(default)]
    pub history_tokens: u32,
    /// Tokens at the start of the request that equal the request before.
    #[serde(default)]
    pub stable_prefix_tokens: u32,
    /// Why the request does not start with the one before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broken_by: Option<String>,
    /// What sending the whole session would have cost.
    #[serde(default)]
    pub replay: ReplayCost,
    /// Items that the reply referred to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub used: Vec<ItemName>,
    /// The result of [`Receipt::summary`], stored if not all pieces are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Whether no model was called; the pieces are what it would have been sent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_model: bool,
    /// Hash of the request's bytes.
    pub request_hash: ContentHash,
    /// Hash of the bytes sent, if a client's own request was forwarded with additions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handed_on_hash: Option<ContentHash>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Price of a cached token relative to an uncached one.
pub const CACHED_SHARE: f64 = 0.1;

/// The cost of sending the whole session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ReplayCost {
    /// Tokens of all turns so far and of the message.
    pub tokens: u64,
    /// Those that were in the request before.
    pub stable_tokens: u64,
}

impl ReplayCost {
    /// Tokens, with cached ones counted as a tenth.
    pub fn effective_tokens(self) -> f64 {
        effective(self.tokens, self.stable_tokens)
    }
}

/// Tokens, with cached ones counted as a tenth.
#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
pub fn effective(tokens: u64, stable_tokens: u64) -> f64 {
    let stable = stable_tokens.min(tokens);
    (tokens - stable) as f64 + CACHED_SHARE * stable as f64
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Parameters {
    /// Maximum reply.
    pub reply_tokens_max: u32,
    /// 0.0–1.0.
    pub temperature: f32,
}

#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct BudgetReport {
    /// The model's window minus the reply.
    pub limit_tokens: u32,
    /// Tokens of all pieces considered.
    pub considered_tokens: u32,
    /// Tokens sent.
    pub used_tokens: u32,
    /// `used_tokens` / `limit_tokens`.
    pub share: f32,
    /// Whether the share exceeds the warning threshold.
    pub warning: bool,
    /// The model's token count relative to ours, as learnt so far.
    pub factor: f32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReceiptPiece {
    pub source: Source,
    /// The reason it was considered.
    pub why: String,
    pub place: Position,
    pub rank: Rank,
    /// How well it matched the message, 0–1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f32>,
    pub tokens: u32,
    pub hash: ContentHash,
    /// The turn whose record stores the text; `None` if the quoted turn has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_in: Option<u64>,
    /// The turn that added it to the request; `None` if it is this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropped: Option<DropReason>,
    /// Whether the reply referred to it; items only. Stored in [`Receipt::used`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub used: bool,
    /// Whether what it was made of was erased since: its text, its name and its hash are gone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub erased: bool,
}

impl ReceiptPiece {
    pub fn sent(&self) -> bool {
        self.dropped.is_none()
    }

    /// The piece of turn `own` as the receipt of a later request shows it.
    pub fn inherited(&self, own: u64) -> Self {
        let source = match &self.source {
            Source::Message => Source::History { turn: own, part: HistoryPart::Message },
            source => source.clone(),
        };
        Self { source, since: self.since.or(Some(own)), used: false, ..self.clone() }
    }
}

/// Why a piece was not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DropReason {
    /// The window was full.
    OverWindow,
    /// The history's share was full.
    OverHistory,
    /// The enrichment's share was full.
    OverEnrichment,
    /// The rest of its turn was dropped.
    WithItsTurn,
    /// Below the minimum score, or not among the best.
    NotRelevant,
    /// The request already contains it.
    AlreadyPresent,
    /// Older than the window, and covered by the summary.
    Condensed,
    /// The item no longer exists.
    Missing,
    /// The tool's definition changed and is not approved.
    NotApproved,
}

impl DropReason {
    /// The name in stored receipts.
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

    /// Whether the piece would have been sent if there had been room.
    pub fn is_loss(self) -> bool {
        !matches!(self, Self::NotRelevant | Self::AlreadyPresent)
    }
}

/// Rules, references and tools sent, by include mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ModeCounts {
    pub always: usize,
    pub manual: usize,
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
    /// Number of pieces and tokens added to a client's own request.
    pub fn added(&self) -> (usize, u32) {
        // The client sends the history itself.
        let resends = self.window_from == u64::MAX;
        let is_added = |piece: &&ReceiptPiece| match piece.source {
            Source::Message | Source::ClientRequest { .. } => false,
            Source::History { .. } => piece.sent() && !resends,
            _ => piece.sent(),
        };
        let added = self.pieces.iter().filter(is_added);
        added.fold((0, 0), |(pieces, tokens), piece| (pieces + 1, tokens + piece.tokens))
    }

    /// Number of pieces there was no room for, their tokens, and the first reason.
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

    /// Tokens of this request, with cached ones counted as a tenth.
    pub fn effective_tokens(&self) -> f64 {
        effective(self.budget.used_tokens.into(), self.stable_prefix_tokens.into())
    }

    /// The receipt as stored: without the pieces inherited from the request before.
    pub fn stored(mut self) -> Self {
        if self.continues.is_some() {
            self.summary = Some(self.summary());
            self.pieces.retain(|piece| piece.since.is_none() || !piece.sent());
        }
        self
    }

    /// Counts of rules, references and tools sent.
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
