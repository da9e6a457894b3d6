//! Converts a Responses request to chat completions.
//!
//! Function tools are the same in both. A custom tool, which takes plain text, becomes a function with one string
//! parameter. Tools that a provider runs itself (web search, code) have no counterpart and are omitted and reported.
//! Reasoning of earlier replies has no counterpart and is omitted.

use serde_json::{Map, Value, json};

/// Fields with the same meaning in both.
const SAME: [&str; 8] = [
    "model",
    "temperature",
    "top_p",
    "parallel_tool_calls",
    "user",
    "stream",
    "service_tier",
    "top_logprobs",
];
/// The only parameter of a custom tool.
const CUSTOM_INPUT: &str = "input";

/// A chat completions request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatRequest {
    pub body: String,
    /// Names of custom tools.
    pub custom: Vec<String>,
    /// Types of the tools omitted.
    pub left_out: Vec<String>,
}

/// Converts `request`; `limit` is the server's name for the maximum number of reply tokens.
pub fn to_chat(request: &Value, limit: &str) -> ChatRequest {
    let mut body = Map::new();
    for name in SAME {
        if let Some(value) = request.get(name).filter(|value| !value.is_null()) {
            body.insert(name.into(), value.clone());
        }
    }
    body.insert("messages".into(), json!(messages(request)));
    if request["stream"] == true {
        body.insert("stream_options".into(), json!({"include_usage": true}));
    }
    if let Some(most) = request.get("max_output_tokens").filter(|most| !most.is_null()) {
        body.insert(limit.into(), most.clone());
    }
    if let Some(effort) = request["reasoning"]["effort"].as_str() {
        body.insert("reasoning_effort".into(), json!(effort));
    }
    if let Some(format) = response_format(&request["text"]["format"]) {
        body.insert("response_format".into(), format);
    }
    let (mut custom, mut left_out, mut tools) = (Vec::new(), Vec::new(), Vec::new());
    for tool in list(&request["tools"]) {
        let name = tool["name"].as_str().unwrap_or_default();
        match tool["type"].as_str().unwrap_or_default() {
            "function" => tools.push(function(tool, tool.get("parameters"))),
            "custom" => {
                custom.push(name.to_owned());
                tools.push(function(tool, Some(&custom_parameters())));
            }
            other => left_out.push(other.to_owned()),
        }
    }
    if !tools.is_empty() {
        body.insert("tools".into(), json!(tools));
        if let Some(choice) = tool_choice(&request["tool_choice"]) {
            body.insert("tool_choice".into(), choice);
        }
    } else {
        body.remove("parallel_tool_calls");
    }
    ChatRequest { body: Value::Object(body).to_string(), custom, left_out }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn function(tool: &Value, parameters: Option<&Value>) -> Value {
    let mut function = Map::new();
    for name in ["name", "description", "strict"] {
        if let Some(value) = tool.get(name).filter(|value| !value.is_null()) {
            function.insert(name.into(), value.clone());
        }
    }
    let none = json!({"type": "object", "properties": {}});
    let parameters = parameters.filter(|given| given.is_object()).unwrap_or(&none);
    function.insert("parameters".into(), parameters.clone());
    json!({"type": "function", "function": function})
}

fn custom_parameters() -> Value {
    json!({"type": "object", "properties": {CUSTOM_INPUT: {"type": "string"}},
        "required": [CUSTOM_INPUT], "additionalProperties": false})
}

/// Extracts the input of a custom tool from its arguments.
pub(super) fn custom_input(arguments: &str) -> String {
    let value: Option<Value> = serde_json::from_str(arguments).ok();
    let input = value.as_ref().and_then(|value| value[CUSTOM_INPUT].as_str());
    input.unwrap_or(arguments).to_owned()
}

fn tool_choice(choice: &Value) -> Option<Value> {
    match choice {
        Value::String(_) => Some(choice.clone()),
        Value::Object(_) if choice["name"].is_string() => {
            Some(json!({"type": "function", "function": {"name": choice["name"]}}))
        }
        _ => None,
    }
}

fn response_format(format: &Value) -> Option<Value> {
    match format["type"].as_str()? {
        "json_object" => Some(json!({"type": "json_object"})),
        "json_schema" => {
            let mut schema = Map::new();
            for name in ["name", "schema", "strict", "description"] {
                if let Some(value) = format.get(name).filter(|value| !value.is_null()) {
                    schema.insert(name.into(), value.clone());
                }
            }
            Some(json!({"type": "json_schema", "json_schema": schema}))
        }
        _ => None,
    }
}

fn messages(request: &Value) -> Vec<Value> {
    let mut messages: Vec<Value> = Vec::new();
    let instructions = request["instructions"].as_str().unwrap_or_default();
    if !instructions.trim().is_empty() {
        messages.push(json!({"role": "system", "content": instructions}));
    }
    if let Some(text) = request["input"].as_str() {
        messages.push(json!({"role": "user", "content": text}));
    }
    for item in list(&request["input"]) {
        match item["type"].as_str() {
            None | Some("message") => message(item, &mut messages),
            Some("function_call") => call(item, item["arguments"].clone(), &mut messages),
            Some("custom_tool_call") => {
                let arguments = json!({CUSTOM_INPUT: item["input"]}).to_string();
                call(item, json!(arguments), &mut messages);
            }
            Some("function_call_output" | "custom_tool_call_output") => {
                let output = match &item["output"] {
                    Value::String(text) => text.clone(),
                    Value::Array(parts) => texts(parts),
                    other => other.to_string(),
                };
                messages.push(
                    json!({"role": "tool", "tool_call_id": item["call_id"], "content": output}),
                );
            }
            Some(_) => {}
        }
    }
    messages
}

/// Converts a message. Instructions are merged into the first message, which many servers insist on.
fn message(item: &Value, messages: &mut Vec<Value>) {
    let role = item["role"].as_str().unwrap_or("user");
    if matches!(role, "system" | "developer") {
        let text = text_of(&item["content"]);
        return match messages.first_mut().filter(|first| first["role"] == "system") {
            Some(first) => {
                let before = first["content"].as_str().unwrap_or_default();
                first["content"] = json!(format!("{before}\n\n{text}"));
            }
            None => messages.insert(0, json!({"role": "system", "content": text})),
        };
    }
    if role == "assistant" {
        return messages.push(json!({"role": "assistant", "content": text_of(&item["content"])}));
    }
    messages.push(json!({"role": role, "content": user_content(&item["content"])}));
}

/// Merges the calls of one reply into one message.
fn call(item: &Value, arguments: Value, messages: &mut Vec<Value>) {
    let call = json!({"id": item["call_id"], "type": "function",
        "function": {"name": item["name"], "arguments": arguments}});
    if let Some(last) = messages.last_mut().filter(|last| last["role"] == "assistant") {
        match last["tool_calls"].as_array_mut() {
            Some(calls) => calls.push(call),
            None => last["tool_calls"] = json!([call]),
        }
        return;
    }
    messages.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
}

/// Converts a user's content; text parts alone become a plain string, which every server accepts.
fn user_content(content: &Value) -> Value {
    let Some(parts) = content.as_array() else { return content.clone() };
    let is_text = |part: &&Value| part["text"].is_string();
    if parts.iter().all(|part| is_text(&part)) {
        return json!(texts(parts));
    }
    let part = |part: &Value| match part["type"].as_str().unwrap_or_default() {
        "input_image" => {
            let mut image = json!({"url": part["image_url"]});
            if part["detail"].is_string() {
                image["detail"] = part["detail"].clone();
            }
            Some(json!({"type": "image_url", "image_url": image}))
        }
        "input_file" => {
            let mut file = part.clone();
            file.as_object_mut()?.remove("type");
            Some(json!({"type": "file", "file": file}))
        }
        _ => Some(json!({"type": "text", "text": part["text"].as_str()?})),
    };
    parts.iter().filter_map(part).collect()
}

fn text_of(content: &Value) -> String {
    match content {
        Value::Array(parts) => texts(parts),
        other => other.as_str().unwrap_or_default().to_owned(),
    }
}

fn texts(parts: &[Value]) -> String {
    let texts = parts.iter().filter_map(|p| p["text"].as_str().or(p["refusal"].as_str()));
    texts.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_with_tools_becomes_one_of_chat_completions() {
        let request = json!({
            "model": "m", "instructions": "Be brief.", "stream": true, "temperature": 0.31,
            "max_output_tokens": 50, "store": false, "reasoning": {"effort": "low"},
            "text": {"format": {"type": "json_schema", "name": "n", "schema": {}, "strict": true}},
            "tool_choice": {"type": "function", "name": "weather"},
            "tools": [
                {"type": "function", "name": "weather", "parameters": {"type": "object"}, "strict": null},
                {"type": "custom", "name": "patch"},
                {"type": "web_search"},
            ],
            "input": [
                {"role": "developer", "content": "Use metres."},
                {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Oslo?"}]},
                {"type": "reasoning", "summary": [], "encrypted_content": "x"},
                {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": "{}"},
                {"type": "custom_tool_call", "call_id": "c2", "name": "patch", "input": "p"},
                {"type": "function_call_output", "call_id": "c1", "output": "rain"},
                {"type": "custom_tool_call_output", "call_id": "c2", "output": [{"type": "input_text", "text": "ok"}]},
                {"role": "user", "content": [
                    {"type": "input_text", "text": "And this?"},
                    {"type": "input_image", "image_url": "data:x", "detail": "low"},
                ]},
            ],
        });
        let chat = to_chat(&request, "max_tokens");
        assert_eq!((chat.custom, chat.left_out), (vec!["patch".into()], vec!["web_search".into()]));
        let custom = custom_parameters();
        assert_eq!(
            serde_json::from_str::<Value>(&chat.body).expect("JSON"),
            json!({
                "model": "m", "stream": true, "stream_options": {"include_usage": true},
                "temperature": 0.31, "max_tokens": 50, "reasoning_effort": "low",
                "response_format": {"type": "json_schema",
                    "json_schema": {"name": "n", "schema": {}, "strict": true}},
                "tool_choice": {"type": "function", "function": {"name": "weather"}},
                "tools": [
                    {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}},
                    {"type": "function", "function": {"name": "patch", "parameters": custom}},
                ],
                "messages": [
                    {"role": "system", "content": "Be brief.\n\nUse metres."},
                    {"role": "user", "content": "Oslo?"},
                    {"role": "assistant", "content": null, "tool_calls": [
                        {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{}"}},
                        {"id": "c2", "type": "function",
                            "function": {"name": "patch", "arguments": "{\"input\":\"p\"}"}},
                    ]},
                    {"role": "tool", "tool_call_id": "c1", "content": "rain"},
                    {"role": "tool", "tool_call_id": "c2", "content": "ok"},
                    {"role": "user", "content": [
                        {"type": "text", "text": "And this?"},
                        {"type": "image_url", "image_url": {"url": "data:x", "detail": "low"}},
                    ]},
                ],
            })
        );
        let plain = to_chat(&json!({"model": "m", "input": "Hi."}), "max_tokens").body;
        assert_eq!(plain, r#"{"model":"m","messages":[{"role":"user","content":"Hi."}]}"#);
    }
}
