//! `GET /conversations/{id}/entities` and `GET /conversations/{id}/workflows`.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use throughline_engine::id::SessionId;
use utoipa::{IntoParams, ToSchema};

use crate::http::App;
use crate::http::caller::Authenticated;
use crate::http::conversations::view::{Raw, json};
use crate::http::part::{Path, Query};
use crate::http::problem::Problem;

/// The type whose references are workflows.
const WORKFLOW: &str = "workflow";

/// Things of a session.
#[derive(Debug, Serialize, ToSchema)]
pub struct Entities {
    /// The most relevant first, with relations and relevance.
    #[schema(value_type = Vec<Object>)]
    pub entities: Raw,
    /// What the conversation is about now.
    pub topic: Option<String>,
    /// Things known from the log beyond these.
    pub more_known: usize,
}

/// Workflow references of a session.
#[derive(Debug, Serialize, ToSchema)]
pub struct Workflows {
    /// `spec_id`, `name`, `mentioned_at`, `action` and `aliases` each.
    #[schema(value_type = Vec<Object>)]
    pub workflows: Raw,
}

/// Which references.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ReferenceQuery {
    /// A name, an alias or a part of one.
    q: Option<String>,
}

/// Lists the entities of a session, with relations and relevance.
#[utoipa::path(get, path = "/conversations/{id}/entities", tag = "entities",
    params(("id" = String, Path, description = "The session's id")),
    responses((status = 200, body = Entities), (status = 404, body = Problem)))]
pub async fn entities(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path(id): Path<SessionId>,
) -> Result<Json<Entities>, Problem> {
    let list = app.engine().entities(&caller, &id).await?;
    let entities = json(&list.entities);
    Ok(Json(Entities { entities, topic: list.topic, more_known: list.more_known }))
}

/// Lists the workflows that a session refers to.
#[utoipa::path(get, path = "/conversations/{id}/workflows", tag = "entities",
    params(("id" = String, Path, description = "The session's id"), ReferenceQuery),
    responses((status = 200, body = Workflows), (status = 404, body = Problem)))]
pub async fn workflows(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path(id): Path<SessionId>,
    Query(query): Query<ReferenceQuery>,
) -> Result<Json<Workflows>, Problem> {
    let found = app.engine().references(&caller, &id, WORKFLOW, query.q.as_deref()).await?;
    Ok(Json(Workflows { workflows: json(&found) }))
}
