//! `GET /tools/search` and `POST /tools/{server}/{tool}/call`: tools that a person finds and calls outside a session.
//!
//! A call passes the checks of every call. One that needs approval runs only if the request approves it; it is not
//! remembered, so there is nothing to approve later.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use throughline_engine::engine::{Called, ToolRequest};
use throughline_engine::id::AgentName;
use throughline_engine::tool::ToolName;
use tokio_util::sync::CancellationToken;
use utoipa::{IntoParams, ToSchema};

use super::tools::ToolView;
use crate::http::App;
use crate::http::body::Body;
use crate::http::caller::Authenticated;
use crate::http::conversations::turn::ToolExecution;
use crate::http::idempotency::IdempotencyKey;
use crate::http::part::{Path, Query};
use crate::http::problem::Problem;

/// The code of a call that needs approval.
pub const APPROVAL_NEEDED: &str = "approval_needed";
/// Tools that are found where no number is named.
const FOUND: usize = 5;

/// What a tool should do.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ToolQuery {
    /// What the tool should do, in words.
    #[param(example = "which racks are there")]
    query: String,
    /// The maximum number of results.
    #[serde(default = "found")]
    #[param(default = 5, minimum = 1, maximum = 50)]
    limit: usize,
}

fn found() -> usize {
    FOUND
}

/// Tools that match.
#[derive(Debug, Serialize, ToSchema)]
pub struct FoundTools {
    /// The tools, best first.
    pub tools: Vec<FoundTool>,
}

/// A tool that matches.
#[derive(Debug, Serialize, ToSchema)]
pub struct FoundTool {
    /// How well it matches.
    pub score: f32,
    /// The tool.
    pub tool: ToolView,
}

/// Finds upstream tools by a description of what they should do.
#[utoipa::path(get, path = "/tools/search", tag = "agents", operation_id = "search_tools", params(ToolQuery),
    responses((status = 200, body = FoundTools), (status = 400, body = Problem)))]
pub async fn search(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Query(asked): Query<ToolQuery>,
) -> Result<Json<FoundTools>, Problem> {
    let found = app.engine().search_tools(&caller, &asked.query, asked.limit).await?;
    let found = found.into_iter();
    let tools = found.map(|found| FoundTool { score: found.score, tool: found.tool.into() });
    Ok(Json(FoundTools { tools: tools.collect() }))
}

/// A call of a tool.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CallBody {
    /// The arguments.
    #[serde(default)]
    #[schema(value_type = Object)]
    arguments: Value,
    /// The agent whose rules decide which calls need approval; the default one when absent.
    #[serde(default)]
    agent: Option<String>,
    /// Whether the call may run even if it needs approval.
    #[serde(default)]
    approve: bool,
}

/// Calls an upstream tool, outside any session. A tool that fails is answered with `ok: false`.
#[utoipa::path(post, path = "/tools/{server}/{tool}/call", tag = "agents", operation_id = "call_tool", request_body = CallBody,
    params(("server" = String, Path, description = "The server"),
        ("tool" = String, Path, description = "The tool")),
    responses((status = 200, body = ToolExecution), (status = 400, body = Problem), (status = 403, body = Problem),
        (status = 404, body = Problem), (status = 409, body = Problem), (status = 422, body = Problem)))]
pub async fn call(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path((server, name)): Path<(String, String)>,
    key: IdempotencyKey,
    body: Body<CallBody>,
) -> Result<Json<ToolExecution>, Problem> {
    let CallBody { arguments, agent, approve } = body.value;
    let arguments = if arguments.is_null() { json!({}) } else { arguments };
    if !arguments.is_object() {
        return Err(Problem::invalid("arguments", "they are not an object"));
    }
    let tool = ToolName { server, name };
    let request = ToolRequest {
        session: None,
        by_hand: true,
        agent: agent.map(AgentName::new).transpose()?,
        tool: tool.clone(),
        arguments,
        key: key.of(&format!("call {tool}"), &body.bytes),
        approved: approve,
    };
    let engine = app.engine().clone();
    let calling = async move { engine.call_tool(&caller, request, CancellationToken::new()).await };
    match app.to_the_end(calling).await?? {
        Called::Made(record) => Ok(Json((&record).into())),
        Called::Waits(awaited) => Err(Problem::new(
            StatusCode::CONFLICT,
            APPROVAL_NEEDED,
            format!("{tool} was not called: {}", awaited.reason),
            "send \"approve\": true to let it run",
        )),
    }
}
