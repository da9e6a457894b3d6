//! Streamable HTTP at `/mcp`.
//!
//! Requests stand alone unless configured otherwise, so any copy of the server answers any of them. With
//! sessions (one copy, or sticky routing) clients of the older era can also be asked back: sampling over
//! HTTP needs that in the older era, and only there.
//!
//! Invariant: a request without a valid credential, from a page of another site, or in a session of another caller
//! reaches no handler.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{FromRequestParts, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use moka::sync::Cache;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use throughline_engine::access::Caller;
use throughline_engine::store::Scope;

use super::App;
use super::caller::Authenticated;
use super::problem::Problem;
use crate::mcp::{Mcp, Refused};

/// The header that names a session.
const SESSION: &str = "mcp-session-id";
/// Sessions whose owner is known; beyond it the longest unused must be opened anew.
const SESSIONS_MAX: u64 = 10_000;
/// How long an unused session has an owner.
const SESSION_IDLE: Duration = Duration::from_secs(24 * 60 * 60);

/// The routes, for the server to mount.
pub fn routes(app: &App) -> Router<App> {
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
        // Beyond loopback a key is needed anyway, and the name may be any.
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

/// Our own pages; a request that comes from any other one is refused.
fn origins(port: u16, hosts: &[String]) -> Vec<String> {
    let loopback = ["localhost", "127.0.0.1", "[::1]"].map(|host| format!("http://{host}:{port}"));
    let named = hosts
        .iter()
        .flat_map(|host| [format!("http://{host}:{port}"), format!("https://{host}:443")]);
    loopback.into_iter().chain(named).collect()
}

/// Who opened the sessions of clients of the older era. A session is its caller's: whoever else names it is told
/// that there is none.
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

/// Finds out who is asking and lets the handler know. Where the credential does not allow what was asked and tokens are
/// taken, the answer is 403.
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
    let response = next.run(Request::from_parts(parts, body)).await;
    if let Some(error) = refused.take()
        && app.gate().tokens().is_some()
    {
        // A client that can ask for more scopes looks for this status.
        return Problem::from(error).into_response();
    }
    if let (None, Some(opened)) = (named, session_of(response.headers())) {
        owners.0.insert(opened, caller.scope);
    }
    response
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
