//! Response headers of a provider that are passed on.
//!
//! Only headers about the response; no cookies, hop-by-hop headers or addresses.

use axum::http::{HeaderMap, HeaderName};

/// Headers that are passed on.
const PASSED: [&str; 7] = [
    "content-type",
    "retry-after",
    "retry-after-ms",
    "x-should-retry",
    "request-id",
    "x-request-id",
    "apim-request-id",
];
/// Prefixes of headers that are passed on.
const PASSED_BEGINNINGS: [&str; 5] =
    ["x-ratelimit-", "x-rate-limit-", "ratelimit", "anthropic-", "openai-"];

/// The headers of `answer` that are passed on.
pub(super) fn passed(answer: &HeaderMap) -> HeaderMap {
    let passes = |name: &HeaderName| {
        let name = name.as_str();
        PASSED.contains(&name) || PASSED_BEGINNINGS.iter().any(|start| name.starts_with(start))
    };
    let kept = answer.iter().filter(|(name, _)| passes(name));
    kept.map(|(name, value)| (name.clone(), value.clone())).collect()
}
