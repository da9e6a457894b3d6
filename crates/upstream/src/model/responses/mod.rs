//! OpenAI's Responses: forwarded to providers that serve them, otherwise converted from chat completions.
//!
//! # Layout
//!
//! - [`request`]: converts a request to chat completions. [`from_chat`], [`writer`]: convert the answer back.
//! - [`rename`]: replaces the id in a provider's own response.
//! - [`frames`]: splits a stream into events.
//!
//! Invariant: this module knows nothing of sessions or memory.

mod frames;
mod from_chat;
mod rename;
mod request;
mod writer;

pub use frames::Frames;
pub use from_chat::{FromChat, whole};
pub use rename::Rename;
pub use request::{ChatRequest, to_chat};
pub use writer::ResponseWriter;
