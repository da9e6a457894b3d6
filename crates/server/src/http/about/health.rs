//! `GET /health`: the state of the parts; `/health/live` and `/health/ready` for schedulers.
//!
//! No key is required, so nothing here reveals conversations, and to a stranger neither the store's place nor what a
//! server said when it failed.

use std::time::Duration;

use axum::Json;
use axum::extract::{FromRequestParts as _, State};
use axum::http::StatusCode;
use axum::http::request::Parts;
use serde::Serialize;
use throughline_engine::store::StoreFacts;
use throughline_upstream::mcp::{ServerState, ServerStatus};
use utoipa::ToSchema;

use crate::http::App;
use crate::http::caller::Authenticated;
use crate::http::shapes;
use crate::telemetry::figures::ContextStatistics;

/// How long it may take to find out who asks; a store that is away does not hold up the answer.
const KNOWN_WITHIN: Duration = Duration::from_millis(500);
/// What is shown instead to somebody without a key, where keys are needed.
const HIDDEN: &str = "shown with a key";

/// Health of the server.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Health {
    /// `ok`, `degraded` if an MCP server failed or stored data is damaged, `unavailable` if the store cannot be
    /// written.
    pub status: &'static str,
    /// Version of the server.
    pub version: &'static str,
    /// The store and its guarantees.
    #[schema(value_type = shapes::StoreFactsView)]
    pub store: StoreFacts,
    /// Names of the configured models; if empty, replies are made without a model.
    pub models: Vec<String>,
    /// Connection states of the MCP servers.
    #[schema(value_type = Vec<shapes::ServerStatusView>)]
    pub servers: Vec<ServerStatus>,
    /// Use of the context window by the last turns.
    pub context: ContextStatistics,
    /// What is wrong, one sentence each.
    pub warnings: Vec<String>,
}

/// Result of a liveness or readiness probe.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Readiness {
    /// `ok` or `unavailable`.
    #[schema(example = "ok")]
    pub status: &'static str,
    /// Why it is not `ok`; empty if it is.
    pub reasons: Vec<String>,
}

/// Succeeds while the process runs. Checks nothing else, so an unreachable store causes no restart.
#[utoipa::path(get, path = "/health/live", tag = "server",
    responses((status = 200, description = "The process runs", body = Readiness)))]
pub(super) async fn live() -> Json<Readiness> {
    Json(Readiness { status: "ok", reasons: Vec::new() })
}

/// Succeeds if the store can be written and the server is not stopping.
#[utoipa::path(get, path = "/health/ready", tag = "server",
    responses((status = 200, description = "Requests can be served", body = Readiness),
        (status = 503, description = "Requests cannot be served", body = Readiness)))]
pub(super) async fn ready(State(app): State<App>) -> (StatusCode, Json<Readiness>) {
    let mut reasons = Vec::new();
    if app.stopping().is_cancelled() {
        reasons.push("the server is stopping".to_owned());
    }
    reasons.extend(app.probe_store().await.err());
    match reasons.is_empty() {
        true => (StatusCode::OK, Json(Readiness { status: "ok", reasons })),
        false => {
            (StatusCode::SERVICE_UNAVAILABLE, Json(Readiness { status: "unavailable", reasons }))
        }
    }
}

/// Reports the server's health.
#[utoipa::path(get, path = "/health", tag = "server",
    responses((status = 200, body = Health), (status = 503, body = Health)))]
pub(super) async fn health(State(app): State<App>, mut parts: Parts) -> (StatusCode, Json<Health>) {
    let caller = Authenticated::from_request_parts(&mut parts, &app);
    let caller = tokio::time::timeout(KNOWN_WITHIN, caller).await;
    // The last words of a server that failed may hold anything.
    let is_stranger = !matches!(caller, Ok(Ok(_)));
    let mut warnings = Vec::new();
    let mut facts = app.engine().store().facts();
    if is_stranger {
        facts.location = HIDDEN.to_owned();
        facts.notes.clear();
    }
    let (code, mut status) = match app.probe_store().await {
        Ok(()) if facts.damaged == 0 => (StatusCode::OK, "ok"),
        Ok(()) => {
            let damaged = facts.damaged;
            warnings
                .push(format!("{damaged} threads are damaged; run throughline check to list them"));
            (StatusCode::OK, "degraded")
        }
        Err(reason) => {
            warnings.push(reason);
            (StatusCode::SERVICE_UNAVAILABLE, "unavailable")
        }
    };
    let mut servers = app.servers().status().await;
    for server in &mut servers {
        let ServerState::Failed { reason } = &mut server.state else { continue };
        if is_stranger {
            HIDDEN.clone_into(reason);
        }
        warnings.push(format!("MCP server {} failed: {reason}", server.name));
        status = if status == "ok" { "degraded" } else { status };
    }
    let context = app.figures().statistics();
    if context.warnings > 0 {
        let (over, all) = (context.warnings, context.turns);
        warnings
            .push(format!("{over} of the last {all} requests nearly filled the context window"));
    }
    let health = Health {
        status,
        version: env!("CARGO_PKG_VERSION"),
        store: facts,
        models: app.engine().model_names(),
        servers,
        context,
        warnings,
    };
    (code, Json(health))
}
