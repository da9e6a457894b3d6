//! The words of a message: all of them, and those that the user said.
//!
//! Clients put blocks of their own into the user's messages – `<system-reminder>`, `<environment_context>` – which are
//! nobody's question. They stay in the request, and are neither searched for nor kept as what the user said.

use serde_json::Value;

/// Texts of a content, which is a string or a list of parts.
pub fn words(content: &Value) -> String {
    texts(content).collect::<Vec<_>>().join("\n")
}

/// What the user said in a content; of one that holds only blocks of the client, those.
pub fn said(content: &Value) -> String {
    let own: Vec<&str> =
        texts(content).map(without_blocks).filter(|text| !text.trim().is_empty()).collect();
    if own.is_empty() && !answers_tools(content) {
        return words(content);
    }
    own.join("\n")
}

/// Whether a content brings results of tools.
pub fn answers_tools(content: &Value) -> bool {
    content.as_array().into_iter().flatten().any(|part| part["type"] == "tool_result")
}

fn texts(content: &Value) -> impl Iterator<Item = &str> {
    let parts = content.as_array().into_iter().flatten();
    let is_text = |part: &&Value| {
        matches!(part["type"].as_str(), Some("text" | "input_text" | "output_text"))
    };
    let parts = parts.filter(is_text).filter_map(|part| part["text"].as_str());
    content.as_str().into_iter().chain(parts)
}

/// A text without the blocks that it begins with.
fn without_blocks(text: &str) -> &str {
    let mut rest = text;
    loop {
        let begins = rest.trim_start();
        let Some(block) = block(begins) else { return rest };
        rest = &begins[block..];
    }
}

/// The length of the block that a text begins with: `<two-words>` up to its end.
fn block(text: &str) -> Option<usize> {
    let name = text.strip_prefix('<')?.split('>').next()?;
    let is_name = |c: char| c.is_ascii_lowercase() || matches!(c, '-' | '_');
    if !name.contains(['-', '_']) || !name.chars().all(is_name) {
        return None;
    }
    let end = format!("</{name}>");
    text.find(&end).map(|at| at + end.len())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(content: Value, expected: &str) {
        assert_eq!(said(&content), expected, "{content}");
    }

    #[test]
    fn blocks_of_the_client_are_not_what_the_user_said() {
        check(json!("Hi."), "Hi.");
        check(json!("<system-reminder>\na\n</system-reminder>\nHi."), "\nHi.");
        let block = json!({"type": "text", "text": "<environment_context>a</environment_context>"});
        check(json!([block, {"type": "input_text", "text": "Hi."}]), "Hi.");
        check(json!([block]), "<environment_context>a</environment_context>");
        check(json!([{"type": "tool_result", "content": "r"}, block]), "");
        check(json!("<b>bold</b>"), "<b>bold</b>");
        check(json!("<no-end>"), "<no-end>");
        check(json!(null), "");
    }
}
