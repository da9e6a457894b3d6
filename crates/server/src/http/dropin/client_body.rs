//! A client's request, parsed as far as memory needs it.
//!
//! Everything found keeps its range in the text, so that [`super::splice`] can insert without reserialising.
//!
//! Invariant: parsing never changes the request.

use std::ops::Range;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use throughline_engine::request::ClientRequest;
use throughline_engine::tokens;
use throughline_engine::trace::ModelParameters;
use throughline_upstream::model::Api;

use super::housekeeping::is_housekeeping;
use super::user_words::{answers_tools, is_context, said, words};

/// A request and what was found in it.
pub(super) struct ClientBody<'a> {
    /// The request as sent.
    pub text: &'a str,
    /// API of the request.
    pub api: Api,
    /// The messages with their ranges in the text.
    pub messages: Vec<(Range<usize>, Value)>,
    /// Index of the user's last message.
    pub user_at: usize,
    /// Whether the input is a single string instead of a list.
    pub is_text: bool,
    /// The named model with its range.
    pub model: Option<(Range<usize>, String)>,
    /// Whether to stream the response.
    pub streams: bool,
    /// The client's own instructions.
    pub system: String,
    /// Model parameters of the request.
    pub asked: ModelParameters,
}

/// Why a request cannot be used for memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Unusable {
    /// It cannot be parsed.
    Unreadable(String),
    /// It has no user message.
    NoUserMessage,
    /// The program asks about the conversation itself, for example for a title.
    Housekeeping,
}

#[derive(Deserialize)]
struct Outline<'a> {
    #[serde(borrow, default)]
    messages: Vec<&'a RawValue>,
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
    #[serde(borrow, default)]
    model: Option<&'a RawValue>,
    #[serde(default)]
    stream: Option<bool>,
    #[serde(default)]
    system: Value,
    #[serde(default)]
    instructions: Value,
    #[serde(default)]
    max_tokens: Value,
    #[serde(default)]
    max_completion_tokens: Value,
    #[serde(default)]
    max_output_tokens: Value,
    #[serde(default)]
    temperature: Value,
}

impl<'a> ClientBody<'a> {
    /// Parses `text`.
    pub(super) fn read(api: Api, text: &'a str) -> Result<Self, Unusable> {
        let unreadable = |error: serde_json::Error| Unusable::Unreadable(error.to_string());
        let outline: Outline<'a> = serde_json::from_str(text).map_err(unreadable)?;
        let mut is_text = false;
        let raw = match (api, outline.input) {
            (Api::Responses, Some(input)) if input.get().starts_with('"') => {
                is_text = true;
                vec![input]
            }
            (Api::Responses, Some(input)) => {
                serde_json::from_str(input.get()).map_err(unreadable)?
            }
            _ => outline.messages,
        };
        let mut messages = Vec::new();
        for message in raw {
            let mut value: Value = serde_json::from_str(message.get()).map_err(unreadable)?;
            if is_text {
                value = json!({"role": "user", "content": value});
            }
            messages.push((place(text, message.get()), value));
        }
        let user_at = users_last(&messages).ok_or(Unusable::NoUserMessage)?;
        let model = outline.model.and_then(|model| {
            Some((place(text, model.get()), serde_json::from_str(model.get()).ok()?))
        });
        let mut system = words(&outline.system) + &words(&outline.instructions);
        for (_, message) in messages.iter().filter(|(_, message)| instructs(message)) {
            system.push_str(&words(&message["content"]));
        }
        if is_housekeeping(&system, &messages[user_at].1["content"]) {
            return Err(Unusable::Housekeeping);
        }
        let most = [outline.max_tokens, outline.max_completion_tokens, outline.max_output_tokens];
        let most = most.iter().find_map(Value::as_u64);
        let asked = ModelParameters {
            reply_tokens_max: most.and_then(|most| most.try_into().ok()),
            temperature: outline.temperature.as_f64(),
        };
        let streams = outline.stream == Some(true);
        Ok(Self { text, api, messages, user_at, is_text, model, streams, system, asked })
    }

    /// The model that the request names.
    pub(super) fn model_name(&self) -> Option<&str> {
        self.model.as_ref().map(|(_, name)| name.as_str())
    }

    /// The request as the engine needs it.
    pub(super) fn request(&self) -> ClientRequest {
        let text = |(_, message): &(_, Value)| speaks(message).then(|| words(&message["content"]));
        let (context, conversation) = self.messages[..self.user_at].split_at(self.begins());
        let texts = conversation.iter().filter_map(text);
        let earlier: Vec<String> = texts.filter(|text| !text.trim().is_empty()).collect();
        let users =
            self.user_messages().map(|at| said(&self.messages[at].1["content"]).trim().to_owned());
        let (users, message) = (users.collect(), self.message());
        let context: u32 = context.iter().filter_map(text).map(|text| tokens::count(&text)).sum();
        let texts = earlier.iter().chain([&self.system, &message]);
        let tokens = context + texts.map(|text| tokens::count(text)).sum::<u32>();
        ClientRequest { message, earlier, users, body: self.text.to_owned(), tokens }
    }

    /// Where the conversation begins. What the client says of its surroundings before is not part of it.
    fn begins(&self) -> usize {
        let of_conversation =
            |(_, message): &(_, Value)| speaks(message) && !is_clients_context(message);
        self.messages[..self.user_at].iter().position(of_conversation).unwrap_or(self.user_at)
    }

    /// Indexes of the user's earlier messages that have text.
    pub(super) fn user_messages(&self) -> impl Iterator<Item = usize> {
        let before = self.messages[..self.user_at].iter().enumerate().skip(self.begins());
        let of_user = before.filter(|(_, (_, message))| {
            message["role"] == "user" && !said(&message["content"]).trim().is_empty()
        });
        of_user.map(|(at, _)| at)
    }

    /// The user's last message; if it has no text, the types of its parts.
    pub(super) fn message(&self) -> String {
        let content = &self.messages[self.user_at].1["content"];
        let text = said(content);
        if !text.trim().is_empty() {
            return text.trim().to_owned();
        }
        let kinds = content.as_array().into_iter().flatten();
        let kinds: Vec<&str> = kinds.filter_map(|part| part["type"].as_str()).collect();
        format!("[{}]", kinds.join(", "))
    }
}

impl Unusable {
    /// Code for the response header.
    pub(super) fn code(&self) -> &'static str {
        match self {
            Self::Unreadable(_) => "unreadable",
            Self::NoUserMessage => "no_user_message",
            Self::Housekeeping => "housekeeping",
        }
    }

    /// Reason for the response header.
    pub(super) fn reason(&self) -> String {
        match self {
            Self::Unreadable(reason) => reason.clone(),
            Self::NoUserMessage => "the request has no user message".into(),
            Self::Housekeeping => "the program asks about the conversation itself".into(),
        }
    }
}

/// The named model and whether to stream; defaults if the request cannot be parsed.
pub(super) fn outline(bytes: &[u8]) -> (Option<String>, bool) {
    #[derive(Deserialize)]
    struct Named {
        model: Option<String>,
        stream: Option<bool>,
    }
    let named: Option<Named> = serde_json::from_slice(bytes).ok();
    named.map_or((None, false), |named| (named.model, named.stream == Some(true)))
}

/// Range of `part`, a slice of `whole`.
pub(super) fn place(whole: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr().addr() - whole.as_ptr().addr();
    start..start + part.len()
}

fn instructs(message: &Value) -> bool {
    message["role"] == "system" || message["role"] == "developer"
}

fn speaks(message: &Value) -> bool {
    message["role"] == "user" || message["role"] == "assistant"
}

fn is_clients_context(message: &Value) -> bool {
    message["role"] == "user" && is_context(&message["content"])
}

/// Index of the user's last message. Context that a client adds behind it is passed over.
fn users_last(messages: &[(Range<usize>, Value)]) -> Option<usize> {
    let last = messages.iter().rposition(|(_, message)| is_users(message))?;
    let behind = messages[..=last].iter().rposition(|(_, message)| !is_clients_context(message));
    Some(behind.filter(|at| is_users(&messages[*at].1)).unwrap_or(last))
}

/// Whether a message is from the user and not only tool results.
fn is_users(message: &Value) -> bool {
    let content = &message["content"];
    let shows = || {
        let parts = content.as_array().into_iter().flatten();
        parts.into_iter().any(|part| part["type"] != "text" && part["type"] != "input_text")
    };
    message["role"] == "user"
        && (!said(content).trim().is_empty() || (!answers_tools(content) && shows()))
}

#[cfg(test)]
mod fuzzing {
    use throughline_testkit::fuzz;

    use super::*;

    #[test]
    fn any_request_of_a_client_is_read_or_handed_on() {
        let inputs = [
            r#"{"model":"m","stream":true,"messages":[{"role":"system","content":"s"},{"role":"user","content":"Hi"},
                {"role":"assistant","content":null,"tool_calls":[{"id":"c","function":{"name":"t","arguments":"{}"}}]},
                {"role":"tool","tool_call_id":"c","content":"r"},{"role":"user","content":[{"type":"text","text":"Go on"},
                {"type":"image_url","image_url":{"url":"data:"}}]}],"max_tokens":10,"temperature":0.31}"#,
            r#"{"model":"m","system":[{"type":"text","text":"s"}],"messages":[{"role":"user","content":[{"type":
                "tool_result","tool_use_id":"c","content":"r"},{"type":"text","text":"é"}]}],"max_tokens":1}"#,
            r#"{"model":"m","input":"Hi","instructions":"i","previous_response_id":"resp_1","max_output_tokens":5}"#,
            r#"{"model":"m","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"Hi"}]},
                {"type":"function_call_output","call_id":"c","output":"r"}]}"#,
        ];
        fuzz::target_text(env!("CARGO_MANIFEST_DIR"), "client-bodies", &inputs, |text| {
            outline(text.as_bytes());
            for api in [Api::ChatCompletions, Api::Responses, Api::Messages] {
                let Ok(body) = ClientBody::read(api, text) else { continue };
                let _ = (body.request(), body.message(), body.model_name());
                body.user_messages().for_each(drop);
            }
        });
    }
}
