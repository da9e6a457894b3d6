//! Streamable HTTP at `/mcp`.
//!
//! Requests are stateless by default, so any server answers any of them. With `server.mcp_sessions` (a single
//! server, or sticky routing) clients of protocol versions with sessions can also receive requests, which
//! sampling over HTTP needs there.
//!
//! Invariant: a request without a valid credential, from another site's page, or in another caller's session
//! reaches no handler.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{FromRequestParts, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use moka::sync::Cache;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use throughline_engine::access::Caller;
use throughline_engine::exact;
use throughline_engine::store::Scope;

use super::body::{self, bytes_of};
use super::caller::Authenticated;
use super::problem::Problem;
use super::{App, admit};
use crate::mcp::{Mcp, Refused};

/// Names an MCP session.
const SESSION: &str = "mcp-session-id";
/// Maximum number of MCP sessions whose owner is remembered; beyond it, the least recently used must be opened again.
const SESSIONS_MAX: u64 = 10_000;
/// Longest text of a refusal that is read.
const REFUSAL_BYTES_MAX: usize = 16 * 1024;
/// How long the owner of an idle session is remembered.
const SESSION_IDLE: Duration = Duration::from_secs(24 * 60 * 60);

/// The routes at `/mcp`.
pub(super) fn routes(app: &App) -> Router<App> {
    let settings = app.settings();
    let mut hosts: Vec<String> =
        ["localhost", "127.0.0.1", "::1"].into_iter().map(str::to_owned).collect();
    hosts.extend(settings.hosts.iter().cloned());
    let mut config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(settings.mcp_sessions)
        .with_json_response(true)
        .with_max_request_body_bytes(settings.body_bytes_max)
        .with_cancellation_token(app.stopping().clone())
        .with_allowed_origins(origins(settings.bind.port(), &settings.hosts))
        .with_allowed_hosts(hosts)
        .enforce_origin_validation();
    if !settings.bind.ip().is_loopback() {
        // Beyond loopback a key is required, and any name is allowed.
        config = config.disable_allowed_hosts();
    }
    let mcp = Mcp::new(app.engine().clone());
    let sessions = settings.mcp_sessions;
    let service = StreamableHttpService::new(
        move || Ok(if sessions { mcp.connected() } else { mcp.clone() }),
        Arc::new(LocalSessionManager::default()),
        config,
    );
    let state = (app.clone(), Owners::new());
    Router::new().route_service("/mcp", service).layer(from_fn_with_state(state, with_caller))
}

/// Allowed origins: pages of this server.
fn origins(port: u16, hosts: &[String]) -> Vec<String> {
    let loopback = ["localhost", "127.0.0.1", "[::1]"].map(|host| format!("http://{host}:{port}"));
    let named = hosts
        .iter()
        .flat_map(|host| [format!("http://{host}:{port}"), format!("https://{host}:443")]);
    loopback.into_iter().chain(named).collect()
}

/// Owners of MCP sessions. For any other caller the session does not exist.
#[derive(Clone)]
struct Owners(Cache<String, Scope>);

impl Owners {
    fn new() -> Self {
        Self(Cache::builder().max_capacity(SESSIONS_MAX).time_to_idle(SESSION_IDLE).build())
    }

    fn is_of_another(&self, session: &str, caller: &Caller) -> bool {
        self.0.get(session).is_none_or(|owner| owner != caller.scope)
    }
}

/// Authenticates the caller for the handler. If the credential lacks a grant and tokens are accepted, the
/// response is 403.
async fn with_caller(
    State((app, owners)): State<(App, Owners)>,
    request: Request,
    next: Next,
) -> Response {
    let (mut parts, body) = request.into_parts();
    let caller = match Authenticated::from_request_parts(&mut parts, &app).await {
        Ok(Authenticated(caller)) => caller,
        Err(problem) => return problem.into_response(),
    };
    let named = session_of(&parts.headers);
    if named.as_ref().is_some_and(|named| owners.is_of_another(named, &caller)) {
        return no_session().into_response();
    }
    let refused = Refused::default();
    parts.extensions.insert(caller.clone());
    parts.extensions.insert(refused.clone());
    let Ok(bytes) = bytes_of(body, app.settings().body_bytes_max).await else {
        return admit::unreadable().into_response();
    };
    // The library would round it.
    if let Some(reason) = std::str::from_utf8(&bytes).ok().and_then(exact::refusal) {
        return body::bad(reason, body::NUMBERS).into_response();
    }
    let response = next.run(Request::from_parts(parts, Body::from(bytes))).await;
    if let Some(error) = refused.take()
        && app.gate().tokens().is_some()
    {
        // OAuth clients expect this status to request more scopes.
        return Problem::from(error).into_response();
    }
    if let (None, Some(opened)) = (named, session_of(response.headers())) {
        owners.0.insert(opened, caller.scope);
    }
    match is_plain_error(&response) {
        true => as_problem(response).await,
        false => response,
    }
}

/// Whether the transport itself refused the request, which it does in plain text.
fn is_plain_error(response: &Response) -> bool {
    let kind = response.headers().get(header::CONTENT_TYPE);
    let is_json = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"application/"));
    !is_json && (response.status().is_client_error() || response.status().is_server_error())
}

/// A refusal of the transport in the form of all other errors.
async fn as_problem(response: Response) -> Response {
    let (mut parts, body) = response.into_parts();
    let said = to_bytes(body, REFUSAL_BYTES_MAX).await.unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    let (code, detail, hint) = match parts.status {
        StatusCode::METHOD_NOT_ALLOWED => (
            "no_method",
            "/mcp supports only POST here".to_owned(),
            "server.mcp_sessions allows GET and DELETE",
        ),
        status => {
            let named = status.canonical_reason().unwrap_or("the request was refused");
            let detail = if said.trim().is_empty() { named } else { said.trim() };
            ("mcp_refused", detail.to_owned(), "see the MCP specification, Streamable HTTP")
        }
    };
    parts.headers.remove(header::CONTENT_LENGTH);
    parts.headers.remove(header::CONTENT_TYPE);
    let mut problem = Problem::new(parts.status, code, detail, hint).into_response();
    problem.headers_mut().extend(parts.headers);
    problem
}

fn session_of(headers: &HeaderMap) -> Option<String> {
    Some(headers.get(SESSION)?.to_str().ok()?.to_owned())
}

fn no_session() -> Problem {
    Problem::new(
        StatusCode::NOT_FOUND,
        "no_session",
        "there is no such MCP session",
        "initialize a new one",
    )
}
