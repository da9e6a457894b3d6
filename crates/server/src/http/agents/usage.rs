//! `GET /agents/{name}/usage` and `GET /conversations/{id}/context/usage`.

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use throughline_engine::id::{AgentName, SessionId};
use utoipa::ToSchema;

use super::list::as_missing;
use crate::http::App;
use crate::http::caller::Authenticated;
use crate::http::conversations::view::{Raw, json};
use crate::http::part::Path;
use crate::http::problem::Problem;

/// How often items were sent and used in one session.
#[derive(Debug, Serialize, ToSchema)]
pub struct SessionUsage {
    /// Each item with `sent` and `used`.
    #[schema(value_type = Vec<Object>)]
    pub items: Raw,
    /// Session items that were sent often and never used: worth removing.
    #[schema(value_type = Vec<Object>)]
    pub unused: Raw,
}

/// How often items were sent and used over all sessions with an agent.
#[derive(Debug, Serialize, ToSchema)]
pub struct AgentUsage {
    /// Sessions that were counted.
    pub sessions: usize,
    /// Each item with `sent` and `used`.
    #[schema(value_type = Vec<Object>)]
    pub items: Raw,
}

/// Which items of a session were used in replies.
#[utoipa::path(get, path = "/conversations/{id}/context/usage", tag = "items",
    params(("id" = String, Path, description = "The session's id")),
    responses((status = 200, body = SessionUsage), (status = 404, body = Problem)))]
pub async fn of_session(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path(id): Path<SessionId>,
) -> Result<Json<SessionUsage>, Problem> {
    let usage = app.engine().session_usage(&caller, &id).await?;
    Ok(Json(SessionUsage { items: json(&usage.items), unused: json(&usage.unused) }))
}

/// Which items of an agent were used, over the caller's sessions.
#[utoipa::path(get, path = "/agents/{name}/usage", tag = "agents",
    params(("name" = String, Path, description = "The agent's name")),
    responses((status = 200, body = AgentUsage), (status = 404, body = Problem)))]
pub async fn of_agent(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path(name): Path<AgentName>,
) -> Result<Json<AgentUsage>, Problem> {
    let (sessions, items) = app.engine().agent_usage(&caller, &name).await.map_err(as_missing)?;
    Ok(Json(AgentUsage { sessions, items: json(&items) }))
}
