//! Response headers about memory.
//!
//! | header | meaning |
//! |---|---|
//! | `x-session-id` | the session that stores the exchange |
//! | `x-throughline-memory` | `added; pieces=4; tokens=312`, or `nothing` |
//! | `x-throughline-left-out` | what did not fit: `pieces=3; tokens=900; reason=over_window` |
//! | `x-throughline-not-kept` | why the exchange is not stored and nothing was added: `over_limit: …` |
//! | `x-throughline-not-converted` | tools without a counterpart in the provider's format |

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use throughline_engine::id::SessionId;
use throughline_engine::receipt::Receipt;

use super::SESSION;

const MEMORY: &str = "x-throughline-memory";
const LEFT_OUT: &str = "x-throughline-left-out";
const NOT_KEPT: &str = "x-throughline-not-kept";
const NOT_CONVERTED: &str = "x-throughline-not-converted";
/// Longest reason in a header, in characters.
const REASON_CHARACTERS_MAX: usize = 200;

/// Headers for one response.
#[derive(Debug, Clone, Default)]
pub(super) struct Notes(Vec<(HeaderName, HeaderValue)>);

impl Notes {
    /// The session that stores the exchange.
    pub(super) fn kept_in(&mut self, session: &SessionId) {
        self.note(SESSION, session.as_str());
    }

    /// What was added, and what did not fit.
    pub(super) fn added<'a>(&mut self, receipts: impl IntoIterator<Item = &'a Receipt>) {
        let (mut pieces, mut tokens, mut left_out) = (0, 0, None);
        for receipt in receipts {
            let added = receipt.added();
            (pieces, tokens) = (pieces + added.0, tokens + added.1);
            left_out = left_out.or(receipt.left_out());
        }
        match pieces {
            0 => self.note(MEMORY, "nothing"),
            _ => self.note(MEMORY, &format!("added; pieces={pieces}; tokens={tokens}")),
        }
        if let Some((pieces, tokens, reason)) = left_out {
            let reason = reason.as_str();
            self.note(LEFT_OUT, &format!("pieces={pieces}; tokens={tokens}; reason={reason}"));
        }
    }

    /// Why the exchange is not stored.
    pub(super) fn not_kept(&mut self, code: &str, reason: &str) {
        let reason: String = reason.chars().take(REASON_CHARACTERS_MAX).collect();
        self.note(NOT_KEPT, &format!("{code}: {reason}"));
    }

    /// Tools that were dropped.
    pub(super) fn not_converted(&mut self, tools: &[String]) {
        if !tools.is_empty() {
            self.note(NOT_CONVERTED, &tools.join(", "));
        }
    }

    /// Writes the headers.
    pub(super) fn write(&self, headers: &mut HeaderMap) {
        for (name, value) in &self.0 {
            headers.insert(name.clone(), value.clone());
        }
    }

    fn note(&mut self, name: &'static str, text: &str) {
        let plain: String =
            text.chars().map(|c| if c == ' ' || c.is_ascii_graphic() { c } else { '?' }).collect();
        if let Ok(value) = HeaderValue::try_from(plain) {
            self.0.push((HeaderName::from_static(name), value));
        }
    }
}
