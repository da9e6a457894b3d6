//! Requests in which a program asks a model about its own conversation, such as for a title or tags.
//!
//! They carry the session's headers like any other request. Stored, they would become turns that nobody took,
//! and would be recalled later. The patterns were observed on the wire (`docs/clients`); a program with other
//! wording gets extra turns, never an error.
//!
//! Invariant: such a message quotes the conversation, so an ordinary question about titles does not match.

use serde_json::Value;

use super::user_words::words;

/// Start and content of such messages: Claude Code (titles), Open WebUI (titles, tags, suggestions).
const SIGNS: [(&str, &str); 2] =
    [("<session>\n", "\n</session>"), ("### Task:\n", "<chat_history>")];

/// Whether the last message is such a request.
pub(super) fn is_housekeeping(content: &Value) -> bool {
    let text = words(content);
    let text = text.trim_start();
    SIGNS.iter().any(|(begins, holds)| text.starts_with(begins) && text.contains(holds))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_title_for_a_quoted_conversation_is_housekeeping_and_a_question_about_titles_is_not() {
        let title = "<session>\nMy boat is called Selkie.\n</session>\n\nWrite the title.";
        assert!(is_housekeeping(&json!(title)));
        assert!(is_housekeeping(&json!([{"type": "text", "text": title}])));
        let tags = "### Task:\nGenerate 1-3 broad tags.\n### Chat History:\n<chat_history>\nHi\n</chat_history>";
        assert!(is_housekeeping(&json!(tags)));
        for said in [
            "Write the title of my book.",
            "What is <session>\n</session>?",
            "### Task:\nSum this up.",
        ] {
            assert!(!is_housekeeping(&json!(said)), "{said}");
        }
    }
}
