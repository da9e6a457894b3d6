//! Which headers of a provider's answer reach the client.
//!
//! Only those that say something about the answer: cookies, hop-by-hop headers and addresses stay here.

use axum::http::{HeaderMap, HeaderName};

/// Headers that pass.
const PASSED: [&str; 7] = [
    "content-type",
    "retry-after",
    "retry-after-ms",
    "x-should-retry",
    "request-id",
    "x-request-id",
    "apim-request-id",
];
/// Beginnings of headers that pass.
const PASSED_BEGINNINGS: [&str; 5] =
    ["x-ratelimit-", "x-rate-limit-", "ratelimit", "anthropic-", "openai-"];

/// The headers of `answer` that pass.
pub fn passed(answer: &HeaderMap) -> HeaderMap {
    let passes = |name: &HeaderName| {
        let name = name.as_str();
        PASSED.contains(&name) || PASSED_BEGINNINGS.iter().any(|start| name.starts_with(start))
    };
    let kept = answer.iter().filter(|(name, _)| passes(name));
    kept.map(|(name, value)| (name.clone(), value.clone())).collect()
}
