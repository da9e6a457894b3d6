//! Drop-in model endpoints: an unchanged OpenAI or Anthropic client with another base URL, and the
//! header `x-session-id`, gains memory.
//!
//! A request is handed on as it came; with a session, what the client does not send itself is put in
//! front of its last message, and the exchange is kept. Without one nothing is kept, and only what is known of a user
//! who is named is added. A format that no configured model speaks is refused.
//!
//! Invariants: the provider's answer reaches the client byte for byte, unless it must change its format; a Throughline key
//! never leaves; memory never makes a request fail that was valid without it.
//!
//! # Layout
//!
//! - [`upstreams`]: where requests go. [`client`]: who asks, and with whose credential. [`thread`]: the session that a
//!   request belongs to.
//! - [`client_body`], [`user_words`], [`splice`], [`calls`]: a request read, and added to without touching the rest.
//!   [`housekeeping`]: requests that are left as they are.
//! - [`reply`], [`through`]: the routes. [`forward`], [`keep`]: the way there and back, and the turn that is left.
//!   [`answer_form`]: what an answer becomes. [`headers`], [`notes`]: what passes, and what we say.
//! - [`handed_on`]: a request that was handed on, again. [`stored`]: an answer again. [`refusal`]: errors.

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
mod splice;
mod stored;
mod thread;
mod through;
mod upstreams;
mod user_words;

use axum::Router;
use axum::routing::{get, post};

use super::App;

pub use upstreams::Upstreams;

/// The header that names the session.
pub const SESSION: &str = "x-session-id";

/// The routes, where providers' own clients expect them.
pub fn routes() -> Router<App> {
    Router::new()
        .route("/v1/chat/completions", post(reply::openai))
        .route("/v1/responses", post(reply::response))
        .route("/v1/messages", post(reply::anthropic))
        .route("/v1/messages/count_tokens", post(through::count_tokens))
        .route("/v1/embeddings", post(through::embeddings))
        .route("/v1/models", get(through::models))
        .route("/v1/models/{*model}", get(through::models))
}
