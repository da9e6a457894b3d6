//! A scripted language model, in all three wire formats.
//!
//! It is stricter than the providers: a request that they reject or merely tolerate gets a 400 with the reason. Every
//! request is recorded.
//!
//! # Layout
//!
//! - [`turn`]: the script.
//! - [`anthropic`], [`openai`], [`responses`]: validate requests and write replies, one file per format.

mod anthropic;
mod openai;
mod responses;
mod turn;

use std::collections::VecDeque;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::serve::ListenerExt as _;
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};

pub use turn::{Gate, Step, Stop, Turn};

/// A recorded request.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// `/v1/messages` or `/v1/chat/completions`.
    pub path: String,
    pub headers: HeaderMap,
    /// The body as JSON.
    pub body: Value,
    /// The bytes of the body.
    pub bytes: Bytes,
}

type Answer = Box<dyn FnMut(&Recorded) -> Option<Turn> + Send>;

/// A running model, stopped on drop.
pub struct ScriptedModel {
    address: SocketAddr,
    shared: Arc<Shared>,
    task: tokio::task::JoinHandle<()>,
}

struct Shared {
    answer: Mutex<Answer>,
    requests: Mutex<Vec<Recorded>>,
    /// Number of replies that the client abandoned.
    left: watch::Sender<usize>,
}

impl Shared {
    fn record(&self, request: Recorded) {
        self.requests.lock().expect("no panic under the lock").push(request);
    }
}

/// The wire format of a request.
#[derive(Clone, Copy)]
enum Format {
    Anthropic,
    OpenAi,
    Responses,
}

impl ScriptedModel {
    /// Plays the turns, one per request; further requests get a 500.
    pub async fn playing(turns: impl IntoIterator<Item = Turn>) -> Self {
        let mut turns: VecDeque<Turn> = turns.into_iter().collect();
        Self::answering(move |_| turns.pop_front()).await
    }

    /// Calls `answer` for each request.
    pub async fn answering(answer: impl FnMut(&Recorded) -> Option<Turn> + Send + 'static) -> Self {
        let shared = Arc::new(Shared {
            answer: Mutex::new(Box::new(answer)),
            requests: Mutex::default(),
            left: watch::Sender::new(0),
        });
        let router = Router::new()
            .route("/v1/messages", post(messages))
            .route("/v1/chat/completions", post(completions))
            .route("/v1/responses", post(replies))
            .route("/v1/messages/count_tokens", post(count_tokens))
            .route("/v1/embeddings", post(embeddings))
            .route("/v1/models", get(models))
            .route("/v1/models/{model}", get(model))
            .with_state(shared.clone());
        let listener =
            tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("loopback is free");
        let address = listener.local_addr().expect("a bound socket has an address");
        // As providers do; otherwise the events of a reply would wait for each other's acknowledgement.
        let listener = listener.tap_io(|stream| {
            let _ = stream.set_nodelay(true);
        });
        let task = tokio::spawn(async move {
            axum::serve(listener, router).await.expect("the server runs until it is dropped");
        });
        Self { address, shared, task }
    }

    /// The base URL for a client of Anthropic's format.
    pub fn anthropic_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The base URL for a client of OpenAI's format.
    pub fn openai_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// All requests so far.
    pub fn requests(&self) -> Vec<Recorded> {
        self.shared.requests.lock().expect("no test panics while it holds the record").clone()
    }

    /// Waits until the client has abandoned this many replies.
    pub async fn left(&self, replies: usize) {
        let mut left = self.shared.left.subscribe();
        left.wait_for(|count| *count >= replies).await.expect("the model outlives the wait");
    }
}

impl Drop for ScriptedModel {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn messages(
    state: State<Arc<Shared>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    take(state, Format::Anthropic, &uri, headers, &body)
}

async fn completions(
    state: State<Arc<Shared>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    take(state, Format::OpenAi, &uri, headers, &body)
}

async fn replies(state: State<Arc<Shared>>, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    take(state, Format::Responses, &uri, headers, &body)
}

/// Returns a token count that only this model returns.
async fn count_tokens(
    State(shared): State<Arc<Shared>>,
    uri: Uri,
    headers: HeaderMap,
    bytes: Bytes,
) -> Response {
    let body = serde_json::from_slice(&bytes).unwrap_or_default();
    shared.record(Recorded { path: uri.path().to_owned(), headers, body, bytes });
    axum::Json(json!({"input_tokens": 4711})).into_response()
}

/// Returns the same small vector for every text.
async fn embeddings() -> Response {
    let vector = json!({"object": "embedding", "index": 0, "embedding": [0.5, -0.5]});
    axum::Json(json!({"object": "list", "model": "scripted-1", "data": [vector],
        "usage": {"prompt_tokens": 1, "total_tokens": 1}}))
    .into_response()
}

/// Returns any model as its own.
async fn model(axum::extract::Path(name): axum::extract::Path<String>) -> Response {
    axum::Json(json!({"id": name, "object": "model", "created": 0, "owned_by": "testkit"}))
        .into_response()
}

/// Lists one model, in the client's format.
async fn models(State(shared): State<Arc<Shared>>, uri: Uri, headers: HeaderMap) -> Response {
    let listed = match headers.contains_key("anthropic-version") {
        true => json!({"data": [{"type": "model", "id": "scripted-1", "display_name": "Scripted 1",
            "created_at": "2026-01-01T00:00:00Z"}], "has_more": false, "first_id": "scripted-1",
            "last_id": "scripted-1"}),
        false => json!({"object": "list", "data": [
            {"id": "scripted-1", "object": "model", "created": 0, "owned_by": "testkit"}]}),
    };
    let (path, bytes) = (uri.path().to_owned(), Bytes::new());
    shared.record(Recorded { path, headers, body: Value::Null, bytes });
    axum::Json(listed).into_response()
}

fn take(
    State(shared): State<Arc<Shared>>,
    format: Format,
    uri: &Uri,
    headers: HeaderMap,
    body: &Bytes,
) -> Response {
    let bytes = body.clone();
    let Ok(body) = serde_json::from_slice::<Value>(body) else {
        return refusal(format, 400, "the body is no JSON", None);
    };
    let request = Recorded { path: uri.path().to_owned(), headers, body, bytes };
    shared.record(request.clone());
    let checked = match format {
        Format::Anthropic => anthropic::check(&request),
        Format::OpenAi => openai::check(&request),
        Format::Responses => responses::check(&request),
    };
    if let Err((status, problem)) = checked {
        return refusal(format, status, &problem, None);
    }
    let turn = (shared.answer.lock().expect("no panic under the lock"))(&request);
    match turn {
        None => refusal(format, 500, "the script is over", None),
        Some(Turn::Refuse { status, message, retry_after, location }) => {
            let mut response = refusal(format, status, &message, retry_after.as_deref());
            if let Some(location) = location {
                let value = location.parse().expect("the test names an address");
                response.headers_mut().insert(header::LOCATION, value);
            }
            response
        }
        Some(Turn::Plain { content_type, body }) => {
            ([(header::CONTENT_TYPE, content_type)], body).into_response()
        }
        Some(Turn::Say(steps)) if request.body["stream"] != true => {
            let whole = match format {
                Format::Anthropic => anthropic::whole(&request.body, &steps),
                Format::OpenAi => openai::whole(&request.body, &steps),
                Format::Responses => responses::whole(&request.body, &steps),
            };
            axum::Json(whole).into_response()
        }
        Some(Turn::Say(steps)) => {
            let (sender, receiver) = mpsc::channel(1);
            let request = request.body;
            tokio::spawn(async move {
                let said = match format {
                    Format::Anthropic => {
                        turn::play(steps, anthropic::Writer::new(&request), sender).await
                    }
                    Format::OpenAi => {
                        turn::play(steps, openai::Writer::new(&request), sender).await
                    }
                    Format::Responses => {
                        turn::play(steps, responses::Writer::new(&request), sender).await
                    }
                };
                if said.is_err() {
                    shared.left.send_modify(|count| *count += 1);
                }
            });
            let body = futures::stream::unfold(receiver, |mut receiver| async {
                let frame: Result<String, Infallible> = Ok(receiver.recv().await?);
                Some((frame, receiver))
            });
            ([(header::CONTENT_TYPE, "text/event-stream")], Body::from_stream(body)).into_response()
        }
    }
}

fn refusal(format: Format, status: u16, message: &str, retry_after: Option<&str>) -> Response {
    let kind = match status {
        401 => "authentication_error",
        429 => "rate_limit_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    };
    let body = match format {
        Format::Anthropic => json!({"type": "error", "error": {"type": kind, "message": message}}),
        Format::OpenAi | Format::Responses => {
            json!({"error": {"type": kind, "message": message, "code": null}})
        }
    };
    let status = StatusCode::from_u16(status).expect("the test names a status");
    let mut response = (status, axum::Json(body)).into_response();
    if let Some(wait) = retry_after {
        let value = wait.parse().expect("the test names a time");
        response.headers_mut().insert(header::RETRY_AFTER, value);
    }
    response
}
