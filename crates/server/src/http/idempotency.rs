//! `Idempotency-Key`: the same key answers the same turn, the same key with another body is refused.
//!
//! What is compared is the route and the body's canonical form, so that spacing and the order of fields
//! do not make another request.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use serde_json::Value;
use throughline_engine::session::apply::RequestKey;

use super::App;
use super::problem::Problem;

/// The header's name.
pub const HEADER: &str = "idempotency-key";
/// The longest key.
const KEY_CHARACTERS_MAX: usize = 255;

/// The request's key, if it has one.
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
                format!("it must have 1-{KEY_CHARACTERS_MAX} visible ASCII characters"),
            ));
        }
        Ok(Self(Some(String::from_utf8_lossy(bytes).into_owned())))
    }
}

impl IdempotencyKey {
    /// The key of a request to `route` with this body.
    pub fn of(self, route: &str, body: &[u8]) -> Option<RequestKey> {
        let key = self.0?;
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        let mut text = format!("{route}\n");
        canonical(&body, &mut text);
        Some(RequestKey::new(&key, text.as_bytes()))
    }
}

/// Writes `value` with its object keys in order.
fn canonical(value: &Value, into: &mut String) {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            into.push('{');
            for (key, value) in entries {
                into.push_str(&Value::from(key.as_str()).to_string());
                into.push(':');
                canonical(value, into);
                into.push(',');
            }
            into.push('}');
        }
        Value::Array(values) => {
            into.push('[');
            for value in values {
                canonical(value, into);
                into.push(',');
            }
            into.push(']');
        }
        plain => into.push_str(&plain.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body_of(body: &str) -> String {
        let key = IdempotencyKey(Some("k".into())).of("turns", body.as_bytes());
        key.map(|key| key.body.to_string()).unwrap_or_default()
    }

    #[test]
    fn order_and_spacing_are_no_difference_and_values_are() {
        assert_eq!(body_of(r#"{"a":1,"b":[1,2]}"#), body_of(r#"{ "b": [1, 2], "a": 1 }"#));
        assert_ne!(body_of(r#"{"a":1,"b":[1,2]}"#), body_of(r#"{"a":1,"b":[2,1]}"#));
        assert_ne!(body_of(r#"{"a":"1"}"#), body_of(r#"{"a":1}"#));
    }
}
