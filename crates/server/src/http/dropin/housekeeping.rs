//! Requests in which a program asks a model about its own conversation, such as for a title or tags.
//!
//! They carry the session's headers like any other request. Stored, they would become turns that nobody took,
//! and would be recalled later. The patterns were observed on the wire (`docs/clients`); a program with other
//! wording gets extra turns, never an error.
//!
//! Invariant: such a message quotes the conversation, or the instructions begin with the task, so an ordinary question
//! about titles does not match.

use serde_json::Value;

use super::user_words::words;

/// Start and content of such messages: Claude Code (titles), Open WebUI (titles, tags, suggestions, an emoji).
const SIGNS: [(&str, &str); 3] = [
    ("<session>\n", "\n</session>"),
    ("### Task:\n", "<chat_history>"),
    ("Your task is to reflect the speaker's likely facial expression", "\nMessage: ```"),
];

/// Start of instructions for such requests, where the message is the user's own or the whole conversation.
const TASKS: [&str; 10] = [
    // opencode: titles and summaries.
    "You are a title generator.",
    "You are a helpful AI assistant tasked with summarizing conversations.",
    "You are summarizing a conversation for continuation",
    // crush: titles.
    "You will generate a short title based on the first message",
    // qwen-code and gemini-cli: titles, memory and summaries.
    "Generate a concise, sentence-case title (3-7 words)",
    "You generate session recaps for a programming assistant CLI",
    "You are the component that summarizes internal chat history",
    "You are selecting memories",
    "You are now acting as the managed memory extraction subagent",
    "You are performing a managed memory dream",
];

/// Whether the last message is such a request, by itself or by the instructions before it.
pub(super) fn is_housekeeping(system: &str, content: &Value) -> bool {
    let system = system.trim_start();
    let text = words(content);
    let text = text.trim_start();
    TASKS.iter().any(|task| system.starts_with(task))
        || SIGNS.iter().any(|(begins, holds)| text.starts_with(begins) && text.contains(holds))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_title_for_a_quoted_conversation_is_housekeeping_and_a_question_about_titles_is_not() {
        let title = "<session>\nMy boat is called Selkie.\n</session>\n\nWrite the title.";
        assert!(is_housekeeping("", &json!(title)));
        assert!(is_housekeeping("", &json!([{"type": "text", "text": title}])));
        let tags = "### Task:\nGenerate 1-3 broad tags.\n### Chat History:\n<chat_history>\nHi\n</chat_history>";
        assert!(is_housekeeping("", &json!(tags)));
        for said in [
            "Write the title of my book.",
            "What is <session>\n</session>?",
            "### Task:\nSum this up.",
        ] {
            assert!(!is_housekeeping("", &json!(said)), "{said}");
        }
    }

    #[test]
    fn instructions_that_begin_with_the_task_are_housekeeping_and_those_that_mention_it_are_not() {
        let said = json!("My boat is called Selkie.");
        for task in TASKS {
            assert!(is_housekeeping(&format!("\n{task} Nothing else."), &said), "{task}");
            assert!(!is_housekeeping(&format!("Be kind. {task}"), &said), "{task}");
        }
        assert!(!is_housekeeping("You are a helpful AI assistant.", &said));
        assert!(!is_housekeeping("", &said));
    }
}
