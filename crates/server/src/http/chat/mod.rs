//! Turns that the engine answers: chat, streamed chat, queries and approvals.
//!
//! A turn runs as a task of its own. When its client goes, it is told to stop, and what was said so far
//! is kept; it is not torn down in the middle of a commit.

mod approve;
mod body;
mod event;
mod query;
mod reply;
pub(in crate::http) mod run;
mod stream;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;

/// The routes.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(reply::chat))
        .routes(routes!(stream::chat_stream))
        .routes(routes!(query::query))
        .routes(routes!(approve::approve))
}
