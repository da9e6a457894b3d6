//! Converts the answer of chat completions to a response, complete or as a stream.
//!
//! Invariant: a stream that the provider completed ends with `response.completed` or `response.incomplete`; one that was
//! cut off or reports an error ends with `response.failed`.

use bytes::Bytes;
use serde_json::Value;
use throughline_engine::model::{StopReason, Usage};

use super::super::openai;
use super::request::custom_input;
use super::{Frames, ResponseWriter};

/// Converts a stream of chat completions to events of a response.
pub struct FromChat {
    writer: ResponseWriter,
    custom: Vec<String>,
    frames: Frames,
    calls: Vec<Call>,
    reasoning: String,
    stop: Option<StopReason>,
    usage: Option<Usage>,
    begun: bool,
    ended: bool,
}

struct Call {
    index: u64,
    /// Index of its output item; `None` for a custom tool, which is written once it is complete.
    at: Option<usize>,
    id: String,
    name: String,
    arguments: String,
}

impl FromChat {
    /// Writes with `writer`; calls of tools in `custom` become custom calls.
    pub fn new(writer: ResponseWriter, custom: Vec<String>) -> Self {
        Self {
            writer,
            custom,
            frames: Frames::default(),
            calls: Vec::new(),
            reasoning: String::new(),
            stop: None,
            usage: None,
            begun: false,
            ended: false,
        }
    }

    /// Converts these bytes and returns the resulting events.
    pub fn stream(&mut self, bytes: &[u8]) -> Bytes {
        let mut out = self.begin();
        for frame in self.frames.take(bytes) {
            out += &self.read(frame.data());
        }
        out.into()
    }

    /// Returns the final events when the provider's stream has ended.
    pub fn end(&mut self) -> Bytes {
        let mut out = self.begin();
        if let Some(rest) = self.frames.rest() {
            out += &self.read(rest.data());
        }
        if !self.ended {
            out += &self.finish();
        }
        out.into()
    }

    fn begin(&mut self) -> String {
        if std::mem::replace(&mut self.begun, true) { String::new() } else { self.writer.begin() }
    }

    fn read(&mut self, data: Option<&str>) -> String {
        let Some(data) = data.filter(|_| !self.ended) else { return String::new() };
        if data == "[DONE]" {
            self.stop = self.stop.or(Some(StopReason::EndTurn));
            return self.finish();
        }
        let Ok(chunk) = serde_json::from_str::<Value>(data) else { return String::new() };
        if let Some(error) = chunk.get("error").filter(|error| !error.is_null()) {
            self.ended = true;
            let message = error["message"].as_str().or(error.as_str());
            return self.writer.fail(message.unwrap_or("the provider reported an error"));
        }
        self.usage = openai::usage(&chunk["usage"]).or(self.usage);
        let choice = &chunk["choices"][0];
        let out = self.delta(&choice["delta"]);
        if let Some(reason) = choice["finish_reason"].as_str() {
            self.stop = Some(openai::stop_reason(reason));
        }
        out
    }

    fn delta(&mut self, delta: &Value) -> String {
        let thought = delta["reasoning_content"].as_str().or(delta["reasoning"].as_str());
        self.reasoning.push_str(thought.unwrap_or_default());
        let mut out = String::new();
        let text = delta["content"].as_str().or(delta["refusal"].as_str());
        let text = text.filter(|text| !text.is_empty());
        if text.is_some() || delta["tool_calls"].is_array() {
            out += &self.flush_reasoning();
        }
        if let Some(text) = text {
            out += &self.writer.text(text);
        }
        for part in delta["tool_calls"].as_array().into_iter().flatten() {
            out += &self.call(part);
        }
        out
    }

    /// Writes the reasoning once it is complete.
    fn flush_reasoning(&mut self) -> String {
        match std::mem::take(&mut self.reasoning) {
            text if text.is_empty() => text,
            text => self.writer.reasoning(&text),
        }
    }

    fn call(&mut self, part: &Value) -> String {
        let index = part["index"].as_u64().unwrap_or(self.calls.len() as u64);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let arguments = match &part["function"]["arguments"] {
            Value::String(text) => text.clone(),
            Value::Null => String::new(),
            whole => whole.to_string(),
        };
        let mut out = String::new();
        let known = self.calls.iter().position(|call| call.index == index);
        let known = known.unwrap_or_else(|| {
            let (mut id, name) = (text(&part["id"]), text(&part["function"]["name"]));
            if id.is_empty() {
                id = format!("call_{index}");
            }
            let at = (!self.custom.contains(&name)).then(|| {
                let (at, events) = self.writer.call(&id, &name);
                out += &events;
                at
            });
            self.calls.push(Call { index, at, id, name, arguments: String::new() });
            self.calls.len() - 1
        });
        let call = &mut self.calls[known];
        call.arguments.push_str(&arguments);
        if let Some(at) = call.at.filter(|_| !arguments.is_empty()) {
            out += &self.writer.arguments(at, &arguments);
        }
        out
    }

    fn finish(&mut self) -> String {
        self.ended = true;
        let Some(stop) = self.stop else {
            return self.writer.fail("the provider's answer was cut off");
        };
        let mut out = self.flush_reasoning();
        for call in std::mem::take(&mut self.calls) {
            out += &match call.at {
                Some(at) => self.writer.end_call(at),
                None => {
                    self.writer.custom_call(&call.id, &call.name, &custom_input(&call.arguments))
                }
            };
        }
        out + &self.writer.end(stop, self.usage)
    }
}

/// Converts a complete answer; `None` if it is not a chat completion.
pub fn whole(mut writer: ResponseWriter, custom: &[String], completion: &[u8]) -> Option<Value> {
    let completion: Value = serde_json::from_slice(completion).ok()?;
    let choice = completion["choices"].get(0)?;
    let message = &choice["message"];
    let thought = message["reasoning_content"].as_str().or(message["reasoning"].as_str());
    if let Some(thought) = thought.filter(|text| !text.is_empty()) {
        writer.reasoning(thought);
    }
    let text = message["content"].as_str().or(message["refusal"].as_str());
    if let Some(text) = text.filter(|text| !text.is_empty()) {
        writer.text(text);
    }
    for call in message["tool_calls"].as_array().into_iter().flatten() {
        let (id, function) = (call["id"].as_str().unwrap_or_default(), &call["function"]);
        let name = function["name"].as_str().unwrap_or_default();
        let arguments = function["arguments"].as_str().unwrap_or_default();
        if custom.iter().any(|known| known == name) {
            writer.custom_call(id, name, &custom_input(arguments));
        } else {
            let (at, _) = writer.call(id, name);
            writer.arguments(at, arguments);
            writer.end_call(at);
        }
    }
    let stop = choice["finish_reason"].as_str().map_or(StopReason::EndTurn, openai::stop_reason);
    Some(writer.whole(stop, openai::usage(&completion["usage"])))
}
