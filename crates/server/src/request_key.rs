//! Idempotency keys cover the route and the canonical body, so that spacing and field order do not matter.

use serde_json::Value;
use throughline_engine::session::apply::RequestKey;

/// The key of a request to `route` with this body.
pub fn request_key(key: &str, route: &str, body: &[u8]) -> RequestKey {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let mut text = format!("{route}\n");
    canonical(&body, &mut text);
    RequestKey::new(key, text.as_bytes())
}

/// Writes `value` with sorted object keys.
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
        request_key("k", "turns", body.as_bytes()).body.to_string()
    }

    #[test]
    fn order_and_spacing_are_no_difference_and_values_are() {
        assert_eq!(body_of(r#"{"a":1,"b":[1,2]}"#), body_of(r#"{ "b": [1, 2], "a": 1 }"#));
        assert_ne!(body_of(r#"{"a":1,"b":[1,2]}"#), body_of(r#"{"a":1,"b":[2,1]}"#));
        assert_ne!(body_of(r#"{"a":"1"}"#), body_of(r#"{"a":1}"#));
    }
}
