//! Streamable HTTP at `/mcp`.
//!
//! Requests stand alone unless configured otherwise, so any copy of the server answers any of them. With
//! sessions (one copy, or sticky routing) clients of the older era can also be asked back: sampling over
//! HTTP needs that in the older era, and only there.
//!
//! Invariant: a request without a valid credential, or from a page of another site, reaches no handler.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use super::App;
use super::caller::authenticate;
use crate::mcp::Mcp;

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
    Router::new().route_service("/mcp", service).layer(from_fn_with_state(app.clone(), with_caller))
}

/// Our own pages; a request that comes from any other one is refused.
fn origins(port: u16, hosts: &[String]) -> Vec<String> {
    let loopback = ["localhost", "127.0.0.1", "[::1]"].map(|host| format!("http://{host}:{port}"));
    let named = hosts
        .iter()
        .flat_map(|host| [format!("http://{host}:{port}"), format!("https://{host}:443")]);
    loopback.into_iter().chain(named).collect()
}

/// Finds out who is asking and lets the handler know.
async fn with_caller(State(app): State<App>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    match authenticate(&parts, &app).await {
        Ok(caller) => {
            parts.extensions.insert(caller);
            next.run(Request::from_parts(parts, body)).await
        }
        Err(problem) => problem.into_response(),
    }
}
