//! Drop-in model endpoints: an unchanged OpenAI or Anthropic client with another base URL, and the
//! header `x-session-id`, gains memory.
//!
//! A request is handed on as it came; with a session, what the client does not send itself is put in
//! front of its last message, and the exchange is kept. Without one nothing is added and nothing kept.
//! Where no provider of the format is configured, the engine answers and is dressed in that format.
//!
//! Invariant: the provider's answer reaches the client byte for byte; a Throughline key never leaves.
//!
//! # Layout
//!
//! - [`upstreams`]: where requests go. [`visitor`]: who asks, and with whose credential.
//! - [`client_body`], [`splice`], [`calls`]: a request read, and added to without touching the rest.
//! - [`forward`], [`keep`]: the way there and back, and the turn that is left. [`headers`]: what passes.
//!   [`handed_on`]: a request that was handed on, again.
//! - [`converse`], [`dress`]: the engine's own answer in a provider's clothes. [`refusal`]: errors.

mod calls;
mod client_body;
mod converse;
mod dress;
mod forward;
pub mod handed_on;
mod headers;
mod keep;
pub mod refusal;
mod reply;
mod splice;
mod through;
mod upstreams;
mod visitor;

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
        .route("/v1/messages", post(reply::anthropic))
        .route("/v1/messages/count_tokens", post(through::count_tokens))
        .route("/v1/models", get(through::models))
        .route("/v1/models/{*model}", get(through::models))
}
