//! The scripted server over Streamable HTTP on a free loopback port.
//!
//! Invariant: every request is recorded before it is answered.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use futures::StreamExt;
use serde_json::{Value, json};

use super::table::Table;
use super::{Era, NEWER, Reaction, Script, ScriptedMcp};

/// A chunk of an endless response.
const ENDLESS_CHUNK: &[u8] = &[b' '; 16 * 1024];

/// What the HTTP server does besides its script.
#[derive(Debug, Clone, Default)]
pub enum Gate {
    /// Accepts requests.
    #[default]
    Open,
    /// Responds to everything with this status.
    Status(u16, Vec<(&'static str, String)>),
    /// Responds to tool calls with this status and content type, and endless bytes.
    EndlessCalls(u16, &'static str),
    /// Creates sessions, and rejects an unknown one with this status and an error without a request id.
    Sessions(u16),
}

/// A running server, stopped on drop.
pub struct HttpServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    task: tokio::task::JoinHandle<()>,
}

struct Shared {
    server: ScriptedMcp,
    gate: Gate,
    seen: Mutex<Vec<HeaderMap>>,
    endless_bytes: Arc<AtomicUsize>,
    /// The valid session; changes on a restart.
    session: AtomicUsize,
}

impl HttpServer {
    pub async fn start(script: Script, gate: Gate) -> Self {
        Self::serve(ScriptedMcp::new(script), gate).await
    }

    /// Starts a server with the tools of a table.
    pub async fn with_table(script: Script, table: Arc<Table>) -> Self {
        Self::serve(ScriptedMcp::with_table(script, table), Gate::Open).await
    }

    async fn serve(server: ScriptedMcp, gate: Gate) -> Self {
        let shared = Arc::new(Shared {
            server,
            gate,
            seen: Mutex::default(),
            endless_bytes: Arc::default(),
            session: AtomicUsize::new(1),
        });
        let router = Router::new().route("/mcp", post(answer)).with_state(shared.clone());
        let listener =
            tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("loopback is free");
        let address = listener.local_addr().expect("a bound socket has an address");
        let task = tokio::spawn(async move {
            axum::serve(listener, router).await.expect("the server runs until it is dropped");
        });
        Self { address, shared, task }
    }

    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// How many bytes of endless responses were taken.
    pub fn endless_bytes(&self) -> usize {
        self.shared.endless_bytes.load(Ordering::Relaxed)
    }

    /// Forgets its sessions, as a restart would.
    pub fn forget(&self) {
        self.shared.session.fetch_add(1, Ordering::Relaxed);
    }

    /// The headers of all requests so far.
    pub fn seen(&self) -> Vec<HeaderMap> {
        self.shared.seen.lock().expect("no test panics while it holds the record").clone()
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn answer(State(shared): State<Arc<Shared>>, headers: HeaderMap, body: Bytes) -> Response {
    shared.seen.lock().expect("no test panics while it holds the record").push(headers.clone());
    if let Gate::Status(status, extra) = &shared.gate {
        let status = StatusCode::from_u16(*status).expect("the test names a status");
        let mut response = status.into_response();
        for (name, value) in extra {
            response.headers_mut().insert(*name, value.parse().expect("the test names a header"));
        }
        return response;
    }
    let Ok(message) = serde_json::from_slice::<Value>(&body) else {
        return (StatusCode::BAD_REQUEST, "not JSON").into_response();
    };
    if let Err(problem) = check_headers(&shared.server.script, &headers, &message) {
        return (StatusCode::BAD_REQUEST, problem).into_response();
    }
    if let Gate::EndlessCalls(status, kind) = shared.gate
        && message["method"] == "tools/call"
    {
        let taken = shared.endless_bytes.clone();
        let endless = futures::stream::repeat_with(move || {
            taken.fetch_add(ENDLESS_CHUNK.len(), Ordering::Relaxed);
            Ok::<_, std::convert::Infallible>(Bytes::from_static(ENDLESS_CHUNK))
        });
        let status = StatusCode::from_u16(status).expect("the test names a status");
        let kind = [(header::CONTENT_TYPE, kind)];
        return (status, kind, Body::from_stream(endless)).into_response();
    }
    let session = format!("session-{}", shared.session.load(Ordering::Relaxed));
    let opens = message["method"] == "initialize";
    if let Gate::Sessions(status) = shared.gate
        && !opens
        && message["method"] != "server/discover"
        && headers.get("mcp-session-id").is_none_or(|given| *given != session)
    {
        let status = StatusCode::from_u16(status).expect("the test names a status");
        let error = json!({"code": -32000, "message": "Bad Request: No valid session ID"});
        let body = json!({"jsonrpc": "2.0", "error": error, "id": null});
        let kind = [(header::CONTENT_TYPE, "application/json")];
        return (status, kind, body.to_string()).into_response();
    }
    let answers = match shared.server.react(&message) {
        Reaction::Send(answers) => answers,
        Reaction::End => return StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    };
    if message.get("id").is_none() {
        return StatusCode::ACCEPTED.into_response();
    }
    let Some(last) = answers.last() else { return std::future::pending().await };
    if message["method"] == "subscriptions/listen" {
        let first = Ok::<_, std::convert::Infallible>(format!("data: {last}\n\n"));
        let open = futures::stream::iter([first]).chain(notices(shared.clone()));
        let kind = [(header::CONTENT_TYPE, "text/event-stream")];
        return (kind, Body::from_stream(open)).into_response();
    }
    let status = match last["error"]["code"].as_i64() {
        Some(-32601) => StatusCode::NOT_FOUND,
        Some(_) => StatusCode::BAD_REQUEST,
        None => StatusCode::OK,
    };
    let kind = [(header::CONTENT_TYPE, "application/json")];
    let mut response = (status, kind, last.to_string()).into_response();
    if opens && matches!(shared.gate, Gate::Sessions(_)) {
        let session = session.parse().expect("a session's name fits a header");
        response.headers_mut().insert("mcp-session-id", session);
    }
    response
}

/// A notification whenever the table changes; never, if there is no table.
fn notices(
    shared: Arc<Shared>,
) -> impl futures::Stream<Item = Result<String, std::convert::Infallible>> {
    let changes = shared.server.table.as_ref().map(|table| table.changes.subscribe());
    futures::stream::unfold((shared, changes), |(shared, changes)| async move {
        let Some(mut changes) = changes else { return std::future::pending().await };
        changes.changed().await.ok()?;
        let notice = shared.server.change_notice()?;
        Some((Ok(format!("data: {notice}\n\n")), (shared, Some(changes))))
    })
}

/// The current protocol repeats parts of the body in headers.
fn check_headers(script: &Script, headers: &HeaderMap, message: &Value) -> Result<(), String> {
    let header =
        |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if !header("accept").contains("application/json")
        || !header("accept").contains("text/event-stream")
    {
        return Err("accept must name application/json and text/event-stream".to_owned());
    }
    if script.era != Era::Newer || message["method"] == "initialize" {
        return Ok(());
    }
    let method = message["method"].as_str().unwrap_or_default();
    for (name, expected) in [("mcp-protocol-version", NEWER), ("mcp-method", method)] {
        if header(name) != expected {
            return Err(format!("{name} must be {expected}"));
        }
    }
    match message["params"]["name"].as_str() {
        Some(name) if method == "tools/call" && header("mcp-name") != name => {
            Err(format!("mcp-name must be {name}"))
        }
        _ => Ok(()),
    }
}
