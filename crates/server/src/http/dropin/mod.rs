//! Drop-in model endpoints: an unchanged OpenAI or Anthropic client gains memory with another base URL and the
//! header `x-session-id`.
//!
//! A request is forwarded as sent. With a session, what the client does not send itself is inserted before its
//! last message, and the exchange is stored. Without one nothing is stored, and only memories of a named user
//! are added. An API that no configured model supports is rejected.
//!
//! Invariants: the provider's response reaches the client byte for byte, unless it must be converted; a
//! Throughline key is never passed on; memory never makes a valid request fail.
//!
//! # Layout
//!
//! - [`upstreams`]: the providers. [`client`]: caller and credentials. [`thread`]: the session of a request.
//! - [`client_body`], [`user_words`], [`splice`], [`calls`]: parsing a request and inserting into it.
//!   [`housekeeping`]: requests that get no memory.
//! - [`reply`], [`through`]: the routes. [`forward`], [`keep`]: forwarding, and storing the turn.
//!   [`answer_form`]: conversion of responses. [`headers`], [`notes`]: response headers.
//! - [`handed_on`]: rebuilds a forwarded request. [`stored`]: repeats a stored response.
//!   [`retrieve`]: stored responses by their ids. [`unserved`]: what OpenAI has beside them. [`refusal`]: errors.

mod answer_form;
mod calls;
mod client;
mod client_body;
mod forward;
pub mod handed_on;
mod headers;
mod housekeeping;
mod keep;
mod notes;
pub mod refusal;
mod reply;
mod retrieve;
mod splice;
mod stored;
mod thread;
mod through;
mod unserved;
mod upstreams;
mod user_words;

use axum::Router;
use axum::routing::{any, get, post};

use super::App;

pub use upstreams::Upstreams;

/// Names the session.
pub const SESSION: &str = "x-session-id";

/// The routes, at the paths that providers' clients expect.
pub fn routes() -> Router<App> {
    Router::new()
        .route("/v1/chat/completions", post(reply::openai))
        .route("/v1/responses", post(reply::response))
        .route("/v1/responses/input_tokens", post(unserved::input_tokens))
        .route("/v1/responses/compact", any(unserved::refuse))
        .route("/v1/responses/{id}/cancel", any(unserved::refuse))
        .route("/v1/conversations", any(unserved::refuse))
        .route("/v1/conversations/{*rest}", any(unserved::refuse))
        .route("/v1/responses/{id}", get(retrieve::show).delete(retrieve::delete))
        .route("/v1/responses/{id}/input_items", get(retrieve::input_items))
        .route("/v1/messages", post(reply::anthropic))
        .route("/v1/messages/count_tokens", post(through::count_tokens))
        .route("/v1/embeddings", post(through::embeddings))
        .route("/v1/models", get(through::models))
        .route("/v1/models/{*model}", get(through::models))
}
