//! Parsing of each format.

use super::*;

fn check(text: &str, expected: &[(&str, &str)]) {
    let format = ChatFormat::detect(text).expect("the format is recognised");
    let chats = read(text, format).unwrap();
    let said: Vec<(&str, &str)> = chats
        .iter()
        .flat_map(|chat| &chat.exchanges)
        .map(|exchange| (exchange.message.as_str(), exchange.reply.as_str()))
        .collect();
    assert_eq!(said, expected);
}

#[test]
fn the_branch_that_was_last_seen_is_taken_from_the_tree() {
    let message = |role: &str, text: &str| {
        serde_json::json!({
            "author": {"role": role}, "create_time": 1_794_733_200.5,
            "content": {"content_type": "text", "parts": [text]}, "recipient": "all",
        })
    };
    let node = |message: serde_json::Value, parent: &str, children: &[&str]| {
        let parent = (!parent.is_empty()).then_some(parent);
        serde_json::json!({"message": message, "parent": parent, "children": children})
    };
    let export = serde_json::json!([{
        "title": "Bread", "create_time": 1_794_733_200.0, "conversation_id": "c-1",
        "current_node": "e",
        "mapping": {
            "r": node(serde_json::Value::Null, "", &["s"]),
            "s": node(message("system", "rules"), "r", &["a"]),
            "a": node(message("user", "How long?"), "s", &["b", "c"]),
            "b": node(message("assistant", "An hour."), "a", &[]),
            "c": node(message("assistant", "Two hours."), "a", &["d"]),
            "d": node(message("user", "And rye?"), "c", &["e"]),
            "e": node(message("assistant", "Longer."), "d", &[]),
        }
    }]);
    check(&export.to_string(), &[("How long?", "Two hours."), ("And rye?", "Longer.")]);
    let chat = &read(&export.to_string(), ChatFormat::ChatGpt).unwrap()[0];
    assert_eq!(chat.id, "c-1");
    assert_eq!(chat.exchanges[0].at.unwrap().to_string(), "2026-11-15T09:00:00.5Z");
}

#[test]
fn messages_in_a_row_are_joined_and_a_message_without_reply_is_kept() {
    let export = serde_json::json!([{
        "uuid": "u-1", "name": "Garden", "created_at": "2026-11-15T09:00:00Z",
        "chat_messages": [
            {"sender": "human", "text": "old", "content": [{"type": "text", "text": "Roses?"}]},
            {"sender": "human", "text": "In shade."},
            {"sender": "assistant", "text": "Rather not.", "content": []},
            {"sender": "human", "text": "Thanks", "created_at": "2026-11-15T09:01:00Z"},
        ]
    }]);
    check(&export.to_string(), &[("Roses?\n\nIn shade.", "Rather not."), ("Thanks", "")]);
}

#[test]
fn markdown_is_read_from_our_export_and_from_named_speakers() {
    let ours = "# T\n\nSession `x`, 2 turns.\n\n## 1 · 2026-11-15T09:00:00Z\n\n> one\n> two\n\nreply\n\n\
                ## 2 · 2026-11-15T09:01:00Z\n\n> three\n\n```\n## User\n```\n";
    check(ours, &[("one\ntwo", "reply"), ("three", "```\n## User\n```")]);
    check("# Notes\n\n**User:** hi\n\n**Assistant:** hello\nthere\n", &[("hi", "hello\nthere")]);
    check("# x\n## You\nhi\n## ChatGPT\nhello\n", &[("hi", "hello")]);
}

#[test]
fn what_is_no_export_is_refused_with_a_reason() {
    assert_eq!(ChatFormat::detect("hello"), None);
    let error = read("[{\"chat_messages\": 3}]", ChatFormat::Claude).unwrap_err();
    assert!(error.to_string().contains("Claude's conversations.json"), "{error}");
}
