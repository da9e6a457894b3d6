//! ChatGPT's data export: a tree of messages per conversation.
//!
//! Imports the branch that ends in `current_node`, which the user last saw. Abandoned edits and regenerated
//! replies are skipped.

use std::collections::HashMap;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use super::{Chat, Exchanges, Speaker, parse};
use crate::error::Result;

/// Maximum length of a branch.
const NODES_MAX: usize = 100_000;

#[derive(Deserialize)]
struct Conversation {
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    create_time: Option<f64>,
    #[serde(default)]
    conversation_id: Option<String>,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    current_node: Option<String>,
    mapping: HashMap<String, Node>,
}

#[derive(Deserialize)]
struct Node {
    #[serde(default)]
    message: Option<Message>,
    #[serde(default)]
    parent: Option<String>,
    #[serde(default)]
    children: Vec<String>,
}

#[derive(Deserialize)]
struct Message {
    author: Author,
    #[serde(default)]
    create_time: Option<f64>,
    #[serde(default)]
    content: Value,
    #[serde(default)]
    recipient: Option<String>,
    #[serde(default)]
    metadata: Value,
}

#[derive(Deserialize)]
struct Author {
    role: String,
}

pub(super) fn read(text: &str) -> Result<Vec<Chat>> {
    Ok(parse::<Conversation>(text, "ChatGPT")?.into_iter().map(chat).collect())
}

fn chat(conversation: Conversation) -> Chat {
    let mut exchanges = Exchanges::default();
    for message in branch(&conversation) {
        let speaker = match message.author.role.as_str() {
            "user" => Speaker::User,
            "assistant" => Speaker::Assistant,
            _ => continue,
        };
        let hidden = message.metadata["is_visually_hidden_from_conversation"] == true;
        let to_a_tool = message.recipient.as_deref().is_some_and(|to| to != "all");
        if !hidden && !to_a_tool {
            exchanges.say(speaker, &words(&message.content), message.create_time.and_then(time));
        }
    }
    Chat {
        id: conversation.conversation_id.or(conversation.id).unwrap_or_default(),
        title: conversation.title,
        created_at: conversation.create_time.and_then(time),
        exchanges: exchanges.0,
    }
}

/// The messages from the root to the current node.
fn branch(conversation: &Conversation) -> Vec<&Message> {
    let mapping = &conversation.mapping;
    let mut at = conversation.current_node.clone().or_else(|| last_leaf(mapping));
    let mut messages = Vec::new();
    for _ in 0..NODES_MAX {
        let Some(node) = at.as_ref().and_then(|id| mapping.get(id)) else { break };
        messages.extend(node.message.as_ref());
        at.clone_from(&node.parent);
    }
    messages.reverse();
    messages
}

/// Without a current node: follows the last child from the root.
fn last_leaf(mapping: &HashMap<String, Node>) -> Option<String> {
    let mut at = mapping.iter().find(|(_, node)| node.parent.is_none())?.0.clone();
    for _ in 0..NODES_MAX {
        match mapping.get(&at).and_then(|node| node.children.last()) {
            Some(child) => at.clone_from(child),
            None => break,
        }
    }
    Some(at)
}

/// The text of a message: plain parts, code and transcripts; images and files are skipped.
fn words(content: &Value) -> String {
    let kind = content["content_type"].as_str().unwrap_or_default();
    match kind {
        "text" | "multimodal_text" => {
            let parts = content["parts"].as_array().map(Vec::as_slice).unwrap_or_default();
            let texts = parts.iter().filter_map(|part| part.as_str().or(part["text"].as_str()));
            texts.collect::<Vec<_>>().join("\n\n")
        }
        "code" => content["text"].as_str().map(|t| format!("```\n{t}\n```")).unwrap_or_default(),
        _ => String::new(),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a time in milliseconds fits 64 bits")]
fn time(seconds: f64) -> Option<Timestamp> {
    Timestamp::from_millisecond((seconds * 1_000.0) as i64).ok()
}
