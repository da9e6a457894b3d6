//! What a request was made of: every piece, where it came from, why, and what became of it.
//!
//! A receipt is committed with its turn. It holds no text: each piece names the hash of its content and
//! where that content is kept, so that [`crate::rebuild`] can make the request again to the byte.
//!
//! Invariant: `pieces` are in the order of sending, and every piece that was considered is in it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::hash::ContentHash;
use crate::mode::PromptMode;
use crate::piece::{IncludeMode, Place, Rank, Source};

/// The record of one assembled request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Receipt {
    /// When it was assembled.
    pub at: Timestamp,
    /// The layout that turns its pieces into a request.
    pub layout: u32,
    /// The prompt mode and why it was inferred.
    pub mode: PromptMode,
    /// Why that mode.
    pub mode_why: String,
    /// What there was to spend, and what was spent.
    pub budget: BudgetReport,
    /// Settings that were sent with the pieces.
    pub parameters: Parameters,
    /// Every piece, sent or dropped.
    pub pieces: Vec<ReceiptPiece>,
    /// Tokens at the start of the request that are the same as in the turn before.
    #[serde(default)]
    pub stable_prefix_tokens: u32,
    /// Hash of the request's bytes.
    pub request_hash: ContentHash,
    /// Hash of the bytes that were sent, where a client's own request was handed on with what is here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handed_on_hash: Option<ContentHash>,
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

/// One piece of a receipt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReceiptPiece {
    /// Where it came from.
    pub source: Source,
    /// Why it was considered.
    pub why: String,
    /// Where it stands.
    pub place: Place,
    /// How willingly it was given up.
    pub rank: Rank,
    /// Its match with the message, 0–1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f32>,
    /// Its tokens.
    pub tokens: u32,
    /// Its hash.
    pub hash: ContentHash,
    /// The turn whose record keeps the text; absent where the turn that it quotes has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_in: Option<u64>,
    /// Why it was not sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropped: Option<DropReason>,
    /// Whether the reply referred to it; only items are looked at.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub used: bool,
}

impl ReceiptPiece {
    /// Whether it reached the model.
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
    /// The item no longer exists.
    Missing,
    /// The tool's definition changed and is not approved.
    NotApproved,
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

    fn words(self, one: &str, many: &str) -> Option<String> {
        let parts: Vec<(usize, &str)> =
            [(self.agent, "agent"), (self.always, "always"), (self.manual, "manual")]
                .into_iter()
                .filter(|(count, _)| *count > 0)
                .collect();
        let total: usize = parts.iter().map(|(count, _)| count).sum();
        let noun = if total == 1 { one } else { many };
        match parts.as_slice() {
            [] => None,
            [(1, mode)] => Some(format!("1 {noun} ({mode})")),
            [(_, mode)] => Some(format!("{total} {noun} (all {mode})")),
            several => {
                let inner: Vec<String> =
                    several.iter().map(|(count, mode)| format!("{count} {mode}")).collect();
                Some(format!("{total} {noun} ({})", inner.join(", ")))
            }
        }
    }
}

impl Receipt {
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

    /// One line: "5 rules (3 agent, 2 always), 2 references (1 agent, 1 manual), 3 tools (all manual)".
    pub fn summary(&self) -> String {
        let [rules, references, tools] = self.item_counts();
        let mut parts: Vec<String> = [
            rules.words("rule", "rules"),
            references.words("reference", "references"),
            tools.words("tool", "tools"),
        ]
        .into_iter()
        .flatten()
        .collect();
        let sent = |wanted: fn(&Source) -> bool| {
            self.pieces.iter().filter(|p| p.sent() && wanted(&p.source)).count()
        };
        let history = sent(|s| matches!(s, Source::History { .. }));
        let entities = sent(|s| matches!(s, Source::Entity { .. }));
        let recalled =
            sent(|s| matches!(s, Source::Recalled { .. } | Source::EarlierResult { .. }));
        let dropped = self
            .pieces
            .iter()
            .filter(|p| p.dropped.is_some_and(|reason| reason != DropReason::NotRelevant))
            .count();
        for (count, one, many) in [
            (history, "history piece", "history pieces"),
            (entities, "entity", "entities"),
            (recalled, "recalled", "recalled"),
            (dropped, "dropped", "dropped"),
        ] {
            if count > 0 {
                parts.push(format!("{count} {}", if count == 1 { one } else { many }));
            }
        }
        parts.push(format!("{} tokens", self.budget.used_tokens));
        parts.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_read_as_people_say_them() {
        let words = |agent, always, manual| {
            ModeCounts { always, manual, agent }.words("rule", "rules").unwrap_or_default()
        };
        assert_eq!(words(3, 2, 0), "5 rules (3 agent, 2 always)");
        assert_eq!(words(0, 0, 3), "3 rules (all manual)");
        assert_eq!(words(0, 1, 0), "1 rule (always)");
        assert_eq!(words(0, 0, 0), "");
    }
}
