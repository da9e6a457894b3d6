//! Preparation of the engine's messages that all wire formats share.
//!
//! Providers expect alternating roles, and local chat templates insist on it; a session with a failed turn has two
//! consecutive user messages. Nothing is added, and only empty text is dropped, which providers reject.

use std::collections::HashMap;

use serde_json::Value;
use throughline_engine::model::{Block, Message, ModelRequest, Role};

/// Merges consecutive messages of the same role and drops empty text; in a user message, tool results come
/// first.
pub(super) fn merge_roles(messages: &[Message]) -> Vec<(Role, Vec<&Block>)> {
    let mut turns: Vec<(Role, Vec<&Block>)> = Vec::new();
    for message in messages {
        let said = message.content.iter().filter(|block| !is_empty(block));
        match turns.last_mut() {
            Some((role, blocks)) if *role == message.role => blocks.extend(said),
            _ => turns.push((message.role, said.collect())),
        }
    }
    for (_, blocks) in &mut turns {
        blocks.sort_by_key(|block| !matches!(block, Block::ToolResult { .. }));
    }
    turns.retain(|(_, blocks)| !blocks.is_empty());
    turns
}

/// The ids of calls in a form that every provider accepts: letters, digits, `_` and `-`, and none twice. A request also has the
/// calls of earlier turns, which another model may have made.
#[derive(Default)]
pub(super) struct CallIds(HashMap<String, usize>);

impl CallIds {
    pub(super) fn of_call(&mut self, id: &str) -> String {
        *self.0.entry(id.to_owned()).or_default() += 1;
        self.of_result(id)
    }

    /// The id of the last call with it.
    pub(super) fn of_result(&self, id: &str) -> String {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let plain: String = id.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
        match self.0.get(id) {
            Some(times @ 2..) => format!("{plain}_{times}"),
            _ => plain,
        }
    }
}

/// The temperature with its original digits: converted to f64, 0.7 would become 0.69999998….
pub(super) fn temperature(request: &ModelRequest) -> Value {
    let shown = request.temperature.to_string();
    serde_json::from_str(&shown).unwrap_or(Value::Null)
}

fn is_empty(block: &Block) -> bool {
    matches!(block, Block::Text { text, .. } if text.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_joined_results_come_first_and_empty_text_goes() {
        let said = |role, texts: &[&str]| Message {
            role,
            content: texts.iter().map(|text| Block::text(*text)).collect(),
        };
        let result = Block::ToolResult { id: "1".into(), content: "r".into(), is_error: false };
        let mut last = said(Role::User, &["d"]);
        last.content.push(result.clone());
        let messages = [
            said(Role::User, &["a", " "]),
            said(Role::User, &["b"]),
            said(Role::Assistant, &[""]),
            said(Role::Assistant, &["c"]),
            last,
        ];
        let (a, b, c, d) = (Block::text("a"), Block::text("b"), Block::text("c"), Block::text("d"));
        let expected = vec![
            (Role::User, vec![&a, &b]),
            (Role::Assistant, vec![&c]),
            (Role::User, vec![&result, &d]),
        ];
        assert_eq!(merge_roles(&messages), expected);
    }

    #[test]
    fn ids_of_calls_are_plain_and_differ() {
        let mut ids = CallIds::default();
        let mut round = |id: &str| (ids.of_call(id), ids.of_result(id));
        for (id, shown) in [
            ("toolu_1", "toolu_1"),
            ("functions.read:0", "functions_read_0"),
            ("call_0", "call_0"),
            ("call_0", "call_0_2"),
        ] {
            assert_eq!(round(id), (shown.to_owned(), shown.to_owned()));
        }
    }
}
