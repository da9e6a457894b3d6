//! OpenAI's chat completions, as served by OpenAI, Ollama, vLLM, llama.cpp and others.
//!
//! Servers differ: some omit usage, some the final `[DONE]`, some send a tool call in one piece and without an
//! index. All of these are accepted; an incomplete reply is not.
//!
//! Invariant: tool calls are emitted complete and in order, before the reply is done.

use std::collections::VecDeque;

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue, InvalidHeaderValue};
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use sse_stream::Sse;
use throughline_engine::failure::UpstreamFault;
use throughline_engine::model::{Block, ModelEvent, ModelRequest, Role, StopReason, Usage};

use super::reply::{self, Problem};
use super::wire::fault_of;
use super::{ModelConfig, Provider, conversation};

/// Path of the endpoint.
pub(super) const PATH: &str = "/chat/completions";
/// Maximum number of tool calls in a reply.
const CALLS_MAX: usize = 128;

pub(super) fn headers(config: &ModelConfig) -> Result<HeaderMap, InvalidHeaderValue> {
    let mut headers = HeaderMap::new();
    if let Some(key) = &config.api_key {
        let mut key = HeaderValue::from_str(&format!("Bearer {}", key.expose_secret()))?;
        key.set_sensitive(true);
        headers.insert(AUTHORIZATION, key);
    }
    Ok(headers)
}

pub(super) fn body(config: &ModelConfig, request: &ModelRequest) -> Value {
    let system: Vec<&str> = (request.system.iter())
        .map(|block| block.text.as_str())
        .filter(|text| !text.trim().is_empty())
        .collect();
    let mut messages = Vec::new();
    if !system.is_empty() {
        messages.push(json!({"role": "system", "content": system.join("\n\n")}));
    }
    for (role, blocks) in conversation::merge_roles(&request.messages) {
        match role {
            Role::User => user_messages(&blocks, &mut messages),
            Role::Assistant => messages.push(assistant_message(&blocks)),
        }
    }
    let mut body = json!({
        "model": config.model, "messages": messages, "stream": true,
        "stream_options": {"include_usage": true},
    });
    // OpenAI's newer models reject the old name; other servers know only the old one.
    let own = config.base_url.starts_with(Provider::OpenAi.default_base_url());
    let limit = if own { "max_completion_tokens" } else { "max_tokens" };
    body[limit] = json!(request.reply_tokens_max);
    if config.sends_temperature {
        body["temperature"] = conversation::temperature(request);
    }
    let tools: Vec<Value> = (request.tools.iter())
        .map(|tool| {
            json!({"type": "function", "function": {
                "name": tool.name, "description": tool.description, "parameters": tool.input_schema,
            }})
        })
        .collect();
    if !tools.is_empty() {
        body["tools"] = json!(tools);
    }
    body
}

/// Each tool result is a message of its own in this format.
fn user_messages(blocks: &[&Block], messages: &mut Vec<Value>) {
    for block in blocks {
        if let Block::ToolResult { id, content, .. } = block {
            messages.push(json!({"role": "tool", "tool_call_id": id, "content": content}));
        }
    }
    // A list of parts only where it is needed: many servers take nothing but a string.
    if blocks.iter().any(|block| matches!(block, Block::Image { .. })) {
        messages.push(json!({"role": "user", "content": parts(blocks)}));
    } else if let Some(text) = joined_text(blocks) {
        messages.push(json!({"role": "user", "content": text}));
    }
}

fn parts(blocks: &[&Block]) -> Vec<Value> {
    let part = |block: &&Block| match block {
        Block::Text { text, .. } => Some(json!({"type": "text", "text": text})),
        Block::Image { media_type, data } => {
            let url = format!("data:{media_type};base64,{data}");
            Some(json!({"type": "image_url", "image_url": {"url": url}}))
        }
        Block::ToolUse { .. } | Block::ToolResult { .. } => None,
    };
    blocks.iter().filter_map(part).collect()
}

fn assistant_message(blocks: &[&Block]) -> Value {
    let calls: Vec<Value> = (blocks.iter())
        .filter_map(|block| match block {
            Block::ToolUse { id, name, input } => Some(json!({
                "id": id, "type": "function",
                "function": {"name": name, "arguments": input.to_string()},
            })),
            _ => None,
        })
        .collect();
    let mut message = json!({"role": "assistant", "content": joined_text(blocks)});
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    message
}

fn joined_text(blocks: &[&Block]) -> Option<String> {
    let texts: Vec<&str> = (blocks.iter())
        .filter_map(|block| match block {
            Block::Text { text, .. } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

#[derive(Default)]
pub(super) struct Reader {
    calls: Vec<Call>,
    stop: Option<StopReason>,
    refused: bool,
    done: bool,
}

struct Call {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
}

impl reply::Reader for Reader {
    fn read(&mut self, event: &Sse, out: &mut VecDeque<ModelEvent>) -> Result<(), Problem> {
        if let Some(problem) = Self::problem(event) {
            return Err(problem);
        }
        if event.data.as_deref().is_some_and(|data| data.trim() == "[DONE]") {
            self.stop = self.stop.or(Some(StopReason::EndTurn));
            return self.end(out);
        }
        let data = reply::json(event)?;
        let choice = &data["choices"][0];
        let delta = &choice["delta"];
        for key in ["content", "refusal"] {
            if let Some(text) = delta[key].as_str().filter(|text| !text.is_empty()) {
                self.refused |= key == "refusal";
                out.push_back(ModelEvent::Text(text.to_owned()));
            }
        }
        for part in delta["tool_calls"].as_array().into_iter().flatten() {
            self.assemble(part)?;
        }
        if let Some(reason) = choice["finish_reason"].as_str() {
            self.stop = Some(stop_reason(reason));
        }
        if let Some(usage) = usage(&data["usage"]) {
            out.push_back(ModelEvent::Usage(usage));
        }
        Ok(())
    }

    fn end(&mut self, out: &mut VecDeque<ModelEvent>) -> Result<(), Problem> {
        if self.done {
            return Ok(());
        }
        let Some(mut reason) = self.stop else {
            let problem = "the reply was cut off before its finish_reason".to_owned();
            return Err((UpstreamFault::Malformed, problem));
        };
        if self.refused {
            reason = StopReason::Refusal;
        } else if !self.calls.is_empty() && reason == StopReason::EndTurn {
            reason = StopReason::ToolUse;
        }
        for (place, call) in self.calls.drain(..).enumerate() {
            let id = if call.id.is_empty() { format!("call_{place}") } else { call.id };
            let input = reply::arguments(call.arguments);
            out.push_back(ModelEvent::ToolUse { id, name: call.name, input });
        }
        out.push_back(ModelEvent::Done(reason));
        self.done = true;
        Ok(())
    }

    fn problem(event: &Sse) -> Option<Problem> {
        let data = event.data.as_deref().filter(|data| data.contains("\"error\""))?;
        let data: Value = serde_json::from_str(data).ok()?;
        let error = data.get("error").filter(|error| !error.is_null())?;
        let code = error["code"].as_u64();
        let kind = error["type"].as_str().or(error["code"].as_str()).unwrap_or_default();
        let fault = match (code, kind) {
            (_, "rate_limit_exceeded" | "rate_limit_error") => UpstreamFault::RateLimited,
            (Some(status @ 400..600), _) => {
                u16::try_from(status).map_or(UpstreamFault::Failed, fault_of)
            }
            (_, "invalid_request_error") => UpstreamFault::Rejected,
            _ => UpstreamFault::Failed,
        };
        let message = error["message"].as_str().or(error.as_str());
        Some((fault, message.unwrap_or("it reported an error").to_owned()))
    }
}

impl Reader {
    /// Adds a part to the call with its index; a part with a new id starts a new call.
    fn assemble(&mut self, part: &Value) -> Result<(), Problem> {
        let index = part["index"].as_u64();
        let id = part["id"].as_str().unwrap_or_default();
        let name = part["function"]["name"].as_str().unwrap_or_default();
        let arguments = match &part["function"]["arguments"] {
            Value::String(text) => text.clone(),
            Value::Null => String::new(),
            whole => whole.to_string(),
        };
        let open = self.calls.iter().rposition(|call| call.index == index);
        let open = open.filter(|place| {
            let known = &self.calls[*place].id;
            id.is_empty() || known.is_empty() || known == id
        });
        let Some(place) = open else {
            if self.calls.len() >= CALLS_MAX {
                return Err((UpstreamFault::TooLarge, format!("more than {CALLS_MAX} tool calls")));
            }
            self.calls.push(Call { index, id: id.to_owned(), name: name.to_owned(), arguments });
            return Ok(());
        };
        let call = &mut self.calls[place];
        call.arguments.push_str(&arguments);
        // Some servers repeat id and name in each part.
        for (known, new) in [(&mut call.id, id), (&mut call.name, name)] {
            if known.is_empty() {
                new.clone_into(known);
            }
        }
        Ok(())
    }
}

/// Token counts, if present.
pub(super) fn usage(usage: &Value) -> Option<Usage> {
    Some(Usage {
        input_tokens: usage["prompt_tokens"].as_u64()?,
        output_tokens: usage["completion_tokens"].as_u64().unwrap_or(0),
        cache_read_tokens: usage["prompt_tokens_details"]["cached_tokens"].as_u64().unwrap_or(0),
        cache_write_tokens: 0,
    })
}

pub(super) fn stop_reason(reason: &str) -> StopReason {
    match reason {
        "tool_calls" | "function_call" => StopReason::ToolUse,
        "length" => StopReason::MaxTokens,
        "content_filter" => StopReason::Refusal,
        _ => StopReason::EndTurn,
    }
}
