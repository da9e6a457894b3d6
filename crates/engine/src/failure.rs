//! How what a turn calls can fail: a model, a tool, an embedder.
//!
//! These are facts about the other side. What becomes of the turn is decided in [`crate::turn`].

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What went wrong upstream, in the terms a turn can act on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UpstreamFault {
    /// It could not be reached.
    Unreachable,
    /// It did not answer in time.
    TimedOut,
    /// It asked us to slow down.
    RateLimited,
    /// It refused our credential.
    Unauthorized,
    /// It refused the request as wrong.
    Rejected,
    /// It answered what the protocol does not allow.
    Malformed,
    /// It failed by itself.
    Failed,
    /// It answered more than the limit.
    TooLarge,
    /// We stopped it.
    Cancelled,
}

impl UpstreamFault {
    /// Its name, which never changes.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unreachable => "unreachable",
            Self::TimedOut => "timed_out",
            Self::RateLimited => "rate_limited",
            Self::Unauthorized => "unauthorized",
            Self::Rejected => "rejected",
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
    /// In what way.
    pub fault: UpstreamFault,
    /// What it said, without secrets.
    pub message: String,
    /// When it asked to be tried again.
    pub retry_after: Option<Duration>,
}

impl UpstreamError {
    /// A failure without a wish to be tried again later.
    pub fn new(
        target: impl Into<String>,
        fault: UpstreamFault,
        message: impl Into<String>,
    ) -> Self {
        Self { target: target.into(), fault, message: message.into(), retry_after: None }
    }

    /// What happened, for a record that people read: what looks like a key is left out.
    pub fn public(&self) -> String {
        let shown = self.to_string();
        let words = shown
            .split_inclusive(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ',' | '='));
        words
            .map(|word| if looks_like_key(word) { "[key] ".to_owned() } else { word.to_owned() })
            .collect()
    }
}

/// Whether a word begins as keys do, and is as long as one.
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
