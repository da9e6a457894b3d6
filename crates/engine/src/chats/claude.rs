//! Claude's data export: a list of messages per conversation.

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use super::{Chat, Exchanges, Speaker, parse};
use crate::error::Result;

#[derive(Deserialize)]
struct Conversation {
    #[serde(default)]
    uuid: String,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    created_at: Option<Timestamp>,
    chat_messages: Vec<Message>,
}

#[derive(Deserialize)]
struct Message {
    sender: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    content: Vec<Value>,
    #[serde(default)]
    created_at: Option<Timestamp>,
    #[serde(default)]
    attachments: Vec<Value>,
}

pub(super) fn read(text: &str) -> Result<Vec<Chat>> {
    Ok(parse::<Conversation>(text, "Claude")?.into_iter().map(chat).collect())
}

fn chat(conversation: Conversation) -> Chat {
    let mut exchanges = Exchanges::default();
    for message in &conversation.chat_messages {
        let speaker = match message.sender.as_str() {
            "human" => Speaker::User,
            "assistant" => Speaker::Assistant,
            _ => continue,
        };
        exchanges.say(speaker, &words(message), message.created_at);
        for text in message.attachments.iter().filter_map(|a| a["extracted_content"].as_str()) {
            exchanges.say(speaker, text, message.created_at);
        }
    }
    Chat {
        id: conversation.uuid,
        title: conversation.name.filter(|name| !name.is_empty()),
        created_at: conversation.created_at,
        exchanges: exchanges.0,
    }
}

/// The text blocks, or the flat text if there are none.
fn words(message: &Message) -> String {
    let blocks = message.content.iter().filter(|block| block["type"] == "text");
    let texts: Vec<&str> = blocks.filter_map(|block| block["text"].as_str()).collect();
    if texts.is_empty() { message.text.clone() } else { texts.join("\n\n") }
}
