//! Anthropic's Messages API: the request, and the events of the reply.
//!
//! Cache breakpoints are placed where the engine put them. Tools precede the system text in the provider's cache, so
//! a breakpoint there covers them, too.
//!
//! Invariant: at most [`BREAKPOINTS_MAX`] breakpoints are sent; of more, the last ones.

use std::collections::VecDeque;

use reqwest::header::{HeaderMap, HeaderValue, InvalidHeaderValue};
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use sse_stream::Sse;
use throughline_engine::failure::UpstreamFault;
use throughline_engine::model::{Block, ModelEvent, ModelRequest, Role, StopReason, Usage};

use super::reply::{self, Problem};
use super::{ModelConfig, conversation};

/// Path of the endpoint.
pub(super) const PATH: &str = "/v1/messages";
const API_VERSION: &str = "2023-06-01";
/// The provider rejects more.
const BREAKPOINTS_MAX: usize = 4;

pub(super) fn headers(config: &ModelConfig) -> Result<HeaderMap, InvalidHeaderValue> {
    let mut headers = HeaderMap::new();
    headers.insert("anthropic-version", HeaderValue::from_static(API_VERSION));
    if let Some(key) = &config.api_key {
        let mut key = HeaderValue::from_str(key.expose_secret())?;
        key.set_sensitive(true);
        headers.insert("x-api-key", key);
    }
    Ok(headers)
}

pub(super) fn body(config: &ModelConfig, request: &ModelRequest) -> Value {
    let turns = conversation::merge_roles(&request.messages);
    let system: Vec<_> =
        request.system.iter().filter(|block| !block.text.trim().is_empty()).collect();
    let in_system = system.iter().filter(|block| block.cache_breakpoint).count();
    let in_turns = turns
        .iter()
        .flat_map(|(_, blocks)| blocks)
        .filter(|block| matches!(block, Block::Text { cache_breakpoint: true, .. }));
    let in_turns = in_turns.count();
    let marked_in_turns = in_turns > 0;
    let mut surplus = (in_system + in_turns).saturating_sub(BREAKPOINTS_MAX);
    let mut text = |text: &str, breakpoint: bool| {
        let mut block = json!({"type": "text", "text": text});
        if breakpoint && surplus > 0 {
            surplus -= 1;
        } else if breakpoint {
            block["cache_control"] = json!({"type": "ephemeral"});
        }
        block
    };
    let system: Vec<Value> =
        system.iter().map(|block| text(&block.text, block.cache_breakpoint)).collect();
    let mut ids = conversation::CallIds::default();
    let mut content = |block: &Block| match block {
        Block::Text { text: words, cache_breakpoint } => text(words, *cache_breakpoint),
        Block::Image { media_type, data } => {
            let source = json!({"type": "base64", "media_type": media_type, "data": data});
            json!({"type": "image", "source": source})
        }
        Block::ToolUse { id, name, input } => {
            let id = ids.of_call(id);
            json!({"type": "tool_use", "id": id, "name": name, "input": object(input)})
        }
        Block::ToolResult { id, content, is_error } => {
            let id = ids.of_result(id);
            let mut block = json!({"type": "tool_result", "tool_use_id": id, "content": content});
            if *is_error {
                block["is_error"] = json!(true);
            }
            block
        }
    };
    let messages: Vec<Value> = (turns.iter())
        .map(|(role, blocks)| {
            let blocks: Vec<Value> = blocks.iter().map(|block| content(block)).collect();
            json!({"role": role_name(*role), "content": blocks})
        })
        .collect();
    let mut body = json!({
        "model": config.model, "max_tokens": request.reply_tokens_max, "stream": true,
    });
    let tools: Vec<Value> = (request.tools.iter())
        .map(|tool| {
            json!({"name": tool.name, "description": tool.description, "input_schema": tool.input_schema})
        })
        .collect();
    if !tools.is_empty() {
        body["tools"] = json!(tools);
    }
    if !system.is_empty() {
        body["system"] = json!(system);
    }
    if config.sends_temperature {
        body["temperature"] = conversation::temperature(request);
    }
    body["messages"] = json!(messages);
    if in_system == 0 && !marked_in_turns {
        mark_ends(&mut body);
    }
    body
}

/// Sets cache breakpoints if the request has none: after the system text or tools, and after the last two user
/// messages. Requests grow at their end, so the next one hits the last breakpoint.
fn mark_ends(body: &mut Value) {
    let frame = if body["system"].is_array() { "system" } else { "tools" };
    let mut marked: Vec<&mut Value> = Vec::new();
    if let Value::Object(parts) = body {
        for (name, part) in parts.iter_mut() {
            let Value::Array(list) = part else { continue };
            if name == frame {
                marked.extend(list.last_mut());
            } else if name == "messages" {
                let users = list.iter_mut().rev().filter(|message| message["role"] == "user");
                let ends = users.take(2).filter_map(|user| user["content"].as_array_mut());
                marked.extend(ends.filter_map(|content| content.last_mut()));
            }
        }
    }
    for block in marked {
        block["cache_control"] = json!({"type": "ephemeral"});
    }
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Assistant => "assistant",
    }
}

/// The provider accepts only objects as arguments.
fn object(input: &Value) -> Value {
    match input {
        Value::Object(_) => input.clone(),
        Value::Null => json!({}),
        other => json!({"input": other}),
    }
}

#[derive(Default)]
pub(super) struct Reader {
    call: Option<Call>,
    usage: Usage,
    stop: Option<StopReason>,
}

struct Call {
    index: u64,
    id: String,
    name: String,
    arguments: String,
}

impl reply::Reader for Reader {
    fn read(&mut self, event: &Sse, out: &mut VecDeque<ModelEvent>) -> Result<(), Problem> {
        if let Some(problem) = Self::problem(event) {
            return Err(problem);
        }
        let data = reply::json(event)?;
        match data["type"].as_str().unwrap_or_default() {
            "message_start" => self.count(&data["message"]["usage"], out),
            "content_block_start" => self.start(&data, out),
            "content_block_delta" => self.delta(&data, out)?,
            "content_block_stop" => self.stop(&data, out),
            "message_delta" => {
                self.stop = data["delta"]["stop_reason"].as_str().map(stop_reason).or(self.stop);
                self.count(&data["usage"], out);
            }
            "message_stop" => {
                let reason = self.stop.take().unwrap_or(StopReason::EndTurn);
                out.push_back(ModelEvent::Done(reason));
            }
            // New kinds of events are added from time to time and must be ignored.
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, _out: &mut VecDeque<ModelEvent>) -> Result<(), Problem> {
        Err((UpstreamFault::Malformed, "the reply was cut off before message_stop".to_owned()))
    }

    fn problem(event: &Sse) -> Option<Problem> {
        let data = event.data.as_deref()?;
        if event.event.as_deref() != Some("error") && !data.starts_with("{\"type\":\"error\"") {
            return None;
        }
        let data: Value = serde_json::from_str(data).unwrap_or_default();
        let fault = match data["error"]["type"].as_str().unwrap_or_default() {
            "rate_limit_error" => UpstreamFault::RateLimited,
            "authentication_error" | "permission_error" => UpstreamFault::Unauthorized,
            "invalid_request_error" => UpstreamFault::Rejected,
            "not_found_error" => UpstreamFault::NotFound,
            "request_too_large" => UpstreamFault::TooLarge,
            _ => UpstreamFault::Failed,
        };
        let message = data["error"]["message"].as_str().unwrap_or("it reported an error");
        Some((fault, message.to_owned()))
    }
}

impl Reader {
    fn start(&mut self, data: &Value, out: &mut VecDeque<ModelEvent>) {
        let block = &data["content_block"];
        match block["type"].as_str().unwrap_or_default() {
            "tool_use" => {
                let text = |key: &str| block[key].as_str().unwrap_or_default().to_owned();
                let arguments = match &block["input"] {
                    Value::Object(map) if !map.is_empty() => block["input"].to_string(),
                    _ => String::new(),
                };
                let index = data["index"].as_u64().unwrap_or_default();
                self.call = Some(Call { index, id: text("id"), name: text("name"), arguments });
            }
            "text" => push_text(&block["text"], out),
            _ => {}
        }
    }

    fn delta(&mut self, data: &Value, out: &mut VecDeque<ModelEvent>) -> Result<(), Problem> {
        let delta = &data["delta"];
        match delta["type"].as_str().unwrap_or_default() {
            "text_delta" => push_text(&delta["text"], out),
            "input_json_delta" => {
                let call = self.call.as_mut().filter(|call| data["index"] == call.index);
                let Some(call) = call else {
                    let problem = "received arguments without an open tool call".to_owned();
                    return Err((UpstreamFault::Malformed, problem));
                };
                call.arguments.push_str(delta["partial_json"].as_str().unwrap_or_default());
            }
            _ => {}
        }
        Ok(())
    }

    fn stop(&mut self, data: &Value, out: &mut VecDeque<ModelEvent>) {
        if let Some(call) = self.call.take_if(|call| data["index"] == call.index) {
            let input = reply::arguments(call.arguments);
            out.push_back(ModelEvent::ToolUse { id: call.id, name: call.name, input });
        }
    }

    /// Updates the counts; later ones replace earlier ones. The provider's input tokens exclude cached ones, ours
    /// include them.
    fn count(&mut self, usage: &Value, out: &mut VecDeque<ModelEvent>) {
        let read = |key: &str, before: u64| usage[key].as_u64().unwrap_or(before);
        let before = self.usage;
        let plain_before =
            before.input_tokens - before.cache_read_tokens - before.cache_write_tokens;
        let cache_read_tokens = read("cache_read_input_tokens", before.cache_read_tokens);
        let cache_write_tokens = read("cache_creation_input_tokens", before.cache_write_tokens);
        let plain = read("input_tokens", plain_before);
        self.usage = Usage {
            input_tokens: plain + cache_read_tokens + cache_write_tokens,
            output_tokens: read("output_tokens", before.output_tokens),
            cache_read_tokens,
            cache_write_tokens,
        };
        if usage.is_object() {
            out.push_back(ModelEvent::Usage(self.usage));
        }
    }
}

/// Token counts of a non-streamed reply.
pub(super) fn whole_usage(usage: &Value) -> Option<Usage> {
    let mut reader = Reader::default();
    reader.count(usage, &mut VecDeque::new());
    usage.is_object().then_some(reader.usage)
}

fn push_text(text: &Value, out: &mut VecDeque<ModelEvent>) {
    if let Some(text) = text.as_str().filter(|text| !text.is_empty()) {
        out.push_back(ModelEvent::Text(text.to_owned()));
    }
}

pub(super) fn stop_reason(reason: &str) -> StopReason {
    match reason {
        "tool_use" => StopReason::ToolUse,
        "max_tokens" | "model_context_window_exceeded" => StopReason::MaxTokens,
        "refusal" => StopReason::Refusal,
        _ => StopReason::EndTurn,
    }
}
