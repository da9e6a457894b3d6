//! Writes a response: the object, and the events of a stream in OpenAI's order.
//!
//! Pure: it makes no decisions about content.

use serde_json::{Map, Value, json};
use throughline_engine::model::{StopReason, Usage};

/// Fields of the request that a response repeats, with their defaults.
const REPEATED: [(&str, &str); 15] = [
    ("conversation", "null"),
    ("instructions", "null"),
    ("max_output_tokens", "null"),
    ("metadata", "{}"),
    ("parallel_tool_calls", "true"),
    ("previous_response_id", "null"),
    ("reasoning", "{\"effort\":null,\"summary\":null}"),
    ("store", "true"),
    ("temperature", "1.0"),
    ("text", "{\"format\":{\"type\":\"text\"}}"),
    ("tool_choice", "\"auto\""),
    ("tools", "[]"),
    ("top_p", "1.0"),
    ("truncation", "\"disabled\""),
    ("user", "null"),
];

/// A response under construction.
pub struct ResponseWriter {
    /// The fields common to all states of the response.
    frame: Map<String, Value>,
    /// The output items, complete or in progress.
    output: Vec<Value>,
    /// Index of the message item in progress.
    message: Option<usize>,
    sequence: u64,
    suffix: String,
}

impl ResponseWriter {
    /// Starts the response `id` of `model` to `request`.
    pub fn new(id: &str, model: &str, created: i64, request: &Value) -> Self {
        let mut frame = Map::new();
        frame.insert("id".into(), json!(id));
        frame.insert("object".into(), json!("response"));
        frame.insert("created_at".into(), json!(created));
        frame.insert("model".into(), json!(model));
        frame.insert("background".into(), json!(false));
        for (name, usual) in REPEATED {
            let given = request.get(name).filter(|value| !value.is_null());
            let usual = || serde_json::from_str(usual).unwrap_or_default();
            frame.insert(name.into(), given.cloned().unwrap_or_else(usual));
        }
        let suffix = id.trim_start_matches("resp_").to_owned();
        Self { frame, output: Vec::new(), message: None, sequence: 0, suffix }
    }

    /// The first events of a stream.
    pub fn begin(&mut self) -> String {
        let response = self.response("in_progress", &Value::Null, Value::Null);
        self.event("response.created", json!({"response": response}))
            + &self.event("response.in_progress", json!({"response": response}))
    }

    /// Appends text.
    pub fn text(&mut self, delta: &str) -> String {
        let (at, mut events) = match self.message {
            Some(at) => (at, String::new()),
            None => {
                let item = json!({"type": "message", "status": "in_progress", "role": "assistant", "content": []});
                let (at, mut events) = self.add("msg", item);
                self.message = Some(at);
                let part = part("");
                events += &self.item_event(
                    at,
                    "response.content_part.added",
                    json!({"content_index": 0, "part": part}),
                );
                self.output[at]["content"] = json!([part]);
                (at, events)
            }
        };
        let text = &mut self.output[at]["content"][0]["text"];
        *text = json!(format!("{}{delta}", text.as_str().unwrap_or_default()));
        let more = json!({"content_index": 0, "delta": delta, "logprobs": []});
        events += &self.item_event(at, "response.output_text.delta", more);
        events
    }

    /// Starts a function call; its arguments follow.
    pub fn call(&mut self, call_id: &str, name: &str) -> (usize, String) {
        let closed = self.close_message();
        let item = json!({"type": "function_call", "status": "in_progress", "call_id": call_id,
            "name": name, "arguments": ""});
        let (at, events) = self.add("fc", item);
        (at, closed + &events)
    }

    /// Appends to the arguments of the call at index `at`.
    pub fn arguments(&mut self, at: usize, delta: &str) -> String {
        let text = &mut self.output[at]["arguments"];
        *text = json!(format!("{}{delta}", text.as_str().unwrap_or_default()));
        self.item_event(at, "response.function_call_arguments.delta", json!({"delta": delta}))
    }

    /// Completes the call at index `at`.
    pub fn end_call(&mut self, at: usize) -> String {
        let arguments = self.output[at]["arguments"].clone();
        let name = self.output[at]["name"].clone();
        let whole = json!({"arguments": arguments, "name": name});
        self.item_event(at, "response.function_call_arguments.done", whole) + &self.done(at)
    }

    /// Writes a custom tool call.
    pub fn custom_call(&mut self, call_id: &str, name: &str, input: &str) -> String {
        let closed = self.close_message();
        let item = json!({"type": "custom_tool_call", "status": "in_progress", "call_id": call_id,
            "name": name, "input": ""});
        let (at, mut events) = self.add("ctc", item);
        self.output[at]["input"] = json!(input);
        events +=
            &self.item_event(at, "response.custom_tool_call_input.delta", json!({"delta": input}));
        events +=
            &self.item_event(at, "response.custom_tool_call_input.done", json!({"input": input}));
        closed + &events + &self.done(at)
    }

    /// Writes the model's reasoning, as far as the provider exposes it.
    pub fn reasoning(&mut self, text: &str) -> String {
        let item = json!({"type": "reasoning", "summary": [],
            "content": [{"type": "reasoning_text", "text": text}]});
        let (at, events) = self.add("rs", item);
        let more = json!({"content_index": 0, "delta": text});
        let whole = json!({"content_index": 0, "text": text});
        events
            + &self.item_event(at, "response.reasoning_text.delta", more)
            + &self.item_event(at, "response.reasoning_text.done", whole)
            + &self.done(at)
    }

    /// The final events of a stream.
    pub fn end(&mut self, stop: StopReason, usage: Option<Usage>) -> String {
        let closed = self.close_message();
        let (status, why) = ending(stop);
        let response = self.response(status, &why, wire_usage(usage));
        closed + &self.event(&format!("response.{status}"), json!({"response": response}))
    }

    /// The final events of a failed stream.
    pub fn fail(&mut self, message: &str) -> String {
        let closed = self.close_message();
        let mut response = self.response("failed", &Value::Null, Value::Null);
        response["error"] = json!({"code": "server_error", "message": message});
        closed + &self.event("response.failed", json!({"response": response}))
    }

    /// The complete response.
    pub fn whole(mut self, stop: StopReason, usage: Option<Usage>) -> Value {
        self.close_message();
        let (status, why) = ending(stop);
        self.response(status, &why, wire_usage(usage))
    }

    fn response(&self, status: &str, why: &Value, usage: Value) -> Value {
        let mut response = self.frame.clone();
        response.insert("status".into(), json!(status));
        response.insert("error".into(), Value::Null);
        response.insert("incomplete_details".into(), why.clone());
        response.insert("output".into(), json!(self.output));
        response.insert("usage".into(), usage);
        Value::Object(response)
    }

    /// Appends an item.
    fn add(&mut self, kind: &str, mut item: Value) -> (usize, String) {
        let at = self.output.len();
        item["id"] = json!(format!("{kind}_{}_{at}", self.suffix));
        self.output.push(item.clone());
        let events =
            self.event("response.output_item.added", json!({"output_index": at, "item": item}));
        (at, events)
    }

    fn done(&mut self, at: usize) -> String {
        self.output[at]["status"] = json!("completed");
        let item = self.output[at].clone();
        self.event("response.output_item.done", json!({"output_index": at, "item": item}))
    }

    fn close_message(&mut self) -> String {
        let Some(at) = self.message.take() else { return String::new() };
        let part = self.output[at]["content"][0].clone();
        let text = json!({"content_index": 0, "text": part["text"], "logprobs": []});
        self.item_event(at, "response.output_text.done", text)
            + &self.item_event(
                at,
                "response.content_part.done",
                json!({"content_index": 0, "part": part}),
            )
            + &self.done(at)
    }

    fn item_event(&mut self, at: usize, kind: &str, mut data: Value) -> String {
        data["item_id"] = self.output[at]["id"].clone();
        data["output_index"] = json!(at);
        self.event(kind, data)
    }

    fn event(&mut self, kind: &str, mut data: Value) -> String {
        data["type"] = json!(kind);
        data["sequence_number"] = json!(self.sequence);
        self.sequence += 1;
        format!("event: {kind}\ndata: {data}\n\n")
    }
}

fn part(text: &str) -> Value {
    json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []})
}

fn ending(stop: StopReason) -> (&'static str, Value) {
    match stop {
        StopReason::EndTurn | StopReason::ToolUse => ("completed", Value::Null),
        StopReason::MaxTokens => ("incomplete", json!({"reason": "max_output_tokens"})),
        StopReason::Refusal => ("incomplete", json!({"reason": "content_filter"})),
    }
}

fn wire_usage(usage: Option<Usage>) -> Value {
    let Some(usage) = usage else { return Value::Null };
    json!({
        "input_tokens": usage.input_tokens,
        "input_tokens_details": {"cached_tokens": usage.cache_read_tokens},
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": usage.input_tokens + usage.output_tokens,
    })
}
