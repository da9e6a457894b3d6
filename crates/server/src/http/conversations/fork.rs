//! `POST /conversations/{id}/fork`.

use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use throughline_engine::id::SessionId;
use utoipa::ToSchema;

use super::view::{Conversation, Versioned, versioned};
use crate::http::App;
use crate::http::body::Body;
use crate::http::caller::Authenticated;
use crate::http::part::Path;
use crate::http::problem::Problem;

/// Where to fork.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ForkBody {
    /// Last turn to copy, from 1; default: the last turn of the session.
    turn: Option<u64>,
    /// Id of the new session; generated if absent.
    id: Option<String>,
}

/// Forks a session: creates a new one with the turns up to a given turn.
#[utoipa::path(post, path = "/conversations/{id}/fork", tag = "conversations",
    request_body = ForkBody, params(("id" = String, Path, description = "Id of the session")),
    responses((status = 201, body = Conversation), (status = 404, body = Problem)))]
pub(super) async fn fork(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path(id): Path<SessionId>,
    body: Body<ForkBody>,
) -> Result<(StatusCode, Versioned<Conversation>), Problem> {
    let new_id = body.value.id.map(SessionId::new).transpose()?;
    let loaded = app.engine().fork(&caller, &id, body.value.turn, new_id).await?;
    Ok((StatusCode::CREATED, versioned(&loaded, app.engine().now())))
}
