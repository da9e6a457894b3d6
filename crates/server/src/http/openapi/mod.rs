//! The OpenAPI document, gathered from the handlers themselves, and its rendered form.
//!
//! # Layout
//!
//! - [`complete`]: what every operation needs and no handler should repeat.
//! - `others.json`: operations of other protocols that are served here. `examples.json`: real requests and answers,
//!   written by a test and checked against the schemas by it.
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

/// What stands at the top of the document.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Throughline",
        description = "Keeps the thread of a conversation for applications built on language models and \
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

/// Every documented route.
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

/// The document, and the page that shows it to people.
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
