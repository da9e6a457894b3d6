//! Failures of what a turn calls: a model, a tool, an embedder.
//!
//! They describe the upstream. [`crate::turn`] decides what becomes of the turn.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The kind of an upstream failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UpstreamFault {
    Unreachable,
    TimedOut,
    RateLimited,
    /// It rejected our credential.
    Unauthorized,
    /// It rejected the request.
    Rejected,
    /// It does not know the model, or what else was asked for.
    NotFound,
    /// Its answer violates the protocol.
    Malformed,
    /// It had an internal error.
    Failed,
    /// The request exceeds its limit, or its answer exceeds ours.
    TooLarge,
    /// We cancelled it.
    Cancelled,
}

impl UpstreamFault {
    /// A name that never changes.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unreachable => "unreachable",
            Self::TimedOut => "timed_out",
            Self::RateLimited => "rate_limited",
            Self::Unauthorized => "unauthorized",
            Self::Rejected => "rejected",
            Self::NotFound => "not_found",
            Self::Malformed => "malformed",
            Self::Failed => "failed",
            Self::TooLarge => "too_large",
            Self::Cancelled => "cancelled",
        }
    }
}

/// A failed call to a model, a tool server or an embedder.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{target} failed: {message}")]
pub struct UpstreamError {
    /// What was called: `model anthropic/claude…`, `server inventory`…
    pub target: String,
    pub fault: UpstreamFault,
    /// The upstream's message, without secrets.
    pub message: String,
    /// The delay it asked for before a retry.
    pub retry_after: Option<Duration>,
}

impl UpstreamError {
    /// A failure without `retry_after`.
    pub fn new(
        target: impl Into<String>,
        fault: UpstreamFault,
        message: impl Into<String>,
    ) -> Self {
        Self { target: target.into(), fault, message: message.into(), retry_after: None }
    }

    /// The failure as people read it, without anything that looks like a key.
    pub fn public(&self) -> String {
        let shown = self.to_string();
        let words = shown
            .split_inclusive(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ',' | '='));
        words
            .map(|word| if looks_like_key(word) { "[key] ".to_owned() } else { word.to_owned() })
            .collect()
    }
}

/// Whether a word has the prefix and length of a key.
fn looks_like_key(word: &str) -> bool {
    const STARTS: [&str; 10] =
        ["sk-", "sk_", "pk-", "pk_", "rk_", "ghp_", "gho_", "xoxb-", "AKIA", "AIza"];
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    word.len() >= 12 && STARTS.iter().any(|start| word.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_in_what_a_provider_says_is_not_passed_on() {
        let error = UpstreamError::new(
            "model m",
            UpstreamFault::Unauthorized,
            "invalid x-api-key sk-test-DEADBEEF99",
        );
        assert_eq!(error.public(), "model m failed: invalid x-api-key [key] ");
    }
}
