//! The OpenAPI document, collected from the handlers, and its rendered form.
//!
//! # Layout
//!
//! - [`complete`]: what all operations share.
//! - `others.json`: operations of other protocols served here. `examples.json`: real requests and responses,
//!   written by a test that checks them against the schemas.
//! - [`mod@reference`]: the page at `/api/docs`.

mod complete;
mod reference;

use axum::Router;
use axum::http::{HeaderValue, header};
use axum::response::{Html, IntoResponse};
use axum::routing::get;
use bytes::Bytes;
use utoipa::OpenApi;
use utoipa::openapi::OpenApi as Document;
use utoipa_axum::router::OpenApiRouter;

use super::{
    App, about, agents, chat, contexts, conversations, entities, memories, presets, shared, users,
};

/// Head of the document.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Throughline",
        description = "Conversation memory for applications built on language models and \
                   MCP tools. Errors are application/problem+json with a stable code and a hint.",
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0")
    ),
    components(schemas(
        agents::UsageFormat,
        conversations::Direction,
        conversations::ExportFormat,
        super::problem::Problem
    ))
)]
struct Info;

/// All documented routes.
pub fn documented() -> OpenApiRouter<App> {
    let api = OpenApiRouter::new()
        .merge(conversations::routes())
        .merge(chat::routes())
        .merge(agents::routes())
        .merge(entities::routes())
        .merge(contexts::routes())
        .merge(presets::routes())
        .merge(memories::routes())
        .merge(users::routes())
        .merge(shared::routes())
        .merge(about::routes());
    OpenApiRouter::with_openapi(Info::openapi()).nest("/api/v1", api).merge(about::metrics_route())
}

/// Serves the document and its rendered form.
pub fn route(document: Document) -> Router<App> {
    let document = complete::complete(document);
    let page = Bytes::from(reference::page(&document));
    let document = Bytes::from(document.to_string());
    let json = [(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))];
    let style = [(header::CONTENT_TYPE, HeaderValue::from_static("text/css"))];
    Router::new()
        .route("/api/openapi.json", get(async move || (json, document).into_response()))
        .route("/api/docs", get(async move || Html(page).into_response()))
        .route("/api/docs/reference.css", get(async move || (style, reference::STYLE)))
}
