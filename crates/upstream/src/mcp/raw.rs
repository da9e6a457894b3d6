//! What a server sent, before the protocol library reads it.
//!
//! The library reads an answer as the first kind that fits and drops the rest. So a list with one malformed tool is read
//! as something else, and lost whole; and numbers that do not fit are rounded in silence. Both are settled in the text.
//!
//! Invariant: a message that needs nothing is passed on as it is.

use std::borrow::Cow;

use rmcp::model::Tool;
use serde::Deserialize;
use serde_json::Value;
use throughline_engine::exact;

/// The message as the library may read it: without malformed tools, and with numbers that do not fit as texts.
pub(super) fn readable<'a>(server: &str, message: &'a [u8]) -> Cow<'a, [u8]> {
    let Ok(text) = std::str::from_utf8(message) else { return Cow::Borrowed(message) };
    match readable_text(server, text) {
        Cow::Borrowed(_) => Cow::Borrowed(message),
        Cow::Owned(changed) => Cow::Owned(changed.into_bytes()),
    }
}

/// The same for a text.
pub(super) fn readable_text<'a>(server: &str, text: &'a str) -> Cow<'a, str> {
    if text.contains("\"tools\"")
        && let Ok(mut message) = serde_json::from_str::<Value>(text)
        && let Some(Value::Array(tools)) = message.pointer_mut("/result/tools")
    {
        let listed = tools.len();
        tools.retain(|tool| is_well_formed(server, tool));
        // The numbers of a schema are left as they are: as texts they would make it invalid.
        return match tools.len() == listed {
            true => Cow::Borrowed(text),
            false => Cow::Owned(message.to_string()),
        };
    }
    exact::quoted(text)
}

fn is_well_formed(server: &str, tool: &Value) -> bool {
    let Err(error) = Tool::deserialize(tool) else { return true };
    let name = tool["name"].as_str().unwrap_or_default();
    tracing::warn!(server.name = server, tool.name = name, "ignored a tool: {error}");
    false
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(message: &Value, expected: &Value) {
        let text = message.to_string();
        let read = readable("s", text.as_bytes());
        assert_eq!(serde_json::from_slice::<Value>(&read).unwrap(), *expected);
        assert_eq!(matches!(read, Cow::Borrowed(_)), message == expected, "{text}");
    }

    #[test]
    fn a_list_loses_only_what_is_malformed() {
        let good = json!({"name": "a", "inputSchema": {"type": "object", "maximum": 1e30}});
        let bad = json!({"name": "b"});
        let list = |tools: Value| json!({"result": {"tools": tools, "resultType": "complete"}});
        check(&list(json!([good])), &list(json!([good])));
        check(&list(json!([bad, good, 7])), &list(json!([good])));
        check(&json!({"params": {"tools": [bad]}}), &json!({"params": {"tools": [bad]}}));
    }

    #[test]
    fn a_number_that_does_not_fit_is_kept_as_a_text() {
        let message = r#"{"id":1,"result":{"structuredContent":{"id":18446744073709551616}}}"#;
        let read = readable_text("s", message);
        assert!(read.contains(r#"{"id":"18446744073709551616"}"#), "{read}");
    }
}
