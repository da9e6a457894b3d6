//! All data of a user: `DELETE /users/{id}` and `GET /users/{id}/export`; and who the caller is: `GET /me`.

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use futures::StreamExt;
use serde::{Deserialize, Serialize};
use throughline_engine::access::Grants;
use throughline_engine::id::UserId;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;
use super::caller::Authenticated;
use super::part::{Path, Query};
use super::problem::Problem;
use crate::user_view::{self, ErasedUser};

/// The routes under `/users`.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(erase)).routes(routes!(export)).routes(routes!(me))
}

/// The caller, as the server knows them.
#[derive(Debug, Serialize, ToSchema)]
pub struct Me {
    /// Id of the user whose data is reached; `local` without a key.
    pub user: String,
    /// Tenant of the user.
    pub tenant: String,
    /// `read`, `write` or `admin`: what the key or token allows.
    pub role: &'static str,
}

/// Returns the user, tenant and role of the caller.
#[utoipa::path(get, path = "/me", tag = "users", responses((status = 200, body = Me)))]
pub async fn me(Authenticated(caller): Authenticated) -> Json<Me> {
    let role = match caller.grants {
        Grants::Read => "read",
        Grants::Write => "write",
        Grants::Admin => "admin",
    };
    let (user, tenant) = (caller.scope.user.to_string(), caller.scope.tenant.to_string());
    Json(Me { user, tenant, role })
}

/// Confirmation of the erasure.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Confirmation {
    /// Id of the user, repeated as a confirmation: the erasure cannot be undone.
    confirm: Option<String>,
}

/// Erases everything stored about a user: sessions, memories, files, presets, keys. Users may erase themselves;
/// administrators may erase any user of their tenant.
#[utoipa::path(delete, path = "/users/{id}", tag = "users",
    params(("id" = String, Path, description = "Id of the user"), Confirmation),
    responses((status = 200, body = ErasedUser), (status = 400, body = Problem),
        (status = 403, body = Problem), (status = 404, body = Problem)))]
pub async fn erase(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path(id): Path<UserId>,
    Query(query): Query<Confirmation>,
) -> Result<Json<ErasedUser>, Problem> {
    if query.confirm.as_deref() != Some(id.as_str()) {
        let reason =
            format!("everything of {id} would be erased; add ?confirm={id} if that is meant");
        return Err(Problem::invalid("confirm", reason));
    }
    let (engine, keys) = (app.engine().clone(), app.gate().keys().clone());
    let erasing = async move { user_view::erase(&engine, &keys, &caller, &id).await };
    let erased = app.to_the_end(erasing).await;
    app.gate().forget_known();
    Ok(Json(erased??))
}

/// Exports everything stored about a user, one JSON value per line: memories, files, presets, and each session
/// in the form that `POST /import` accepts. `Accept: text/plain` gets the same lines under that name.
#[utoipa::path(get, path = "/users/{id}/export", tag = "users",
    params(("id" = String, Path, description = "Id of the user")),
    responses((status = 200, content((String = "application/x-ndjson"), (String = "text/plain"))),
        (status = 403, body = Problem), (status = 404, body = Problem)))]
pub async fn export(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path(id): Path<UserId>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let lines = user_view::export(app.engine().clone(), &caller, &id).await?;
    let lines = lines.map(|line| line.map(|value| format!("{value}\n")));
    // Generators of clients know no lines of JSON, and would read the answer as one value.
    let accepted = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    let plain = accepted.is_some_and(|kinds| kinds.starts_with("text/plain"));
    let kind = if plain { "text/plain; charset=utf-8" } else { "application/x-ndjson" };
    Ok(([(header::CONTENT_TYPE, kind)], Body::from_stream(lines)).into_response())
}
