//! Turns that the engine answers: chat, streamed chat, queries and approvals.
//!
//! A turn runs as its own task. When its client disconnects it is cancelled, and the reply so far is kept; a
//! commit is never interrupted.

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

pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(reply::chat))
        .routes(routes!(stream::chat_stream))
        .routes(routes!(query::query))
        .routes(routes!(approve::approve))
}
