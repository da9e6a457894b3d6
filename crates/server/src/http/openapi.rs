//! The OpenAPI document, gathered from the handlers themselves.

use axum::routing::get;
use axum::{Json, Router};
use utoipa::OpenApi;
use utoipa::openapi::OpenApi as Document;
use utoipa_axum::router::OpenApiRouter;

use super::{App, about, agents, chat, contexts, conversations, entities, presets};

/// What stands at the top of the document.
#[derive(OpenApi)]
#[openapi(info(
    title = "Throughline",
    description = "Keeps the thread of a conversation for applications built on language models and \
                   MCP tools. Errors are application/problem+json with a stable code and a hint.",
    license(name = "MIT OR Apache-2.0")
))]
struct Info;

/// Every documented route.
pub fn documented() -> OpenApiRouter<App> {
    let api = OpenApiRouter::new()
        .merge(conversations::routes())
        .merge(chat::routes())
        .merge(agents::routes())
        .merge(entities::routes())
        .merge(contexts::routes())
        .merge(presets::routes())
        .merge(about::routes());
    OpenApiRouter::with_openapi(Info::openapi()).nest("/api/v1", api).merge(about::metrics_route())
}

/// The route that shows the document.
pub fn route(document: Document) -> Router<App> {
    Router::new().route("/api/openapi.json", get(async move || Json(document)))
}
