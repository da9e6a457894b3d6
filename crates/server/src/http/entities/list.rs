//! `GET /conversations/{id}/entities` and `GET /conversations/{id}/workflows`.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use throughline_engine::engine::{EntityList, EntityView};
use throughline_engine::entity::Reference;
use throughline_engine::id::SessionId;
use utoipa::{IntoParams, ToSchema};

use crate::http::App;
use crate::http::caller::Authenticated;
use crate::http::part::{Path, Query};
use crate::http::problem::Problem;
use crate::http::shapes;

/// Entity type of workflows.
const WORKFLOW: &str = "workflow";

/// Entities of a session.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Entities {
    /// The most relevant first.
    #[schema(value_type = Vec<shapes::EntityShape>)]
    pub entities: Vec<EntityView>,
    /// Current topic; null if not known.
    pub topic: Option<String>,
    /// Number of further entities known from the log.
    pub more_known: usize,
}

/// Workflows of a session.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Workflows {
    /// The workflows, last mentioned first.
    #[schema(value_type = Vec<shapes::WorkflowView>)]
    pub workflows: Vec<Reference>,
}

/// Selects workflows.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ReferenceQuery {
    /// Name, alias or part of one; default: all workflows.
    q: Option<String>,
}

/// Lists the entities of a session, with relations and relevance.
#[utoipa::path(get, path = "/conversations/{id}/entities", tag = "entities",
    params(("id" = String, Path, description = "Id of the session")),
    responses((status = 200, body = Entities), (status = 404, body = Problem)))]
pub(super) async fn entities(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path(id): Path<SessionId>,
) -> Result<Json<Entities>, Problem> {
    let list = app.engine().entities(&caller, &id).await?;
    let EntityList { entities, topic, more_known } = list;
    Ok(Json(Entities { entities, topic, more_known }))
}

/// Lists the workflows that a session refers to.
#[utoipa::path(get, path = "/conversations/{id}/workflows", tag = "entities",
    params(("id" = String, Path, description = "Id of the session"), ReferenceQuery),
    responses((status = 200, body = Workflows), (status = 404, body = Problem)))]
pub(super) async fn workflows(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path(id): Path<SessionId>,
    Query(query): Query<ReferenceQuery>,
) -> Result<Json<Workflows>, Problem> {
    let workflows = app.engine().references(&caller, &id, WORKFLOW, query.q.as_deref()).await?;
    Ok(Json(Workflows { workflows }))
}
