//! A provider that takes everything: what matters is what reached it, and what came back.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, Uri, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use throughline::config::ModelEntry;

/// One request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Reached {
    pub path: String,
    pub headers: HeaderMap,
    pub bytes: Bytes,
}

impl Reached {
    pub(crate) fn body(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap_or_default()
    }
}

/// How it behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    Prompt,
    /// Answers after this time.
    After(Duration),
    /// Begins a stream and says nothing.
    Silent,
}

/// A running provider; it ends with the value.
pub(crate) struct Provider {
    pub address: SocketAddr,
    reached: Arc<Mutex<Vec<Reached>>>,
    task: tokio::task::JoinHandle<()>,
}

impl Provider {
    pub(crate) async fn start(manner: Manner) -> Self {
        let reached: Arc<Mutex<Vec<Reached>>> = Arc::default();
        let seen = reached.clone();
        let answer = move |uri: Uri, headers: HeaderMap, bytes: Bytes| {
            let path = uri.path_and_query().unwrap().to_string();
            let request = Reached { path, headers, bytes };
            seen.lock().unwrap().push(request.clone());
            async move {
                if let Manner::After(time) = manner {
                    tokio::time::sleep(time).await;
                }
                said(&request, manner)
            }
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router =
            Router::new().fallback(answer).layer(axum::extract::DefaultBodyLimit::disable());
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { address, reached, task }
    }

    /// A model of each format.
    pub(crate) fn entries(&self) -> Vec<ModelEntry> {
        let entry = |name: &str, base_url: String| ModelEntry {
            name: name.into(),
            provider: name.into(),
            model: "configured".into(),
            base_url,
            ..ModelEntry::default()
        };
        let address = self.address;
        vec![
            entry("openai", format!("http://{address}/v1")),
            entry("anthropic", format!("http://{address}")),
        ]
    }

    pub(crate) fn all(&self) -> Vec<Reached> {
        self.reached.lock().unwrap().clone()
    }

    pub(crate) fn last(&self) -> Reached {
        self.all().pop().expect("a request reached the provider")
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn said(request: &Reached, manner: Manner) -> Response {
    let headers = [
        ("x-request-id", "req-of-the-provider"),
        ("request-id", "req-of-the-provider"),
        ("x-ratelimit-remaining-tokens", "17"),
        ("anthropic-ratelimit-requests-remaining", "18"),
        ("set-cookie", "stays=here"),
    ];
    let body = request.body();
    if body["stream"] == true {
        let kind = [(header::CONTENT_TYPE, "text/event-stream")];
        let silent = Body::from_stream(futures::stream::pending::<Result<Bytes, std::io::Error>>());
        return match manner {
            Manner::Silent => (headers, kind, silent).into_response(),
            _ => (headers, kind, stream(&request.path)).into_response(),
        };
    }
    (headers, axum::Json(whole(&request.path))).into_response()
}

fn whole(path: &str) -> Value {
    if path.contains("/messages") {
        return json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "m",
            "content": [{"type": "text", "text": "Said."}], "stop_reason": "end_turn",
            "stop_sequence": null, "usage": {"input_tokens": 1, "output_tokens": 1}});
    }
    if path.contains("/embeddings") {
        return json!({"object": "list", "model": "e", "data": [
            {"object": "embedding", "index": 0, "embedding": [0.5]}]});
    }
    json!({"id": "chatcmpl-1", "object": "chat.completion", "created": 0, "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop", "logprobs": null,
            "message": {"role": "assistant", "content": "Said.", "refusal": null}}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}})
}

fn stream(path: &str) -> String {
    if path.contains("/messages") {
        let events = [
            json!({"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 1}}}),
            json!({"type": "content_block_start", "index": 0,
                "content_block": {"type": "text", "text": ""}}),
            json!({"type": "content_block_delta", "index": 0,
                "delta": {"type": "text_delta", "text": "Said."}}),
            json!({"type": "content_block_stop", "index": 0}),
            json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}),
            json!({"type": "message_stop"}),
        ];
        let event =
            |data: &Value| format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap());
        return events.iter().map(event).collect();
    }
    let chunk = |delta: Value, finish: Option<&str>| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        format!(
            "data: {}\n\n",
            json!({"id": "c", "object": "chat.completion.chunk",
            "created": 0, "model": "m", "choices": [choice]})
        )
    };
    chunk(json!({"role": "assistant", "content": "Said."}), None)
        + &chunk(json!({}), Some("stop"))
        + "data: [DONE]\n\n"
}
