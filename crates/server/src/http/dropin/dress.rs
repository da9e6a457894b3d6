//! An answer of ours in a provider's clothes, whole or as a stream of events.
//!
//! Pure: it writes what it is given and decides nothing.

use serde_json::{Value, json};
use throughline_engine::model::Usage;
use throughline_upstream::model::Provider;

/// The frame of one answer.
pub struct Dress {
    /// Whose clothes.
    pub format: Provider,
    /// The answer's id.
    pub id: String,
    /// The model that is named.
    pub model: String,
    /// When, in seconds.
    pub created: i64,
}

impl Dress {
    /// The whole answer.
    pub fn whole(&self, text: &str, usage: Usage) -> Value {
        match self.format {
            Provider::OpenAi => json!({
                "id": self.id, "object": "chat.completion", "created": self.created,
                "model": self.model,
                "choices": [{
                    "index": 0, "finish_reason": "stop", "logprobs": null,
                    "message": {"role": "assistant", "content": text, "refusal": null},
                }],
                "usage": openai_usage(usage),
            }),
            Provider::Anthropic => {
                let content = json!([{"type": "text", "text": text}]);
                self.message(&content, json!("end_turn"), usage)
            }
        }
    }

    /// What a stream begins with.
    pub fn begin(&self) -> String {
        match self.format {
            Provider::OpenAi => self.chunk(&json!({"role": "assistant", "content": ""}), None),
            Provider::Anthropic => {
                let message = self.message(&json!([]), Value::Null, Usage::default());
                let block = json!({"type": "text", "text": ""});
                event(&json!({"type": "message_start", "message": message}))
                    + &event(
                        &json!({"type": "content_block_start", "index": 0, "content_block": block}),
                    )
            }
        }
    }

    /// More words.
    pub fn more(&self, text: &str) -> String {
        match self.format {
            Provider::OpenAi => self.chunk(&json!({"content": text}), None),
            Provider::Anthropic => event(&json!({
                "type": "content_block_delta", "index": 0,
                "delta": {"type": "text_delta", "text": text},
            })),
        }
    }

    /// What a stream ends with.
    pub fn end(&self, usage: Usage) -> String {
        match self.format {
            Provider::OpenAi => {
                let mut last = self.chunk_value(&json!([]));
                last["usage"] = openai_usage(usage);
                self.chunk(&json!({}), Some("stop")) + &format!("data: {last}\n\ndata: [DONE]\n\n")
            }
            Provider::Anthropic => {
                let delta = json!({
                    "type": "message_delta",
                    "delta": {"stop_reason": "end_turn", "stop_sequence": null},
                    "usage": {"output_tokens": usage.output_tokens},
                });
                event(&json!({"type": "content_block_stop", "index": 0}))
                    + &event(&delta)
                    + &event(&json!({"type": "message_stop"}))
            }
        }
    }

    /// An error in the middle of a stream.
    pub fn error(&self, message: &str) -> String {
        let error = json!({"type": "api_error", "message": message});
        match self.format {
            Provider::OpenAi => format!("data: {}\n\n", json!({ "error": error })),
            Provider::Anthropic => event(&json!({"type": "error", "error": error})),
        }
    }

    fn message(&self, content: &Value, stop: Value, usage: Usage) -> Value {
        json!({
            "id": self.id, "type": "message", "role": "assistant", "model": self.model,
            "content": content, "stop_reason": stop, "stop_sequence": null,
            "usage": {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens},
        })
    }

    fn chunk(&self, delta: &Value, finish: Option<&str>) -> String {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        format!("data: {}\n\n", self.chunk_value(&json!([choice])))
    }

    fn chunk_value(&self, choices: &Value) -> Value {
        json!({
            "id": self.id, "object": "chat.completion.chunk", "created": self.created,
            "model": self.model, "choices": choices,
        })
    }
}

fn openai_usage(usage: Usage) -> Value {
    json!({
        "prompt_tokens": usage.input_tokens, "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
    })
}

fn event(data: &Value) -> String {
    format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap_or_default())
}
