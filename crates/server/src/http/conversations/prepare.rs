//! `POST /conversations/{id}/prepare`.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use throughline_engine::id::SessionId;
use throughline_engine::request::TurnInput;
use utoipa::ToSchema;

use super::context::ReceiptView;
use super::view::{Raw, json};
use crate::http::App;
use crate::http::body::Body;
use crate::http::caller::Authenticated;
use crate::http::part::Path;
use crate::http::problem::Problem;

/// A message that the application's own model will answer.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PrepareBody {
    /// The user's message, at most `limits.message_bytes_max` (256 KiB).
    message: String,
    /// Maximum tokens of the request; default: the context window less the reply.
    #[serde(default)]
    budget_tokens: Option<u32>,
}

/// A request for the application's own model, and its receipt.
#[derive(Debug, Serialize, ToSchema)]
pub struct PreparedContext {
    /// `system`, `messages` and `tools`, to be sent to the model.
    #[schema(value_type = Object)]
    pub request: Raw,
    /// What the request is made of. Its id can be given within 15 minutes when the exchange is recorded.
    pub receipt: ReceiptView,
}

/// Assembles a request for an application that calls its own model. Changes nothing.
#[utoipa::path(post, path = "/conversations/{id}/prepare", tag = "turns",
    request_body = PrepareBody, params(("id" = String, Path, description = "Id of the session")),
    responses((status = 200, body = PreparedContext), (status = 404, body = Problem)))]
pub async fn prepare(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path(id): Path<SessionId>,
    body: Body<PrepareBody>,
) -> Result<Json<PreparedContext>, Problem> {
    let PrepareBody { message, budget_tokens } = body.value;
    let input = TurnInput { message, budget_tokens, ..TurnInput::default() };
    let assembled = app.engine().prepare(&caller, &id, &input).await?;
    let receipt = ReceiptView::from(&assembled.receipt);
    Ok(Json(PreparedContext { request: json(&assembled.request), receipt }))
}
