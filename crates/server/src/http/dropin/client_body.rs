//! A client's request, read as far as memory needs it.
//!
//! The text stays the authority: what is found carries its place in it, so that [`super::splice`] can
//! add without writing anything anew.
//!
//! Invariant: reading changes nothing, and understands a field only to look at it.

use std::ops::Range;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use throughline_engine::request::ClientRequest;
use throughline_engine::tokens;
use throughline_engine::trace::Asked;
use throughline_upstream::model::Provider;

use crate::http::problem::Problem;

/// A request and what was found in it.
pub struct ClientBody<'a> {
    /// The request as it came.
    pub text: &'a str,
    /// Whose format it is.
    pub format: Provider,
    /// The conversation, each message with its place.
    pub messages: Vec<(Range<usize>, Value)>,
    /// Which of them is the user's last one.
    pub user_at: usize,
    /// The model that it names, with its place.
    pub model: Option<(Range<usize>, String)>,
    /// Whether the answer is to be streamed.
    pub streams: bool,
    /// The client's own instructions.
    pub system: String,
    /// What it asks of the model beside that.
    pub asked: Asked,
}

#[derive(Deserialize)]
struct Outline<'a> {
    #[serde(borrow, default)]
    messages: Vec<&'a RawValue>,
    #[serde(borrow, default)]
    model: Option<&'a RawValue>,
    #[serde(default)]
    stream: Option<bool>,
    #[serde(default)]
    system: Value,
    #[serde(default)]
    max_tokens: Value,
    #[serde(default)]
    max_completion_tokens: Value,
    #[serde(default)]
    temperature: Value,
}

impl<'a> ClientBody<'a> {
    /// Reads `text`, which is JSON.
    pub fn read(format: Provider, text: &'a str) -> Result<Self, Problem> {
        let outline: Outline<'a> = serde_json::from_str(text)
            .map_err(|error| Problem::invalid("body", error.to_string()))?;
        let mut messages = Vec::new();
        for message in outline.messages {
            let value = serde_json::from_str(message.get())
                .map_err(|error| Problem::invalid("messages", error.to_string()))?;
            messages.push((place(text, message.get()), value));
        }
        let user_at = user_at(&messages)
            .ok_or_else(|| Problem::invalid("messages", "there is none of the user"))?;
        let model = outline.model.and_then(|model| {
            Some((place(text, model.get()), serde_json::from_str(model.get()).ok()?))
        });
        let mut system = words(&outline.system);
        for (_, message) in messages.iter().filter(|(_, message)| instructs(message)) {
            system.push_str(&words(&message["content"]));
        }
        let streams = outline.stream == Some(true);
        let most = outline.max_tokens.as_u64().or(outline.max_completion_tokens.as_u64());
        let asked = Asked {
            reply_tokens_max: most.and_then(|most| most.try_into().ok()),
            temperature: serde_json::from_value(outline.temperature).ok(),
        };
        Ok(Self { text, format, messages, user_at, model, streams, system, asked })
    }

    /// The model that the request names.
    pub fn model_name(&self) -> Option<&str> {
        self.model.as_ref().map(|(_, name)| name.as_str())
    }

    /// What memory needs of it.
    pub fn request(&self) -> ClientRequest {
        let before = || self.messages[..self.user_at].iter().map(|(_, message)| message);
        let said = |message: &&Value| message["role"] == "user" || message["role"] == "assistant";
        let earlier: Vec<String> = before()
            .filter(said)
            .map(|message| words(&message["content"]))
            .filter(|text| !text.trim().is_empty())
            .collect();
        let users = self.user_messages().map(|at| words(&self.messages[at].1["content"]));
        let (users, message) = (users.collect(), self.message());
        let texts = earlier.iter().chain([&self.system, &message]);
        let tokens = texts.map(|text| tokens::count(text)).sum();
        ClientRequest { message, earlier, users, body: self.text.to_owned(), tokens }
    }

    /// The places of the user's earlier messages that have words.
    pub fn user_messages(&self) -> impl Iterator<Item = usize> {
        let before = self.messages[..self.user_at].iter().enumerate();
        let of_user = before.filter(|(_, (_, message))| {
            message["role"] == "user" && !words(&message["content"]).trim().is_empty()
        });
        of_user.map(|(at, _)| at)
    }

    /// The words of the user's last message; of one without words, what it holds.
    pub fn message(&self) -> String {
        let content = &self.messages[self.user_at].1["content"];
        let text = words(content);
        if !text.trim().is_empty() {
            return text;
        }
        let kinds = content.as_array().into_iter().flatten();
        let kinds: Vec<&str> = kinds.filter_map(|part| part["type"].as_str()).collect();
        format!("[{}]", kinds.join(", "))
    }
}

/// The model that a request names, if it can be read at all.
pub fn model_of(bytes: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Named {
        model: Option<String>,
    }
    serde_json::from_slice::<Named>(bytes).ok()?.model
}

/// Where `part`, a slice of `whole`, stands in it.
pub fn place(whole: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr().addr() - whole.as_ptr().addr();
    start..start + part.len()
}

/// Texts of a content, which is a string or a list of parts.
pub fn words(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().filter(|part| part["type"] == "text");
            texts.filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

fn instructs(message: &Value) -> bool {
    message["role"] == "system" || message["role"] == "developer"
}

/// The last message of the user that is more than tool results.
fn user_at(messages: &[(Range<usize>, Value)]) -> Option<usize> {
    let of_user = |(_, message): &(_, Value)| message["role"] == "user";
    let answers_tools = |message: &Value| {
        let parts = message["content"].as_array().into_iter().flatten();
        parts.into_iter().any(|part| part["type"] == "tool_result")
    };
    messages
        .iter()
        .rposition(|message| of_user(message) && !answers_tools(&message.1))
        .or_else(|| messages.iter().rposition(of_user))
}
