//! `POST /conversations/{id}/calls`: a tool call that the application's own model requested.
//!
//! A prepared request declares some tools, names others and offers `find_tools` and `call_tool`. An application hands
//! each call of its model to this route as the model wrote it. The session's rules apply.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};
use throughline_engine::engine::{Called, NamedCall};
use throughline_engine::id::SessionId;
use tokio_util::sync::CancellationToken;
use utoipa::ToSchema;

use super::turn::ToolExecution;
use crate::http::App;
use crate::http::agents::calls::APPROVAL_NEEDED;
use crate::http::body::Body;
use crate::http::caller::Authenticated;
use crate::http::idempotency::IdempotencyKey;
use crate::http::part::Path;
use crate::http::problem::Problem;

/// A call as a model requested it.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ModelCallBody {
    /// Name of the tool in the prepared request, such as `inventory__get_site`, `find_tools` or `call_tool`.
    name: String,
    /// The arguments; default: none.
    #[serde(default = "none")]
    #[schema(value_type = Object)]
    arguments: Value,
    /// Whether the call may run even if it needs approval; default: false.
    #[serde(default)]
    approve: bool,
}

fn none() -> Value {
    json!({})
}

/// Makes a tool call for the application's own model. A tool that fails, or arguments that do not match its schema, are
/// answered with `ok: false`; the error then includes the definition.
#[utoipa::path(post, path = "/conversations/{id}/calls", tag = "turns", operation_id = "call_for_model",
    request_body = ModelCallBody, params(("id" = String, Path, description = "Id of the session")),
    responses((status = 200, body = ToolExecution), (status = 400, body = Problem), (status = 403, body = Problem),
        (status = 404, body = Problem), (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(super) async fn call(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path(id): Path<SessionId>,
    key: IdempotencyKey,
    body: Body<ModelCallBody>,
) -> Result<Json<ToolExecution>, Problem> {
    let ModelCallBody { name, arguments, approve } = body.value;
    if !arguments.is_object() {
        return Err(Problem::invalid("arguments", "they are not an object"));
    }
    let key = key.of(&format!("call {id} {name}"), &body.bytes);
    let call = NamedCall { name, arguments, key, approved: approve };
    let engine = app.engine().clone();
    let calling =
        async move { engine.call_by_name(&caller, &id, call, CancellationToken::new()).await };
    match app.to_the_end(calling).await?? {
        Called::Made(record) => Ok(Json((&record).into())),
        Called::Waits(awaited) => Err(Problem::new(
            StatusCode::CONFLICT,
            APPROVAL_NEEDED,
            format!("{} was not called: {}", awaited.tool, awaited.reason),
            "send \"approve\": true to let it run",
        )),
    }
}
