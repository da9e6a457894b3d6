//! The text of a message: all of it, and what the user wrote.
//!
//! Clients insert blocks such as `<system-reminder>` or `<environment_context>` into user messages. They stay
//! in the request, but are neither searched for nor stored as the user's words.

use serde_json::Value;

/// What encloses the documents of a template.
const SOURCES: &str = "<context>";
const SOURCES_END: &str = "</context>";

/// The text of a content, which is a string or a list of parts.
pub(super) fn words(content: &Value) -> String {
    texts(content).collect::<Vec<_>>().join("\n")
}

/// What the user wrote; if there are only blocks of the client, those.
pub(super) fn said(content: &Value) -> String {
    let own: Vec<&str> =
        texts(content).map(own_words).filter(|text| !text.trim().is_empty()).collect();
    if own.is_empty() && !answers_tools(content) {
        return words(content);
    }
    own.join("\n")
}

/// Whether a client wrote all of it, to describe its surroundings or to repeat the user's settings.
pub(super) fn is_context(content: &Value) -> bool {
    let mut texts = texts(content).filter(|text| !text.trim().is_empty()).peekable();
    let parts = content.as_array().map(Vec::as_slice).unwrap_or_default();
    let has_others = parts.iter().any(|part| !is_text(part));
    let is_clients = |text: &str| without_blocks(text).trim().is_empty() || is_agents_file(text);
    !has_others && texts.peek().is_some() && texts.all(is_clients)
}

/// Codex sends the files `AGENTS.md` of a project with a heading.
fn is_agents_file(text: &str) -> bool {
    let text = text.trim();
    text.starts_with("# AGENTS.md instructions") && text.ends_with("</INSTRUCTIONS>")
}

/// Whether a content has tool results.
pub(super) fn answers_tools(content: &Value) -> bool {
    content.as_array().into_iter().flatten().any(|part| part["type"] == "tool_result")
}

fn texts(content: &Value) -> impl Iterator<Item = &str> {
    let parts = content.as_array().into_iter().flatten();
    let parts = parts.filter(|part| is_text(part)).filter_map(|part| part["text"].as_str());
    content.as_str().into_iter().chain(parts)
}

fn is_text(part: &Value) -> bool {
    matches!(part["type"].as_str(), Some("text" | "input_text" | "output_text"))
}

/// What of a text is the user's own.
fn own_words(text: &str) -> &str {
    without_blocks(without_sources(text))
}

/// The text without the documents that Open WebUI puts before a question, in `<context>` with a `<source>` each. What a
/// document says is not what its reader says.
fn without_sources(text: &str) -> &str {
    let (Some(begin), Some(end)) = (text.find(SOURCES), text.rfind(SOURCES_END)) else {
        return text;
    };
    if begin >= end || !text[begin..end].contains("<source ") {
        return text;
    }
    let after = &text[end + SOURCES_END.len()..];
    if after.trim().is_empty() { &text[..begin] } else { after }
}

/// The text without its leading blocks.
fn without_blocks(text: &str) -> &str {
    let mut rest = text;
    loop {
        let begins = rest.trim_start();
        let Some(block) = block(begins) else { return rest };
        rest = &begins[block..];
    }
}

/// Length of the leading block: `<two-words>` to its end tag.
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
        let letter = "<source id=\"1\" name=\"letter.txt\">I live in Tokyo.\n</context>\nI live in Rome.</source>";
        let template = format!("### Task:\nUse the context.\n<context>\n{letter}\n</context>\n");
        check(json!(format!("{template}\nSum it up.")), "\n\nSum it up.");
        check(json!(template), "### Task:\nUse the context.\n");
        check(json!("What does <context> mean?"), "What does <context> mean?");
        check(json!(null), "");
    }

    #[test]
    fn a_message_of_blocks_only_is_context_and_one_with_words_or_a_picture_is_not() {
        let block =
            json!({"type": "input_text", "text": "<environment_context>a</environment_context>\n"});
        for context in [
            json!([block]),
            json!(
                "<user_instructions>\na\n</user_instructions>\n\n<environment_context>b</environment_context>"
            ),
            json!("# AGENTS.md instructions for /a\n\n<INSTRUCTIONS>\nb\n</INSTRUCTIONS>"),
        ] {
            assert!(is_context(&context), "{context}");
        }
        for other in [
            json!([block, {"type": "input_text", "text": "Hi."}]),
            json!([block, {"type": "input_image", "image_url": "data:"}]),
            json!([{"type": "tool_result", "content": "r"}, block]),
            json!("<environment_context>a</environment_context> Hi."),
            json!("<b>bold</b>"),
            json!("What do the # AGENTS.md instructions say?"),
            json!(""),
            json!(null),
        ] {
            assert!(!is_context(&other), "{other}");
        }
    }
}
