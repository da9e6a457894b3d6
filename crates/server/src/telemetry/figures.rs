//! Statistics of the last turns: tokens by part, use of the window, warnings.
//!
//! Every turn is recorded once; the data is bounded and contains no text.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::Serialize;
use throughline_engine::piece::{SentPiece, Source};
use throughline_engine::receipt::Receipt;
use throughline_engine::session::record::{ReplyForm, TurnRecord};
use utoipa::ToSchema;

use super::metrics;

/// Maximum number of turns to remember.
const TURNS_MAX: usize = 100;

/// Statistics of the last turns.
#[derive(Debug, Default)]
pub struct Figures(Mutex<VecDeque<Figure>>);

#[derive(Debug, Clone, Copy)]
struct Figure {
    share: f32,
    tokens: u32,
    stable: u32,
    warning: bool,
}

/// Use of the context window over the last turns.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ContextStatistics {
    /// Number of turns counted, at most 100.
    pub turns: usize,
    /// Share of the token budget that the last turn used, 0–1.
    pub last_share: f32,
    /// Mean share, 0–1.
    pub mean_share: f32,
    /// Largest share, 0–1.
    pub largest_share: f32,
    /// Tokens of the last request.
    pub last_tokens: u32,
    /// Share of sent tokens in the stable prefix, which a provider's cache can serve, 0–1.
    pub stable_prefix_share: f32,
    /// Turns above the warning threshold.
    pub warnings: usize,
}

impl Figures {
    /// Records a committed turn.
    pub fn note(&self, record: &TurnRecord, sent: &[Arc<SentPiece>]) {
        let took = record.took_ms.map(Duration::from_millis);
        metrics::turn(record.kind.as_str(), record.status.as_str(), took);
        if let (Some(usage), ReplyForm::Model { model }) = (&record.usage, &record.form) {
            metrics::usage(model, "input", usage.input_tokens);
            metrics::usage(model, "output", usage.output_tokens);
            metrics::usage(model, "cache_read", usage.cache_read_tokens);
        }
        if let Some(receipt) = &record.receipt {
            self.note_receipt(receipt, sent);
        }
    }

    fn note_receipt(&self, receipt: &Receipt, sent: &[Arc<SentPiece>]) {
        let pieces = sent.iter().map(|sent| (&sent.piece.source, sent.piece.tokens));
        for (part, tokens) in tokens_by_part(pieces) {
            metrics::tokens(part, tokens);
        }
        let replay = receipt.replay.effective_tokens();
        metrics::cost(receipt.stable_prefix_tokens, receipt.effective_tokens(), replay);
        let budget = &receipt.budget;
        metrics::share(budget.share, budget.warning);
        let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        turns.push_back(Figure {
            share: budget.share,
            tokens: budget.used_tokens,
            stable: receipt.stable_prefix_tokens,
            warning: budget.warning,
        });
        while turns.len() > TURNS_MAX {
            turns.pop_front();
        }
    }

    /// Statistics of the last turns.
    #[expect(clippy::cast_precision_loss, reason = "shares for people")]
    pub fn statistics(&self) -> ContextStatistics {
        let turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = turns.len().max(1) as f32;
        let tokens: u64 = turns.iter().map(|f| u64::from(f.tokens)).sum();
        let stable: u64 = turns.iter().map(|f| u64::from(f.stable)).sum();
        ContextStatistics {
            turns: turns.len(),
            last_share: turns.back().map_or(0.0, |f| f.share),
            // The sum of an empty iterator would be minus zero.
            mean_share: turns.iter().fold(0.0, |sum, f| sum + f.share) / count,
            largest_share: turns.iter().map(|f| f.share).fold(0.0, f32::max),
            last_tokens: turns.back().map_or(0, |f| f.tokens),
            stable_prefix_share: if tokens == 0 { 0.0 } else { stable as f32 / tokens as f32 },
            warnings: turns.iter().filter(|f| f.warning).count(),
        }
    }
}

/// Tokens sent, by part of the request.
pub fn tokens_by_part<'a>(
    sent: impl Iterator<Item = (&'a Source, u32)>,
) -> BTreeMap<&'static str, u64> {
    let mut parts = BTreeMap::new();
    for (source, tokens) in sent {
        *parts.entry(part_of(source)).or_default() += u64::from(tokens);
    }
    parts
}

fn part_of(source: &Source) -> &'static str {
    match source {
        Source::Instructions { .. } => "instructions",
        Source::Persona { .. } | Source::Calm => "persona",
        Source::Rule { .. } => "rules",
        Source::Reference { .. } => "references",
        Source::Tool { .. } | Source::ToolNames { .. } => "tools",
        Source::Summary { .. } => "summary",
        Source::Topic | Source::Entity { .. } => "entities",
        Source::Recalled { .. }
        | Source::Elsewhere { .. }
        | Source::Fact { .. }
        | Source::EarlierResult { .. } => "recalled",
        Source::History { .. } | Source::Day { .. } => "history",
        Source::Given { .. } | Source::Preferences => "given",
        Source::ClientRequest { .. } => "client",
        Source::Message => "message",
    }
}
