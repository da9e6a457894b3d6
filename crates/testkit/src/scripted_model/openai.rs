//! OpenAI's chat completions: validates requests as the provider does, and writes replies.

use serde_json::{Value, json};

use super::Recorded;
use super::anthropic::{bad, is_plain, list, only};
use super::turn::{Step, Stop, halves, usage_of};

/// What is wrong, with the HTTP status.
type Problem = (u16, String);

const FIELDS: [&str; 14] = [
    "model",
    "messages",
    "stream",
    "stream_options",
    "max_tokens",
    "max_completion_tokens",
    "temperature",
    "tools",
    "tool_choice",
    "top_p",
    "stop",
    "user",
    "parallel_tool_calls",
    "seed",
];

pub(super) fn check(request: &Recorded) -> Result<(), Problem> {
    let header = |name: &str| request.headers.get(name).and_then(|value| value.to_str().ok());
    if header("authorization")
        .and_then(|value| value.strip_prefix("Bearer "))
        .is_none_or(str::is_empty)
    {
        return Err((401, "You didn't provide an API key.".to_owned()));
    }
    let body = &request.body;
    only(body, &FIELDS, "")?;
    if body["model"].as_str().is_none_or(str::is_empty) {
        return bad("you must provide a model parameter");
    }
    if body.get("max_tokens").is_some() && body.get("max_completion_tokens").is_some() {
        return bad("set either max_tokens or max_completion_tokens");
    }
    for limit in ["max_tokens", "max_completion_tokens"] {
        if body.get(limit).is_some_and(|most| most.as_u64().is_none_or(|most| most == 0)) {
            return bad(&format!("{limit} must be at least 1"));
        }
    }
    if body.get("temperature").is_some_and(|t| t.as_f64().is_none_or(|t| !(0.0..=2.0).contains(&t)))
    {
        return bad("temperature must be between 0 and 2");
    }
    if body.get("tools").is_some_and(|tools| list(tools).is_empty()) {
        return bad("[] is too short - 'tools'");
    }
    for tool in list(&body["tools"]) {
        only(tool, &["type", "function"], "tools")?;
        only(
            &tool["function"],
            &["name", "description", "parameters", "strict"],
            "tools.function",
        )?;
        let name = tool["function"]["name"].as_str().unwrap_or_default();
        if tool["type"] != "function" || !is_plain(name) || name.len() > 64 {
            return bad(&format!("Invalid 'tools.function.name': {name:?}"));
        }
        if tool["function"]["parameters"]["type"] != "object" {
            return bad(&format!(
                "Invalid schema for function '{name}': schema must be of type object"
            ));
        }
    }
    check_messages(list(&body["messages"]))
}

fn check_messages(messages: &[Value]) -> Result<(), Problem> {
    if messages.is_empty() {
        return bad("[] is too short - 'messages'");
    }
    // Clients may end with instructions, as aider does; ours stand first.
    let messages = match messages {
        [rest @ .., last] if last["role"] == "system" && !rest.is_empty() => rest,
        all => all,
    };
    let mut open: Vec<&str> = Vec::new();
    for (place, message) in messages.iter().enumerate() {
        let at = format!("messages.[{place}]");
        let role = message["role"].as_str().unwrap_or_default();
        if role != "tool" && !open.is_empty() {
            return bad(&format!(
                "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id': {}",
                open.join(", ")
            ));
        }
        let words = message["content"].as_str().is_some_and(|text| !text.is_empty());
        match role {
            "system" | "user" => {
                only(message, &["role", "content"], &at)?;
                let parts = list(&message["content"]);
                let seen = role == "user" && !parts.is_empty() && parts.iter().all(is_part);
                if !(words || seen) || (role == "system" && place > 0) {
                    return bad(&format!(
                        "{at}: content must not be empty, and the system speaks first"
                    ));
                }
            }
            "assistant" => {
                only(message, &["role", "content", "tool_calls"], &at)?;
                open = check_calls(message, &at)?;
                if !words && open.is_empty() {
                    return bad(&format!("{at}: an assistant message needs content or tool_calls"));
                }
            }
            "tool" => {
                only(message, &["role", "content", "tool_call_id"], &at)?;
                let id = message["tool_call_id"].as_str().unwrap_or_default();
                let Some(known) = open.iter().position(|call| *call == id) else {
                    return bad(&format!(
                        "{at}: 'tool' must be a response to a preceding message with 'tool_calls'"
                    ));
                };
                if !message["content"].is_string() {
                    return bad(&format!("{at}: content is required"));
                }
                open.remove(known);
            }
            other => return bad(&format!("Invalid value: {other:?} for {at}.role")),
        }
    }
    match messages.last().map(|message| &message["role"]) {
        Some(role) if open.is_empty() && (role == "user" || role == "tool") => Ok(()),
        _ => bad("the last message must be the user's or a tool's"),
    }
}

/// Whether a part of a user's message is a text or a picture.
fn is_part(part: &Value) -> bool {
    let text = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
    match part["type"].as_str() {
        Some("text") => text(&part["text"]),
        Some("image_url") => text(&part["image_url"]["url"]),
        _ => false,
    }
}

fn check_calls<'a>(message: &'a Value, at: &str) -> Result<Vec<&'a str>, Problem> {
    let mut ids = Vec::new();
    for call in list(&message["tool_calls"]) {
        only(call, &["id", "type", "function"], at)?;
        only(&call["function"], &["name", "arguments"], at)?;
        let id = call["id"].as_str().unwrap_or_default();
        if id.is_empty() || ids.contains(&id) || call["type"] != "function" {
            return bad(&format!("{at}.tool_calls: ids must be unique, of type function"));
        }
        if !call["function"]["arguments"].is_string() {
            return bad(&format!("{at}.tool_calls.function.arguments: expected a string"));
        }
        ids.push(id);
    }
    Ok(ids)
}

/// A non-streamed reply.
pub(super) fn whole(request: &Value, steps: &[Step]) -> Value {
    let words: String = steps.iter().filter_map(Step::words).collect();
    let calls: Vec<Value> = steps
        .iter()
        .filter_map(|step| match step {
            Step::Call { id, name, arguments } => Some(json!({
                "id": id, "type": "function", "function": {"name": name, "arguments": arguments},
            })),
            _ => None,
        })
        .collect();
    let mut message = json!({"role": "assistant", "content": words, "refusal": null});
    let reason = if calls.is_empty() { "stop" } else { "tool_calls" };
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    let [input, output, read, write] = usage_of(steps).unwrap_or_default();
    let input = input + read + write;
    json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 0, "model": request["model"],
        "choices": [{"index": 0, "message": message, "logprobs": null, "finish_reason": reason}],
        "usage": {
            "prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output,
            "prompt_tokens_details": {"cached_tokens": read},
        },
    })
}

pub(super) struct Writer {
    model: Value,
    with_usage: bool,
    calls: u64,
}

impl Writer {
    pub(super) fn new(request: &Value) -> Self {
        let with_usage = request["stream_options"]["include_usage"] == true;
        Self { model: request["model"].clone(), with_usage, calls: 0 }
    }

    fn chunk(&self, delta: &Value, finish: Option<&str>) -> String {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        self.event(&json!([choice]), None)
    }

    fn event(&self, choices: &Value, usage: Option<Value>) -> String {
        let mut data = json!({
            "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0, "model": self.model,
            "choices": choices,
        });
        if self.with_usage {
            data["usage"] = json!(usage);
        }
        format!("data: {data}\n\n")
    }
}

impl super::turn::Writer for Writer {
    fn begin(&mut self, _usage: Option<[u64; 4]>) -> String {
        self.chunk(&json!({"role": "assistant", "content": ""}), None)
    }

    fn text(&mut self, text: &str) -> String {
        self.chunk(&json!({"content": text}), None)
    }

    fn call(&mut self, id: &str, name: &str, arguments: &str) -> String {
        let index = self.calls;
        self.calls += 1;
        let start = json!({
            "index": index, "id": id, "type": "function",
            "function": {"name": name, "arguments": ""},
        });
        let mut out = self.chunk(&json!({"tool_calls": [start]}), None);
        for part in halves(arguments) {
            let part = json!({"index": index, "function": {"arguments": part}});
            out += &self.chunk(&json!({"tool_calls": [part]}), None);
        }
        out
    }

    fn end(&mut self, stop: Stop, usage: Option<[u64; 4]>) -> String {
        let reason = match stop {
            Stop::End => "stop",
            Stop::Tools => "tool_calls",
            Stop::Length => "length",
            Stop::Refusal => "content_filter",
        };
        let mut out = self.chunk(&json!({}), Some(reason));
        if let Some([input, output, read, write]) = usage.filter(|_| self.with_usage) {
            let input = input + read + write;
            let usage = json!({
                "prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output,
                "prompt_tokens_details": {"cached_tokens": read},
            });
            out += &self.event(&json!([]), Some(usage));
        }
        out + "data: [DONE]\n\n"
    }
}
