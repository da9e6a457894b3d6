//! `GET /health`: the parts, and whether they answer.
//!
//! It asks for no key, so it holds nothing about anybody's conversations.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use throughline_upstream::mcp::ServerState;
use utoipa::ToSchema;

use crate::http::App;
use crate::http::conversations::view::{Raw, json};
use crate::telemetry::figures::ContextStatistics;

/// How the server is.
#[derive(Debug, Serialize, ToSchema)]
pub struct Health {
    /// `ok`, `degraded` when an MCP server failed, `unavailable` when the store cannot be reached.
    pub status: &'static str,
    /// The server's version.
    pub version: &'static str,
    /// What the store is and promises.
    #[schema(value_type = Object)]
    pub store: Raw,
    /// Names of the configured models; with none, replies are made offline.
    pub models: Vec<String>,
    /// MCP servers: name, state, tools.
    #[schema(value_type = Vec<Object>)]
    pub servers: Raw,
    /// What the last turns took of their windows.
    pub context: ContextStatistics,
    /// What is wrong, in sentences.
    pub warnings: Vec<String>,
}

/// How the server is.
#[utoipa::path(get, path = "/health", tag = "server",
    responses((status = 200, body = Health), (status = 503, body = Health)))]
pub async fn health(State(app): State<App>) -> (StatusCode, Json<Health>) {
    let mut warnings = Vec::new();
    let (code, mut status) = match app.engine().store().ping().await {
        Ok(()) => (StatusCode::OK, "ok"),
        Err(error) => {
            warnings.push(error.to_string());
            (StatusCode::SERVICE_UNAVAILABLE, "unavailable")
        }
    };
    let servers = app.servers().status().await;
    for server in &servers {
        let ServerState::Failed { reason } = &server.state else { continue };
        warnings.push(format!("the MCP server {} failed: {reason}", server.name));
        status = if status == "ok" { "degraded" } else { status };
    }
    let context = app.figures().statistics();
    if context.warnings > 0 {
        let (over, all) = (context.warnings, context.turns);
        warnings.push(format!("{over} of the last {all} requests were near the window's end"));
    }
    let health = Health {
        status,
        version: env!("CARGO_PKG_VERSION"),
        store: json(&app.engine().store().facts()),
        models: app.engine().model_names(),
        servers: json(&servers),
        context,
        warnings,
    };
    (code, Json(health))
}
