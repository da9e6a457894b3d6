//! `GET /entities/{type}/{name}/conversations` and `GET /workflows/{spec_id}/conversations`.

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use throughline_engine::engine::RelatedSession;
use utoipa::ToSchema;

use crate::http::App;
use crate::http::caller::Authenticated;
use crate::http::part::Path;
use crate::http::problem::Problem;
use crate::http::shapes;

/// Sessions that mention an entity.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct About {
    /// The sessions, most recently changed first.
    #[schema(value_type = Vec<shapes::SessionAbout>)]
    pub conversations: Vec<RelatedSession>,
}

/// Lists the caller's sessions that mention an entity.
#[utoipa::path(get, path = "/entities/{type}/{name}/conversations", tag = "entities",
    params(("type" = String, Path, description = "Entity type, such as `device`"),
        ("name" = String, Path, description = "Name or id of the entity")),
    responses((status = 200, body = About)))]
pub(super) async fn entity(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path((kind, name)): Path<(String, String)>,
) -> Result<Json<About>, Problem> {
    let conversations = app.engine().sessions_about(&caller, &kind, &name).await?;
    Ok(Json(About { conversations }))
}

/// Lists the caller's sessions that refer to a workflow.
#[utoipa::path(get, path = "/workflows/{spec_id}/conversations", tag = "entities",
    params(("spec_id" = String, Path, description = "Id or name of the workflow")),
    responses((status = 200, body = About)))]
pub(super) async fn workflow(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path(name): Path<String>,
) -> Result<Json<About>, Problem> {
    let conversations = app.engine().sessions_about(&caller, "workflow", &name).await?;
    Ok(Json(About { conversations }))
}
