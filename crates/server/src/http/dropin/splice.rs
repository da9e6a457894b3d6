//! Inserts what memory adds into a client's request.
//!
//! History goes before the user's last message, quoted data before the text of that message, and what was
//! inserted into earlier messages is inserted again. A provider's prompt cache therefore stays valid.
//!
//! Invariant: apart from the insertions, every byte of the request is unchanged.

use std::ops::Range;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use throughline_engine::model::{Block, Message, Role};
use throughline_engine::request::{Addition, place as place_messages};
use throughline_upstream::model::Api;

use super::client_body::{ClientBody, place};
use super::user_words::said;

/// What to insert.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Insertion<'a> {
    /// What memory adds.
    pub addition: Option<&'a Addition>,
    /// Name of the model, if it replaces the client's.
    pub model: Option<&'a str>,
}

/// Replaces a range of the request.
pub(super) type Edit = (Range<usize>, String);

/// The request with the insertions.
pub(super) fn with(body: &ClientBody<'_>, put_in: Insertion<'_>) -> String {
    let mut edits = Vec::new();
    if let (Some((place, own)), Some(name)) = (&body.model, put_in.model)
        && own != name
    {
        edits.push((place.clone(), json!(name).to_string()));
    }
    if let Some(addition) = put_in.addition {
        edits.extend(match body.is_text {
            true => text_as_list(body, addition),
            false => into_list(body, addition),
        });
    }
    edited(body.text, edits)
}

/// The request with another model name only; `None` if it names no model.
pub(super) fn renamed(text: &str, model: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Named<'a> {
        #[serde(borrow)]
        model: &'a RawValue,
    }
    let named: Named<'_> = serde_json::from_str(text).ok()?;
    Some(edited(text, vec![(place(text, named.model.get()), json!(model).to_string())]))
}

/// Applies `edits` to `text`.
pub(super) fn edited(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|(place, _)| place.start);
    let mut changed = String::with_capacity(text.len());
    let mut at = 0;
    for (place, put) in edits {
        changed.push_str(&text[at..place.start]);
        changed.push_str(&put);
        at = place.end;
    }
    changed.push_str(&text[at..]);
    changed
}

fn into_list(body: &ClientBody<'_>, addition: &Addition) -> Vec<Edit> {
    let message = body.messages[body.user_at].0.clone();
    let before: String = (addition.before.iter())
        .map(|message| format!("{},", wire_message(body.api, message)))
        .collect();
    let mut edits = vec![(message.start..message.start, before)];
    edits.extend(earlier(body, &addition.earlier));
    edits.extend(beside(body, body.user_at, &addition.beside));
    edits
}

/// Turns a string input into a list if something is added.
fn text_as_list(body: &ClientBody<'_>, addition: &Addition) -> Vec<Edit> {
    if addition.before.is_empty() && addition.beside.is_empty() {
        return Vec::new();
    }
    let place = body.messages[body.user_at].0.clone();
    let before: String = (addition.before.iter())
        .map(|message| format!("{},", wire_message(body.api, message)))
        .collect();
    let text = in_front(&addition.beside, &body.text[place.clone()]);
    vec![(place, format!(r#"[{before}{{"role":"user","content":{text}}}]"#))]
}

#[derive(Deserialize)]
struct Content<'a> {
    #[serde(borrow)]
    content: &'a RawValue,
}

/// Insertions into earlier messages, which are found by their text.
fn earlier(body: &ClientBody<'_>, texts: &[(String, Vec<String>)]) -> Vec<Edit> {
    let places: Vec<usize> = body.user_messages().collect();
    let users: Vec<String> =
        places.iter().map(|at| said(&body.messages[*at].1["content"]).trim().to_owned()).collect();
    let found = place_messages(texts.iter().map(|(message, _)| message.trim()), &users);
    let placed = texts.iter().zip(found).filter_map(|((_, texts), at)| Some((places[at?], texts)));
    placed.filter_map(|(at, texts)| beside(body, at, texts)).collect()
}

/// Inserts `texts` before the text of the message at that index.
fn beside(body: &ClientBody<'_>, at: usize, texts: &[String]) -> Option<Edit> {
    if texts.is_empty() {
        return None;
    }
    let message = &body.text[body.messages[at].0.clone()];
    let raw = serde_json::from_str::<Content<'_>>(message).ok()?.content.get();
    let whole = place(body.text, raw);
    let parts: Vec<String> =
        texts.iter().map(|text| text_part(body.api, text).to_string()).collect();
    let parts = parts.join(",");
    match (raw.as_bytes().first()?, body.api) {
        (b'[', _) => {
            let items: Vec<&RawValue> = serde_json::from_str(raw).ok()?;
            let is_result = |item: &&&RawValue| {
                let part: Option<Value> = serde_json::from_str(item.get()).ok();
                part.is_some_and(|part| part["type"] == "tool_result")
            };
            // Providers require tool results first.
            let results = items.iter().take_while(is_result).count();
            let (at, put) = match results {
                0 if items.is_empty() => (whole.start + 1, parts),
                0 => (whole.start + 1, format!("{parts},")),
                some => (place(body.text, items[some - 1].get()).end, format!(",{parts}")),
            };
            Some((at..at, put))
        }
        (b'"', Api::Messages) => {
            Some((whole, format!(r#"[{parts},{{"type":"text","text":{raw}}}]"#)))
        }
        // Many OpenAI-compatible servers accept only a string.
        (b'"', _) => Some((whole, in_front(texts, raw))),
        _ => None,
    }
}

/// A JSON string with `texts` prepended.
fn in_front(texts: &[String], raw: &str) -> String {
    if texts.is_empty() {
        return raw.to_owned();
    }
    let quoted = json!(texts.join("\n\n") + "\n\n").to_string();
    format!("{}{}", &quoted[..quoted.len() - 1], &raw[1..])
}

fn text_part(api: Api, text: &str) -> Value {
    let kind = if api == Api::Responses { "input_text" } else { "text" };
    json!({"type": kind, "text": text})
}

fn wire_message(api: Api, message: &Message) -> Value {
    let texts = message.content.iter().filter_map(|block| match block {
        Block::Text { text, .. } => Some(text.as_str()),
        Block::Image { .. } | Block::ToolUse { .. } | Block::ToolResult { .. } => None,
    });
    let role = match message.role {
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    let content = match api {
        Api::Messages => texts.map(|text| text_part(api, text)).collect(),
        Api::ChatCompletions | Api::Responses => json!(texts.collect::<Vec<_>>().join("\n\n")),
    };
    json!({"role": role, "content": content})
}
