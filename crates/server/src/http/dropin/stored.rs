//! Repeats a stored turn in the format of its client.

use axum::Json;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use throughline_engine::id::SessionId;
use throughline_engine::model::{StopReason, Usage};
use throughline_engine::session::record::{ReplyForm, TurnRecord, TurnStatus};
use throughline_upstream::model::Api;
use throughline_upstream::model::responses::ResponseWriter;
use uuid::Uuid;

use super::client_body::ClientBody;
use super::thread::ReplyId;

/// The response of a stored turn.
pub(super) fn answer(
    client: &ClientBody<'_>,
    session: &SessionId,
    record: &TurnRecord,
) -> Response {
    let told = StoredText::of(
        record,
        match client.api {
            Api::Responses => record.client_reply.clone().unwrap_or_else(|| {
                ReplyId::make(session, record.turn.saturating_sub(1), Uuid::nil())
            }),
            _ => format!("throughline-{session}-{}", record.turn),
        },
    );
    let (whole, stream) = match client.api {
        Api::ChatCompletions => (told.completion(), told.chunks()),
        Api::Messages => (told.message(), told.message_events()),
        Api::Responses => {
            let request = serde_json::from_str(client.text).unwrap_or_default();
            (told.response(&request), told.response_events(&request))
        }
    };
    match client.streams {
        false => Json(whole).into_response(),
        true => ([(header::CONTENT_TYPE, "text/event-stream")], stream).into_response(),
    }
}

/// The response `id` of a turn to `request`.
pub(super) fn response(id: &str, record: &TurnRecord, request: &Value) -> Value {
    let mut response = StoredText::of(record, id.to_owned()).response(request);
    if record.reply.is_empty() {
        response["output"] = json!([]);
    }
    match (&record.error, record.status) {
        (Some(error), _) => {
            response["status"] = json!("failed");
            response["error"] = json!({"code": "server_error", "message": error.message});
        }
        (None, TurnStatus::Complete) => {}
        (None, _) => response["status"] = json!("incomplete"),
    }
    response
}

/// The model's own name in `provider/model`.
pub(super) fn model_name(model: &str) -> &str {
    model.split_once('/').map_or(model, |(_, name)| name)
}

/// A stored reply.
struct StoredText<'a> {
    id: String,
    model: &'a str,
    created: i64,
    text: &'a str,
    usage: Usage,
}

impl<'a> StoredText<'a> {
    fn of(record: &'a TurnRecord, id: String) -> Self {
        let model = match &record.form {
            ReplyForm::Model { model } => model_name(model),
            _ => "",
        };
        let (created, usage) = (record.at.as_second(), record.usage.unwrap_or_default());
        Self { id, model, created, text: &record.reply, usage }
    }
}

impl StoredText<'_> {
    fn completion(&self) -> Value {
        json!({
            "id": self.id, "object": "chat.completion", "created": self.created, "model": self.model,
            "choices": [{
                "index": 0, "finish_reason": "stop", "logprobs": null,
                "message": {"role": "assistant", "content": self.text, "refusal": null},
            }],
            "usage": {
                "prompt_tokens": self.usage.input_tokens,
                "completion_tokens": self.usage.output_tokens,
                "total_tokens": self.usage.input_tokens + self.usage.output_tokens,
            },
        })
    }

    fn chunks(&self) -> String {
        let chunk = |delta: Value, finish: Option<&str>| {
            let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
            let chunk = json!({
                "id": self.id, "object": "chat.completion.chunk", "created": self.created,
                "model": self.model, "choices": [choice],
            });
            format!("data: {chunk}\n\n")
        };
        chunk(json!({"role": "assistant", "content": self.text}), None)
            + &chunk(json!({}), Some("stop"))
            + "data: [DONE]\n\n"
    }

    fn message(&self) -> Value {
        json!({
            "id": self.id, "type": "message", "role": "assistant", "model": self.model,
            "content": [{"type": "text", "text": self.text}], "stop_reason": "end_turn",
            "stop_sequence": null,
            "usage": {
                "input_tokens": self.usage.input_tokens,
                "output_tokens": self.usage.output_tokens,
            },
        })
    }

    fn message_events(&self) -> String {
        let mut begun = self.message();
        (begun["content"], begun["stop_reason"]) = (json!([]), Value::Null);
        let events = [
            json!({"type": "message_start", "message": begun}),
            json!({"type": "content_block_start", "index": 0,
                "content_block": {"type": "text", "text": ""}}),
            json!({"type": "content_block_delta", "index": 0,
                "delta": {"type": "text_delta", "text": self.text}}),
            json!({"type": "content_block_stop", "index": 0}),
            json!({"type": "message_delta",
                "delta": {"stop_reason": "end_turn", "stop_sequence": null},
                "usage": {"output_tokens": self.usage.output_tokens}}),
            json!({"type": "message_stop"}),
        ];
        let event = |data: &Value| {
            format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap_or_default())
        };
        events.iter().map(event).collect()
    }

    fn writer(&self, request: &Value) -> ResponseWriter {
        ResponseWriter::new(&self.id, self.model, self.created, request)
    }

    fn response(&self, request: &Value) -> Value {
        let mut writer = self.writer(request);
        writer.text(self.text);
        writer.whole(StopReason::EndTurn, Some(self.usage))
    }

    fn response_events(&self, request: &Value) -> String {
        let mut writer = self.writer(request);
        writer.begin()
            + &writer.text(self.text)
            + &writer.end(StopReason::EndTurn, Some(self.usage))
    }
}
