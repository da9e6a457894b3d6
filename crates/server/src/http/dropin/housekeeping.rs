//! Requests in which a program asks a model about its own conversation, for a title or tags: nobody says anything in them.
//!
//! They come with the session's headers like every other request. Kept, they would be turns that nobody took, and their text
//! would be recalled later. What is known here was seen on the wire (`docs/clients`); a program that words it otherwise gets
//! turns, never an error.
//!
//! Invariant: the conversation is quoted in such a message, so an ordinary question about titles is none.

use serde_json::Value;

use super::user_words::words;

/// What a message begins with and what it holds: of Claude Code (titles) and of Open WebUI (titles, tags, suggestions).
const SIGNS: [(&str, &str); 2] =
    [("<session>\n", "\n</session>"), ("### Task:\n", "<chat_history>")];

/// Whether the content of the last message is one of these.
pub fn is_housekeeping(content: &Value) -> bool {
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
