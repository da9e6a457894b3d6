//! `ETag` and `If-Match`: a session changes only at the version that its client has seen.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderValue, header};

use super::App;
use super::problem::Problem;

/// The version in `If-Match`; `None` if absent or `*`.
#[derive(Debug, Clone, Copy)]
pub struct IfMatch(pub Option<u64>);

impl FromRequestParts<App> for IfMatch {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Problem> {
        let Some(value) = parts.headers.get(header::IF_MATCH) else { return Ok(Self(None)) };
        let text = value.to_str().unwrap_or_default().trim();
        if text == "*" {
            return Ok(Self(None));
        }
        let digits = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        match digits.filter(|d| d.bytes().all(|b| b.is_ascii_digit())).map(str::parse) {
            Some(Ok(version)) => Ok(Self(Some(version))),
            _ => Err(Problem::invalid(
                "If-Match",
                "must be * or one version in quotes, such as \"3\"",
            )),
        }
    }
}

/// The `ETag` of a version.
pub fn etag(version: u64) -> [(header::HeaderName, HeaderValue); 1] {
    let value = HeaderValue::from_str(&format!("\"{version}\""))
        .expect("digits in quotes are a valid header value");
    [(header::ETAG, value)]
}
