//! Parses an answer from its bytes, after they were forwarded.
//!
//! Works on a copy; the client gets the original bytes. A truncated answer is parsed as far as it goes.
//!
//! Invariant: parsing never fails; problems are reported in [`ParsedAnswer::problem`].

use std::collections::VecDeque;

use bytes::Bytes;
use futures::StreamExt;
use serde_json::Value;
use sse_stream::SseStream;
use throughline_engine::model::{ModelEvent, StopReason, Usage};

use super::reply::Reader;
use super::{Api, anthropic, openai, responses, wire};

/// The content of an answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ParsedAnswer {
    pub text: String,
    /// Number of tool calls.
    pub calls: usize,
    /// Token counts, if present.
    pub usage: Option<Usage>,
    /// Why it ended; `None` if it was cut off.
    pub stop: Option<StopReason>,
    /// What is wrong with it.
    pub problem: Option<String>,
    /// The output items of a response, unchanged.
    pub items: Vec<Value>,
}

impl ParsedAnswer {
    fn add(&mut self, event: ModelEvent) {
        match event {
            ModelEvent::Text(text) => self.text.push_str(&text),
            ModelEvent::ToolUse { .. } => self.calls += 1,
            ModelEvent::Usage(usage) => self.usage = Some(usage),
            ModelEvent::Done(reason) => self.stop = Some(reason),
        }
    }
}

/// Parses a stream of events.
pub async fn stream(api: Api, bytes: Bytes) -> ParsedAnswer {
    match api {
        Api::Messages => events(anthropic::Reader::default(), bytes).await,
        Api::ChatCompletions => events(openai::Reader::default(), bytes).await,
        Api::Responses => response_events(&bytes),
    }
}

async fn events<R: Reader>(mut reader: R, bytes: Bytes) -> ParsedAnswer {
    let mut parsed = ParsedAnswer::default();
    let mut out = VecDeque::new();
    let whole = futures::stream::iter([Ok::<_, std::convert::Infallible>(bytes)]);
    let mut events = SseStream::from_bytes_stream(whole);
    let mut problem = None;
    while let Some(event) = events.next().await {
        let read = match event {
            Ok(event) if event.data.is_none() => continue,
            Ok(event) => reader.read(&event, &mut out).map_err(|(_, problem)| problem),
            Err(error) => Err(format!("its event stream is damaged: {error}")),
        };
        out.drain(..).for_each(|event| parsed.add(event));
        if let Err(reason) = read {
            problem = Some(reason);
            break;
        }
        if parsed.stop.is_some() {
            return parsed;
        }
    }
    if problem.is_none()
        && let Err((_, reason)) = reader.end(&mut out)
    {
        problem = Some(reason);
    }
    out.drain(..).for_each(|event| parsed.add(event));
    ParsedAnswer { problem, ..parsed }
}

/// Parses a non-streamed answer.
pub fn whole(api: Api, bytes: &[u8]) -> ParsedAnswer {
    let Ok(value) = serde_json::from_slice::<Value>(bytes) else {
        return ParsedAnswer {
            problem: Some("the answer is not JSON".into()),
            ..ParsedAnswer::default()
        };
    };
    match api {
        Api::Messages => anthropic_message(&value),
        Api::ChatCompletions => openai_completion(&value),
        Api::Responses => response(&value),
    }
}

/// Extracts the message of an error response.
pub fn refusal(bytes: &[u8]) -> String {
    wire::explanation(bytes)
}

fn anthropic_message(value: &Value) -> ParsedAnswer {
    let mut parsed = ParsedAnswer::default();
    for block in value["content"].as_array().into_iter().flatten() {
        match block["type"].as_str().unwrap_or_default() {
            "text" => parsed.text.push_str(block["text"].as_str().unwrap_or_default()),
            "tool_use" => parsed.calls += 1,
            _ => {}
        }
    }
    parsed.usage = anthropic::whole_usage(&value["usage"]);
    parsed.stop = value["stop_reason"].as_str().map(anthropic::stop_reason);
    parsed
}

fn openai_completion(value: &Value) -> ParsedAnswer {
    let choice = &value["choices"][0];
    let message = &choice["message"];
    let said = message["content"].as_str().or(message["refusal"].as_str()).unwrap_or_default();
    let calls = message["tool_calls"].as_array().map_or(0, Vec::len);
    let mut stop = choice["finish_reason"].as_str().map(openai::stop_reason);
    if calls > 0 && stop == Some(StopReason::EndTurn) {
        stop = Some(StopReason::ToolUse);
    }
    ParsedAnswer {
        text: said.to_owned(),
        calls,
        usage: openai::usage(&value["usage"]),
        stop,
        ..ParsedAnswer::default()
    }
}

fn response(response: &Value) -> ParsedAnswer {
    let mut parsed = ParsedAnswer::default();
    for item in response["output"].as_array().into_iter().flatten() {
        match item["type"].as_str().unwrap_or_default() {
            "message" => parsed.text.push_str(&item_words(item)),
            "function_call" | "custom_tool_call" | "local_shell_call" => parsed.calls += 1,
            _ => {}
        }
        parsed.items.push(item.clone());
    }
    parsed.usage = response_usage(&response["usage"]);
    let reason = response["incomplete_details"]["reason"].as_str();
    parsed.stop = match (response["status"].as_str(), reason) {
        (Some("completed"), _) if parsed.calls > 0 => Some(StopReason::ToolUse),
        (Some("completed"), _) => Some(StopReason::EndTurn),
        (Some("incomplete"), Some("content_filter")) => Some(StopReason::Refusal),
        (Some("incomplete"), _) => Some(StopReason::MaxTokens),
        _ => None,
    };
    if parsed.stop.is_none() {
        let message = response["error"]["message"].as_str();
        parsed.problem = Some(message.unwrap_or("the response is not complete").to_owned());
    }
    parsed
}

/// Parses the events of a response: the last one contains the whole response; if it is missing, the text deltas count.
fn response_events(bytes: &[u8]) -> ParsedAnswer {
    let (mut frames, mut so_far) = (responses::Frames::default(), ParsedAnswer::default());
    for frame in frames.take(bytes).into_iter().chain(frames.rest()) {
        let Some(event) = frame.json() else { continue };
        match event["type"].as_str().unwrap_or_default() {
            "response.completed" | "response.incomplete" | "response.failed" => {
                let whole = response(&event["response"]);
                let text = if whole.text.is_empty() { so_far.text } else { whole.text.clone() };
                return ParsedAnswer { text, ..whole };
            }
            "response.output_text.delta" | "response.refusal.delta" => {
                so_far.text.push_str(event["delta"].as_str().unwrap_or_default());
            }
            "error" => {
                let message = event["message"].as_str().or(event["error"]["message"].as_str());
                so_far.problem = Some(message.unwrap_or("it reported an error").to_owned());
            }
            _ => {}
        }
    }
    so_far
}

/// The text of a message item.
fn item_words(item: &Value) -> String {
    let parts = item["content"].as_array().into_iter().flatten();
    parts.filter_map(|part| part["text"].as_str().or(part["refusal"].as_str())).collect()
}

fn response_usage(usage: &Value) -> Option<Usage> {
    Some(Usage {
        input_tokens: usage["input_tokens"].as_u64()?,
        output_tokens: usage["output_tokens"].as_u64().unwrap_or(0),
        cache_read_tokens: usage["input_tokens_details"]["cached_tokens"].as_u64().unwrap_or(0),
        cache_write_tokens: 0,
    })
}

#[cfg(test)]
mod fuzzing {
    use throughline_testkit::fuzz;

    use super::*;

    const APIS: [Api; 3] = [Api::ChatCompletions, Api::Responses, Api::Messages];

    #[test]
    fn any_answer_of_a_model_is_read() {
        let inputs = [
            r#"{"choices":[{"message":{"content":"Hi","tool_calls":[{"id":"c","function":{"name":"t","arguments":"{}"}}]},
                "finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}"#,
            "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"},\"finish_reason\":null}]}\n\ndata: [DONE]\n\n",
            r#"{"content":[{"type":"text","text":"Hi"},{"type":"tool_use","id":"c","name":"t","input":{}}],
                "stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":2}}"#,
            "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hi\"}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
            r#"{"id":"resp_1","status":"completed","output":[{"type":"message","role":"assistant",
                "content":[{"type":"output_text","text":"Hi"}]}],"usage":{"input_tokens":1,"output_tokens":2}}"#,
            "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"Hi\"}\n\n",
        ];
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let inputs = inputs.map(|text| text.as_bytes().to_vec());
        fuzz::target(env!("CARGO_MANIFEST_DIR"), "model-answers", &inputs, |bytes| {
            for api in APIS {
                let _ = (whole(api, bytes), refusal(bytes));
                runtime.block_on(stream(api, Bytes::copy_from_slice(bytes)));
            }
        });
    }
}
