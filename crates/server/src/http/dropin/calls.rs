//! Tool calls that a client ran since the user's last message, read from its request.

use serde_json::Value;
use throughline_engine::session::record::CallRecord;
use throughline_engine::tool::{ToolName, ToolOutput};

use super::client_body::ClientBody;
use super::user_words::words;

/// Server name under which a client's own tools are stored.
const SERVER: &str = "client";

/// Calls with their results, in order.
pub(super) fn since_the_message(body: &ClientBody<'_>) -> Vec<CallRecord> {
    let mut calls: Vec<CallRecord> = Vec::new();
    let mut round = 0;
    for (_, message) in &body.messages[body.user_at + 1..] {
        if message["role"] == "assistant" || is_call(message) {
            // In Responses, the calls of one reply are consecutive items.
            let goes_on =
                is_call(message) && calls.last().is_some_and(|call| call.output.is_none());
            round += u32::from(!goes_on);
            let mut said_before = words(&message["content"]);
            for (id, name, arguments) in made(message) {
                let said_before = std::mem::take(&mut said_before);
                let tool = ToolName { server: SERVER.into(), name };
                calls.push(CallRecord {
                    id,
                    tool,
                    arguments,
                    round,
                    said_before,
                    ..CallRecord::default()
                });
            }
        } else {
            for (id, output) in answered(message) {
                let open = calls.iter_mut().rev().find(|call| call.id == id);
                if let Some(call) = open {
                    call.output = Some(output);
                }
            }
        }
    }
    for call in calls.iter_mut().filter(|call| call.output.is_none()) {
        call.error = Some("the client sent no result".into());
    }
    calls
}

/// Whether a Responses item is a tool call.
fn is_call(item: &Value) -> bool {
    matches!(item["type"].as_str(), Some("function_call" | "custom_tool_call"))
}

/// Calls in an assistant message: id, name, arguments.
fn made(message: &Value) -> Vec<(String, String, Value)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    if is_call(message) {
        let raw = text(message.get("arguments").unwrap_or(&message["input"]));
        let arguments = serde_json::from_str(&raw).unwrap_or(Value::String(raw));
        return vec![(text(&message["call_id"]), text(&message["name"]), arguments)];
    }
    let openai = message["tool_calls"].as_array().into_iter().flatten().map(|call| {
        let function = &call["function"];
        let raw = text(&function["arguments"]);
        let arguments = serde_json::from_str(&raw).unwrap_or(Value::String(raw));
        (text(&call["id"]), text(&function["name"]), arguments)
    });
    let blocks = message["content"].as_array().into_iter().flatten();
    let anthropic = blocks
        .filter(|block| block["type"] == "tool_use")
        .map(|block| (text(&block["id"]), text(&block["name"]), block["input"].clone()));
    openai.chain(anthropic).collect()
}

/// Results in a message: id of the call and output.
fn answered(message: &Value) -> Vec<(String, ToolOutput)> {
    let kind = message["type"].as_str();
    if matches!(kind, Some("function_call_output" | "custom_tool_call_output")) {
        let id = message["call_id"].as_str().unwrap_or_default();
        return vec![(id.to_owned(), output(words(&message["output"]), false))];
    }
    if message["role"] == "tool" {
        let id = message["tool_call_id"].as_str().unwrap_or_default();
        return vec![(id.to_owned(), output(words(&message["content"]), false))];
    }
    let blocks = message["content"].as_array().into_iter().flatten();
    blocks
        .filter(|block| block["type"] == "tool_result")
        .map(|block| {
            let id = block["tool_use_id"].as_str().unwrap_or_default();
            let is_error = block["is_error"] == true;
            (id.to_owned(), output(words(&block["content"]), is_error))
        })
        .collect()
}

fn output(text: String, is_error: bool) -> ToolOutput {
    let json = serde_json::from_str::<Value>(&text).ok().filter(|j| j.is_object() || j.is_array());
    ToolOutput { text, json, is_error, ..ToolOutput::default() }
}
