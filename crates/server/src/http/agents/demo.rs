//! `POST /demo/reset`: restores the demo's data, so that the tour can be repeated.
//!
//! Only with `serve --demo`; 404 otherwise.

use axum::extract::State;
use axum::http::StatusCode;
use serde_json::json;
use throughline_engine::engine::{Called, ToolRequest};
use throughline_engine::error::Error;
use throughline_engine::id::AgentName;
use throughline_engine::tool::ToolName;
use tokio_util::sync::CancellationToken;

use crate::agents::demo;
use crate::http::App;
use crate::http::caller::Authenticated;
use crate::http::problem::Problem;

const TOOL: &str = "reset_inventory";

/// Resets the demo's data to its initial state.
#[utoipa::path(post, path = "/demo/reset", tag = "server",
    responses((status = 204), (status = 404, body = Problem), (status = 502, body = Problem)))]
pub(super) async fn reset(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
) -> Result<StatusCode, Problem> {
    let request = ToolRequest {
        session: None,
        by_hand: true,
        agent: Some(AgentName::new(demo::NAME)?),
        tool: ToolName { server: demo::SERVER.into(), name: TOOL.into() },
        arguments: json!({}),
        key: None,
        // The request itself is the approval.
        approved: true,
    };
    match app.engine().call_tool(&caller, request, CancellationToken::new()).await {
        Ok(Called::Made(record)) if record.ok() => Ok(StatusCode::NO_CONTENT),
        Ok(Called::Made(record)) => Err(failed(record.result_text())),
        Ok(Called::Waits(call)) => Err(failed(call.reason)),
        Err(Error::NoAgent { .. } | Error::Missing { .. }) => Err(no_demo()),
        Err(error) => Err(error.into()),
    }
}

fn no_demo() -> Problem {
    Problem::new(
        StatusCode::NOT_FOUND,
        "no_demo",
        "this server has no demo inventory",
        "start it with throughline serve --demo",
    )
}

fn failed(reason: String) -> Problem {
    let detail = format!("the demo inventory was not reset: {reason}");
    Problem::new(StatusCode::BAD_GATEWAY, "demo_failed", detail, "try again")
}
