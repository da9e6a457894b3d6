//! Contexts: sessions with a persona, in the camel-case form that their clients expect.

mod body;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use throughline_engine::error::{Error, Result};
use throughline_engine::preset::review;
use throughline_engine::session::LoadedSession;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;
use super::body::Body;
use super::caller::Authenticated;
use super::idempotency::IdempotencyKey;
use super::part::{Path, Query};
use super::problem::Problem;
use crate::persona_view::{ContextView, ReviewView};
use body::{ContextBody, ContextChange};

/// The routes under `/contexts`.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(show, change, delete))
        .routes(routes!(statistics))
}

/// Selects contexts.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct ListQuery {
    /// Number of the page, from 1; default: 1.
    page: Option<usize>,
    /// Contexts per page, 1–100; default: 10.
    page_size: Option<usize>,
    /// Whether to include expired and archived contexts; default `false`.
    include_expired: bool,
}

/// A page of contexts.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Contexts {
    /// The contexts, most recently changed first.
    contexts: Vec<ContextView>,
    /// Number of contexts on all pages.
    total_count: usize,
}

/// A context with a review of its prompt.
#[derive(Debug, Serialize, ToSchema)]
pub struct ReviewedContext {
    /// The context.
    #[serde(flatten)]
    context: ContextView,
    /// Review of the prompt.
    review: ReviewView,
}

fn view(app: &App, loaded: &LoadedSession) -> Result<ContextView> {
    let missing = || Error::NoSession(loaded.head.id.clone());
    ContextView::of(loaded, app.engine().now()).ok_or_else(missing)
}

fn reviewed(app: &App, loaded: &LoadedSession) -> Result<Json<ReviewedContext>> {
    let context = view(app, loaded)?;
    let review = review::review(&context.system_prompt, &context.personality).into();
    Ok(Json(ReviewedContext { context, review }))
}

/// Lists the caller's contexts.
#[utoipa::path(get, path = "/contexts", tag = "contexts", params(ListQuery),
    responses((status = 200, body = Contexts)))]
pub async fn list(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Query(query): Query<ListQuery>,
) -> Result<Json<Contexts>, Problem> {
    let (page, size) = (query.page.unwrap_or(1), query.page_size.unwrap_or(10));
    let list = app.engine().list_contexts(&caller, page, size, query.include_expired).await?;
    let contexts = list.contexts.iter().map(|l| view(&app, l)).collect::<Result<_>>()?;
    Ok(Json(Contexts { contexts, total_count: list.total }))
}

/// Creates a context from a prompt, a preset or a template.
#[utoipa::path(post, path = "/contexts", tag = "contexts", request_body = ContextBody,
    params(("idempotency-key" = Option<String>, Header, description = "Key of this request, 1–255 visible ASCII characters; a repetition returns the first result")),
    responses((status = 201, body = ReviewedContext), (status = 400, body = Problem)))]
pub async fn create(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    key: IdempotencyKey,
    body: Body<ContextBody>,
) -> Result<(StatusCode, Json<ReviewedContext>), Problem> {
    let key = key.of("contexts", &body.bytes);
    let loaded = app.engine().create_context(&caller, body.value.context(key)?).await?;
    Ok((StatusCode::CREATED, reviewed(&app, &loaded)?))
}

/// Returns a context.
#[utoipa::path(get, path = "/contexts/{id}", tag = "contexts",
    params(("id" = String, Path, description = "Id of the context")),
    responses((status = 200, body = ContextView), (status = 404, body = Problem)))]
pub async fn show(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path(id): Path<String>,
) -> Result<Json<ContextView>, Problem> {
    let loaded = app.engine().context(&caller, &id).await?;
    Ok(Json(view(&app, &loaded)?))
}

/// Changes a context and extends its expiry.
#[utoipa::path(patch, path = "/contexts/{id}", tag = "contexts", request_body = ContextChange,
    params(("id" = String, Path, description = "Id of the context")),
    responses((status = 200, body = ReviewedContext), (status = 404, body = Problem)))]
pub async fn change(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path(id): Path<String>,
    body: Body<ContextChange>,
) -> Result<Json<ReviewedContext>, Problem> {
    let loaded = app.engine().update_context(&caller, &id, body.value.patch()).await?;
    Ok(reviewed(&app, &loaded)?)
}

/// Archives a context; `PATCH` with `isActive` restores it until it is purged.
#[utoipa::path(delete, path = "/contexts/{id}", tag = "contexts",
    params(("id" = String, Path, description = "Id of the context")),
    responses((status = 200, body = ContextView), (status = 404, body = Problem)))]
pub async fn delete(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path(id): Path<String>,
) -> Result<Json<ContextView>, Problem> {
    let loaded = app.engine().delete_context(&caller, &id).await?;
    Ok(Json(view(&app, &loaded)?))
}

/// Returns the statistics of a context, its summary and its topic.
#[utoipa::path(get, path = "/contexts/{id}/statistics", tag = "contexts",
    params(("id" = String, Path, description = "Id of the context")),
    responses((status = 200, body = Object), (status = 404, body = Problem)))]
pub async fn statistics(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path(id): Path<String>,
) -> Result<Json<throughline_engine::engine::Statistics>, Problem> {
    let loaded = app.engine().context(&caller, &id).await?;
    Ok(Json(app.engine().statistics(&caller, &loaded.head.id).await?))
}
