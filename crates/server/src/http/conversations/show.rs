//! `GET /conversations/{id}`.

use axum::extract::State;
use throughline_engine::id::SessionId;

use super::view::{Conversation, Versioned, versioned};
use crate::http::App;
use crate::http::caller::Authenticated;
use crate::http::part::Path;
use crate::http::problem::Problem;

/// Returns a session.
#[utoipa::path(get, path = "/conversations/{id}", tag = "conversations",
    params(("id" = String, Path, description = "Id of the session")),
    responses((status = 200, body = Conversation), (status = 404, body = Problem)))]
pub(super) async fn show(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path(id): Path<SessionId>,
) -> Result<Versioned<Conversation>, Problem> {
    let loaded = app.engine().session(&caller, &id).await?;
    Ok(versioned(&loaded, app.engine().now()))
}
