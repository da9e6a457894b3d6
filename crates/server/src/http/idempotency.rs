//! `Idempotency-Key`: a repeated key returns the first result; with a different body it is rejected.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use throughline_engine::session::apply::RequestKey;

use super::App;
use super::problem::Problem;
use crate::request_key::request_key;

/// Name of the header.
pub const HEADER: &str = "idempotency-key";
/// Longest key, in characters.
const KEY_CHARACTERS_MAX: usize = 255;

/// Key of the request, if any.
#[derive(Debug, Clone)]
pub struct IdempotencyKey(pub Option<String>);

impl FromRequestParts<App> for IdempotencyKey {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Problem> {
        let Some(value) = parts.headers.get(HEADER) else { return Ok(Self(None)) };
        let bytes = value.as_bytes();
        let visible = bytes.iter().all(|byte| byte.is_ascii_graphic());
        if bytes.is_empty() || bytes.len() > KEY_CHARACTERS_MAX || !visible {
            return Err(Problem::invalid(
                "Idempotency-Key",
                format!("must have 1-{KEY_CHARACTERS_MAX} visible ASCII characters"),
            ));
        }
        Ok(Self(Some(String::from_utf8_lossy(bytes).into_owned())))
    }
}

impl IdempotencyKey {
    /// The key of a request to `route` with this body.
    pub fn of(self, route: &str, body: &[u8]) -> Option<RequestKey> {
        Some(request_key(&self.0?, route, body))
    }
}
