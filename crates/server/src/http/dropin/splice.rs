//! What memory adds, put into a client's request without touching anything else of it.
//!
//! History goes in front of the user's last message, quoted data in front of that message's words, and what was
//! put in front of an earlier message's words is put there again. A provider's prompt cache therefore stays valid
//! for all that was sent before.
//!
//! Invariant: apart from what is put in, the request keeps every byte and every order.

use std::ops::Range;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use throughline_engine::model::{Block, Message, Role};
use throughline_engine::request::{Addition, place as place_messages};
use throughline_upstream::model::Provider;

use super::client_body::{ClientBody, place, words};

/// What is put in.
#[derive(Debug, Clone, Copy, Default)]
pub struct PutIn<'a> {
    /// What memory adds.
    pub addition: Option<&'a Addition>,
    /// The model's name, where it is another than the client's.
    pub model: Option<&'a str>,
}

/// The request with what is put in.
pub fn with(body: &ClientBody<'_>, put_in: PutIn<'_>) -> String {
    let mut edits = Vec::new();
    if let (Some((place, own)), Some(name)) = (&body.model, put_in.model)
        && own != name
    {
        edits.push((place.clone(), json!(name).to_string()));
    }
    if let Some(addition) = put_in.addition {
        let message = body.messages[body.user_at].0.clone();
        let before: String = (addition.before.iter())
            .map(|message| format!("{},", wire_message(body.format, message)))
            .collect();
        edits.push((message.start..message.start, before));
        edits.extend(earlier(body, &addition.earlier));
        edits.extend(beside(body, body.user_at, &addition.beside));
    }
    edits.sort_by_key(|(place, _)| place.start);
    let mut text = String::with_capacity(body.text.len());
    let mut at = 0;
    for (place, put) in edits {
        text.push_str(&body.text[at..place.start]);
        text.push_str(&put);
        at = place.end;
    }
    text.push_str(&body.text[at..]);
    text
}

#[derive(Deserialize)]
struct Content<'a> {
    #[serde(borrow)]
    content: &'a RawValue,
}

/// An edit: what is put in the place of a stretch of the request.
type Edit = (Range<usize>, String);

/// Texts in front of the words of earlier messages, each found by its words.
fn earlier(body: &ClientBody<'_>, texts: &[(String, Vec<String>)]) -> Vec<Edit> {
    let places: Vec<usize> = body.user_messages().collect();
    let users: Vec<String> =
        places.iter().map(|at| words(&body.messages[*at].1["content"])).collect();
    let found = place_messages(texts.iter().map(|(message, _)| message.as_str()), &users);
    let placed = texts.iter().zip(found).filter_map(|((_, texts), at)| Some((places[at?], texts)));
    placed.filter_map(|(at, texts)| beside(body, at, texts)).collect()
}

/// `texts` in front of the words of the message at that place.
fn beside(body: &ClientBody<'_>, at: usize, texts: &[String]) -> Option<Edit> {
    if texts.is_empty() {
        return None;
    }
    let message = &body.text[body.messages[at].0.clone()];
    let raw = serde_json::from_str::<Content<'_>>(message).ok()?.content.get();
    let place = place(body.text, raw);
    let parts: Vec<String> = texts.iter().map(|text| text_part(text).to_string()).collect();
    let parts = parts.join(",");
    let put = match (raw.as_bytes().first()?, body.format) {
        (b'[', _) => {
            let rest = raw[1..].trim_start();
            let comma = if rest.starts_with(']') { "" } else { "," };
            format!("[{parts}{comma}{}", &raw[1..])
        }
        // Servers that speak like OpenAI often know a text only.
        (b'"', Provider::OpenAi) => {
            let quoted = json!(texts.join("\n\n") + "\n\n").to_string();
            format!("{}{}", &quoted[..quoted.len() - 1], &raw[1..])
        }
        (b'"', Provider::Anthropic) => format!(r#"[{parts},{{"type":"text","text":{raw}}}]"#),
        _ => return None,
    };
    Some((place, put))
}

fn text_part(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn wire_message(format: Provider, message: &Message) -> Value {
    let texts = message.content.iter().filter_map(|block| match block {
        Block::Text { text, .. } => Some(text.as_str()),
        Block::ToolUse { .. } | Block::ToolResult { .. } => None,
    });
    let role = match message.role {
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    let content = match format {
        Provider::OpenAi => json!(texts.collect::<Vec<_>>().join("\n\n")),
        Provider::Anthropic => texts.map(text_part).collect(),
    };
    json!({"role": role, "content": content})
}
