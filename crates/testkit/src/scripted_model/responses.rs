//! OpenAI's Responses, as served without memory: validates requests, and writes replies.
//!
//! Stateless on purpose: a request that refers to an earlier reply or a conversation is rejected.

use serde_json::{Value, json};

use super::Recorded;
use super::anthropic::{bad, list};
use super::turn::{Step, Stop, halves, usage_of};

/// What is wrong, with the HTTP status.
type Problem = (u16, String);

pub(super) fn check(request: &Recorded) -> Result<(), Problem> {
    let header = request.headers.get("authorization").and_then(|value| value.to_str().ok());
    if header.and_then(|value| value.strip_prefix("Bearer ")).is_none_or(str::is_empty) {
        return Err((401, "You didn't provide an API key.".to_owned()));
    }
    let body = &request.body;
    if body["model"].as_str().is_none_or(str::is_empty) {
        return bad("Missing required parameter: 'model'.");
    }
    for state in ["previous_response_id", "conversation"] {
        if !body[state].is_null() {
            return bad(&format!("{state}: this server keeps nothing"));
        }
    }
    if body["input"].as_str().is_some_and(|text| !text.is_empty()) {
        return Ok(());
    }
    let mut open: Vec<&str> = Vec::new();
    for (place, item) in list(&body["input"]).iter().enumerate() {
        let at = format!("input[{place}]");
        let call = item["call_id"].as_str().unwrap_or_default();
        match item["type"].as_str().unwrap_or("message") {
            "message" => check_message(item, &at)?,
            "function_call" => open.push(call),
            "function_call_output" if !open.contains(&call) => {
                return bad(&format!(
                    "No tool call found for function call output with call_id {call}."
                ));
            }
            "function_call_output" => open.retain(|known| *known != call),
            "reasoning" if item["id"].is_string() => {}
            other => return bad(&format!("{at}.type: {other:?} is not supported")),
        }
    }
    if let Some(call) = open.first() {
        return bad(&format!("No tool output found for function call {call}."));
    }
    if list(&body["input"]).is_empty() { bad("input must not be empty") } else { Ok(()) }
}

fn check_message(item: &Value, at: &str) -> Result<(), Problem> {
    let role = item["role"].as_str().unwrap_or_default();
    if !["user", "assistant", "system", "developer"].contains(&role) {
        return bad(&format!("{at}.role: {role:?} is not supported"));
    }
    let kinds = if role == "assistant" {
        ["output_text", "refusal"]
    } else {
        ["input_text", "input_image"]
    };
    let parts = list(&item["content"]);
    let known = |part: &Value| part["type"].as_str().is_some_and(|kind| kinds.contains(&kind));
    if item["content"].is_string() || (!parts.is_empty() && parts.iter().all(known)) {
        return Ok(());
    }
    bad(&format!("{at}.content: {} is not supported", item["content"]))
}

fn response(model: &Value, status: &str, output: &[Value], usage: Value) -> Value {
    json!({
        "id": "resp_1", "object": "response", "created_at": 0, "status": status, "model": model,
        "error": null, "incomplete_details": null, "instructions": null, "metadata": {},
        "output": output, "parallel_tool_calls": true, "previous_response_id": null,
        "temperature": 1.0, "tool_choice": "auto", "tools": [], "top_p": 1.0, "usage": usage,
    })
}

fn message(text: &str, status: &str) -> Value {
    let content = if status == "completed" { json!([part(text)]) } else { json!([]) };
    json!({"id": "msg_1", "type": "message", "role": "assistant", "status": status, "content": content})
}

fn part(text: &str) -> Value {
    json!({"type": "output_text", "text": text, "annotations": []})
}

fn call_item(id: &str, name: &str, arguments: &str, status: &str) -> Value {
    json!({"id": format!("fc_{id}"), "type": "function_call", "status": status, "call_id": id,
        "name": name, "arguments": arguments})
}

fn wire_usage(usage: Option<[u64; 4]>) -> Value {
    let Some([input, output, read, write]) = usage else { return Value::Null };
    let input = input + read + write;
    json!({"input_tokens": input, "input_tokens_details": {"cached_tokens": read},
        "output_tokens": output, "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": input + output})
}

/// A reasoning item precedes every call, as with reasoning models.
fn thought(id: &str) -> Value {
    json!({"id": format!("rs_{id}"), "type": "reasoning", "summary": [], "encrypted_content": "sealed"})
}

/// A non-streamed reply.
pub(super) fn whole(request: &Value, steps: &[Step]) -> Value {
    let words: String = steps.iter().filter_map(Step::words).collect();
    let mut output = Vec::new();
    if !words.is_empty() {
        output.push(message(&words, "completed"));
    }
    for step in steps {
        if let Step::Call { id, name, arguments } = step {
            output.extend([thought(id), call_item(id, name, arguments, "completed")]);
        }
    }
    response(&request["model"], "completed", &output, wire_usage(usage_of(steps)))
}

pub(super) struct Writer {
    model: Value,
    output: Vec<Value>,
    words: Option<String>,
    sequence: u64,
}

impl Writer {
    pub(super) fn new(request: &Value) -> Self {
        Self { model: request["model"].clone(), output: Vec::new(), words: None, sequence: 0 }
    }

    fn event(&mut self, kind: &str, mut data: Value) -> String {
        data["type"] = json!(kind);
        data["sequence_number"] = json!(self.sequence);
        self.sequence += 1;
        format!("event: {kind}\ndata: {data}\n\n")
    }

    fn close_words(&mut self) -> String {
        let Some(text) = self.words.take() else { return String::new() };
        let (index, item) = (self.output.len(), message(&text, "completed"));
        self.output.push(item.clone());
        let place = json!({"item_id": "msg_1", "output_index": index, "content_index": 0});
        let mut done = place.clone();
        done["text"] = json!(text);
        done["logprobs"] = json!([]);
        let mut closed = place;
        closed["part"] = part(&text);
        self.event("response.output_text.done", done)
            + &self.event("response.content_part.done", closed)
            + &self.event("response.output_item.done", json!({"output_index": index, "item": item}))
    }
}

impl super::turn::Writer for Writer {
    fn begin(&mut self, _: Option<[u64; 4]>) -> String {
        let begun = response(&self.model, "in_progress", &[], Value::Null);
        self.event("response.created", json!({"response": begun}))
            + &self.event("response.in_progress", json!({"response": begun}))
    }

    fn text(&mut self, text: &str) -> String {
        let index = self.output.len();
        let place = json!({"item_id": "msg_1", "output_index": index, "content_index": 0});
        let mut out = String::new();
        if self.words.is_none() {
            let item = message("", "in_progress");
            out += &self
                .event("response.output_item.added", json!({"output_index": index, "item": item}));
            let mut opened = place.clone();
            opened["part"] = part("");
            out += &self.event("response.content_part.added", opened);
        }
        self.words.get_or_insert_default().push_str(text);
        let mut delta = place;
        delta["delta"] = json!(text);
        delta["logprobs"] = json!([]);
        out + &self.event("response.output_text.delta", delta)
    }

    fn call(&mut self, id: &str, name: &str, arguments: &str) -> String {
        let mut out = self.close_words();
        let index = self.output.len();
        let thought = thought(id);
        for kind in ["response.output_item.added", "response.output_item.done"] {
            out += &self.event(kind, json!({"output_index": index, "item": thought}));
        }
        self.output.push(thought);
        let index = index + 1;
        let begun = call_item(id, name, "", "in_progress");
        out += &self
            .event("response.output_item.added", json!({"output_index": index, "item": begun}));
        for part in halves(arguments) {
            let delta =
                json!({"item_id": format!("fc_{id}"), "output_index": index, "delta": part});
            out += &self.event("response.function_call_arguments.delta", delta);
        }
        let item = call_item(id, name, arguments, "completed");
        self.output.push(item.clone());
        let done = json!({"item_id": format!("fc_{id}"), "output_index": index, "arguments": arguments, "name": name});
        out += &self.event("response.function_call_arguments.done", done);
        out + &self.event("response.output_item.done", json!({"output_index": index, "item": item}))
    }

    fn end(&mut self, stop: Stop, usage: Option<[u64; 4]>) -> String {
        let closed = self.close_words();
        let (status, why) = match stop {
            Stop::End | Stop::Tools => ("completed", Value::Null),
            Stop::Length => ("incomplete", json!({"reason": "max_output_tokens"})),
            Stop::Refusal => ("incomplete", json!({"reason": "content_filter"})),
        };
        let mut whole = response(&self.model, status, &self.output.clone(), wire_usage(usage));
        whole["incomplete_details"] = why;
        closed + &self.event(&format!("response.{status}"), json!({"response": whole}))
    }
}
