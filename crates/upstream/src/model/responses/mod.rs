//! OpenAI's Responses: handed on where a provider serves them, and made from chat completions where it does not.
//!
//! # Layout
//!
//! - [`request`]: a request as chat completions take it. [`from_chat`], [`writer`]: the answer to it as a response.
//! - [`rename`]: another id in an answer that a provider gave itself.
//! - [`frames`]: a stream of events in whole events.
//!
//! Invariant: nothing here knows of sessions or memory.

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
