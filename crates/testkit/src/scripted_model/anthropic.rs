//! Anthropic's Messages: validates requests as the provider does, and writes replies.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::Recorded;
use super::turn::{Step, Stop, halves, usage_of};

/// What is wrong, with the HTTP status.
type Problem = (u16, String);

const FIELDS: [&str; 13] = [
    "model",
    "max_tokens",
    "messages",
    "system",
    "tools",
    "tool_choice",
    "temperature",
    "stream",
    "stop_sequences",
    "metadata",
    "top_p",
    "top_k",
    "thinking",
];
const BREAKPOINTS_MAX: usize = 4;
/// Ours, and the one that the provider's current SDK sends.
const VERSIONS: [&str; 2] = ["2023-06-01", "2026-10-21"];

pub(super) fn check(request: &Recorded) -> Result<(), Problem> {
    let header = |name: &str| request.headers.get(name).and_then(|value| value.to_str().ok());
    let token = header("authorization").and_then(|value| value.strip_prefix("Bearer "));
    if header("x-api-key").or(token).is_none_or(str::is_empty) {
        return Err((401, "x-api-key header is required".to_owned()));
    }
    if header("anthropic-version").is_none_or(|version| !VERSIONS.contains(&version)) {
        return bad("anthropic-version: header is required");
    }
    if header("content-type").is_none_or(|kind| !kind.starts_with("application/json")) {
        return bad("content-type must be application/json");
    }
    let body = &without_betas(&request.body, header("anthropic-beta").unwrap_or_default());
    only(body, &FIELDS, "")?;
    if body["model"].as_str().is_none_or(str::is_empty) {
        return bad("model: Field required");
    }
    if body["max_tokens"].as_u64().is_none_or(|most| most == 0) {
        return bad("max_tokens: must be at least 1");
    }
    if body.get("temperature").is_some_and(|t| t.as_f64().is_none_or(|t| !(0.0..=1.0).contains(&t)))
    {
        return bad("temperature: range 0..1");
    }
    for (place, block) in list(&body["system"]).iter().enumerate() {
        check_text(block, &format!("system.{place}"))?;
    }
    check_tools(body)?;
    check_messages(body)?;
    let breakpoints = request.body.to_string().matches("\"cache_control\"").count();
    if breakpoints > BREAKPOINTS_MAX {
        return bad(&format!(
            "A maximum of 4 blocks with cache_control may be provided. Found {breakpoints}."
        ));
    }
    Ok(())
}

fn array<'a>(body: &'a mut Value, field: &str) -> Option<&'a mut Vec<Value>> {
    body.get_mut(field)?.as_array_mut()
}

/// The request without what the betas that it names allow beside the plain format. Known are those of Claude Code.
fn without_betas(body: &Value, named: &str) -> Value {
    let has = |beta: &str| named.split(',').any(|one| one.trim().starts_with(beta));
    let mut body = body.clone();
    let allowed = [("context-management-", "context_management"), ("effort-", "output_config")];
    for (_, field) in allowed.into_iter().filter(|(beta, _)| has(beta)) {
        body.as_object_mut().and_then(|body| body.remove(field));
    }
    if let Some(tools) = array(&mut body, "tools").filter(|_| has("advanced-tool-use-")) {
        for tool in tools {
            tool.as_object_mut().and_then(|tool| tool.remove("defer_loading"));
        }
    }
    // Instructions and an effort of their own between the turns.
    if let Some(messages) = array(&mut body, "messages").filter(|_| has("per-turn-control-")) {
        messages.retain(|message| message["role"] != "system");
    }
    body
}

fn check_tools(body: &Value) -> Result<(), Problem> {
    let mut names = HashSet::new();
    for (place, tool) in list(&body["tools"]).iter().enumerate() {
        let at = format!("tools.{place}");
        only(tool, &["name", "description", "input_schema", "cache_control"], &at)?;
        let name = tool["name"].as_str().unwrap_or_default();
        if !is_plain(name) || name.len() > 64 {
            return bad(&format!(
                "{at}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,64}}$'"
            ));
        }
        if !names.insert(name) {
            return bad("tools: Tool names must be unique.");
        }
        if tool["input_schema"]["type"] != "object" {
            return bad(&format!("{at}.input_schema.type: Field required"));
        }
    }
    Ok(())
}

fn check_messages(body: &Value) -> Result<(), Problem> {
    let messages = list(&body["messages"]);
    if messages.is_empty() {
        return bad("messages: at least one message is required");
    }
    let mut open: Vec<String> = Vec::new();
    for (place, message) in messages.iter().enumerate() {
        let at = format!("messages.{place}");
        only(message, &["role", "content"], &at)?;
        let expected = if place % 2 == 0 { "user" } else { "assistant" };
        if message["role"] != expected {
            return bad(&format!("{at}: roles must alternate between \"user\" and \"assistant\""));
        }
        let called = check_content(&message["content"], expected, &mut open, &at)?;
        if !open.is_empty() {
            return bad(&format!(
                "{at}: `tool_use` ids were found without `tool_result` blocks immediately after: {}",
                open.join(", ")
            ));
        }
        open = called;
    }
    if messages.len().is_multiple_of(2) {
        return bad("the last message must be the user's");
    }
    let uses_tools = messages
        .iter()
        .any(|message| list(&message["content"]).iter().any(|block| block["type"] == "tool_use"));
    if uses_tools && list(&body["tools"]).is_empty() {
        return bad("Requests which include `tool_use` or `tool_result` blocks must define tools");
    }
    Ok(())
}

/// Validates one message; removes answered calls from `open` and returns new ones.
fn check_content(
    content: &Value,
    role: &str,
    open: &mut Vec<String>,
    at: &str,
) -> Result<Vec<String>, Problem> {
    if let Some(text) = content.as_str() {
        return if text.is_empty() {
            bad(&format!("{at}: content is empty"))
        } else {
            Ok(Vec::new())
        };
    }
    let blocks = list(content);
    if blocks.is_empty() {
        return bad(&format!("{at}: all messages must have non-empty content"));
    }
    let (mut called, mut words_seen) = (Vec::new(), false);
    for (place, block) in blocks.iter().enumerate() {
        let at = format!("{at}.content.{place}");
        match (role, block["type"].as_str().unwrap_or_default()) {
            (_, "text") => {
                words_seen = true;
                check_text(block, &at)?;
            }
            ("user", "image") => {
                only(block, &["type", "source", "cache_control"], &at)?;
                only(&block["source"], &["type", "media_type", "data"], &at)?;
            }
            ("assistant", "tool_use") => {
                only(block, &["type", "id", "name", "input", "cache_control"], &at)?;
                let id = block["id"].as_str().unwrap_or_default();
                if !is_plain(id) || called.iter().any(|known| known == id) {
                    return bad(&format!(
                        "{at}.id: ids must be unique and match '^[a-zA-Z0-9_-]+$'"
                    ));
                }
                if !block["input"].is_object() {
                    return bad(&format!("{at}.input: Input should be a valid dictionary"));
                }
                called.push(id.to_owned());
            }
            ("user", "tool_result") => {
                only(block, &["type", "tool_use_id", "content", "is_error", "cache_control"], &at)?;
                let id = block["tool_use_id"].as_str().unwrap_or_default();
                let Some(known) = open.iter().position(|call| call == id) else {
                    return bad(&format!(
                        "{at}: unexpected `tool_use_id` found in `tool_result`: {id}"
                    ));
                };
                if words_seen {
                    return bad(&format!("{at}: `tool_result` blocks must come first"));
                }
                open.remove(known);
            }
            (_, kind) => {
                return bad(&format!("{at}: a block of type {kind:?} is not allowed here"));
            }
        }
    }
    Ok(called)
}

fn check_text(block: &Value, at: &str) -> Result<(), Problem> {
    only(block, &["type", "text", "cache_control"], at)?;
    if block["text"].as_str().is_none_or(|text| text.trim().is_empty()) {
        return bad(&format!("{at}: text content blocks must be non-empty"));
    }
    match block.get("cache_control") {
        Some(control) if control["type"] != "ephemeral" => bad(&format!("{at}.cache_control.type")),
        _ => Ok(()),
    }
}

pub(super) fn only(value: &Value, fields: &[&str], at: &str) -> Result<(), Problem> {
    let Some(map) = value.as_object() else { return bad(&format!("{at}: an object is required")) };
    match map.keys().find(|key| !fields.contains(&key.as_str())) {
        Some(key) => bad(&format!("{at}.{key}: Extra inputs are not permitted")),
        None => Ok(()),
    }
}

pub(super) fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

pub(super) fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
}

pub(super) fn bad<T>(problem: &str) -> Result<T, Problem> {
    Err((400, problem.to_owned()))
}

/// A non-streamed reply.
pub(super) fn whole(request: &Value, steps: &[Step]) -> Value {
    let (mut content, mut stop) = (Vec::new(), "end_turn");
    let words: String = steps.iter().filter_map(Step::words).collect();
    if !words.is_empty() {
        content.push(json!({"type": "text", "text": words}));
    }
    for step in steps {
        if let Step::Call { id, name, arguments } = step {
            stop = "tool_use";
            let input: Value = serde_json::from_str(arguments).expect("the test writes JSON");
            content.push(json!({"type": "tool_use", "id": id, "name": name, "input": input}));
        }
    }
    let [input, output, read, write] = usage_of(steps).unwrap_or_default();
    json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": request["model"],
        "content": content, "stop_reason": stop, "stop_sequence": null,
        "usage": {
            "input_tokens": input, "output_tokens": output,
            "cache_read_input_tokens": read, "cache_creation_input_tokens": write,
        },
    })
}

pub(super) struct Writer {
    model: Value,
    index: u64,
    words_open: bool,
}

impl Writer {
    pub(super) fn new(request: &Value) -> Self {
        Self { model: request["model"].clone(), index: 0, words_open: false }
    }

    fn close_words(&mut self) -> String {
        if !std::mem::take(&mut self.words_open) {
            return String::new();
        }
        self.index += 1;
        event(&json!({"type": "content_block_stop", "index": self.index - 1}))
    }
}

impl super::turn::Writer for Writer {
    fn begin(&mut self, usage: Option<[u64; 4]>) -> String {
        let mut message = json!({
            "id": "msg_1", "type": "message", "role": "assistant", "content": [], "model": self.model,
            "stop_reason": null, "stop_sequence": null,
        });
        if let Some([input, _, read, write]) = usage {
            message["usage"] = json!({
                "input_tokens": input, "output_tokens": 1,
                "cache_read_input_tokens": read, "cache_creation_input_tokens": write,
            });
        }
        event(&json!({"type": "message_start", "message": message}))
            + &event(&json!({"type": "ping"}))
    }

    fn text(&mut self, text: &str) -> String {
        let mut out = String::new();
        if !std::mem::replace(&mut self.words_open, true) {
            let block = json!({"type": "text", "text": ""});
            out += &event(
                &json!({"type": "content_block_start", "index": self.index, "content_block": block}),
            );
        }
        let delta = json!({"type": "text_delta", "text": text});
        out + &event(&json!({"type": "content_block_delta", "index": self.index, "delta": delta}))
    }

    fn call(&mut self, id: &str, name: &str, arguments: &str) -> String {
        let mut out = self.close_words();
        let index = self.index;
        self.index += 1;
        let block = json!({"type": "tool_use", "id": id, "name": name, "input": {}});
        out +=
            &event(&json!({"type": "content_block_start", "index": index, "content_block": block}));
        for part in halves(arguments) {
            let delta = json!({"type": "input_json_delta", "partial_json": part});
            out += &event(&json!({"type": "content_block_delta", "index": index, "delta": delta}));
        }
        out + &event(&json!({"type": "content_block_stop", "index": index}))
    }

    fn end(&mut self, stop: Stop, usage: Option<[u64; 4]>) -> String {
        let reason = match stop {
            Stop::End => "end_turn",
            Stop::Tools => "tool_use",
            Stop::Length => "max_tokens",
            Stop::Refusal => "refusal",
        };
        let mut last = json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null}});
        if let Some([_, output, ..]) = usage {
            last["usage"] = json!({"output_tokens": output});
        }
        self.close_words() + &event(&last) + &event(&json!({"type": "message_stop"}))
    }
}

fn event(data: &Value) -> String {
    format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap_or_default())
}
