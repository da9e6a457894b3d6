//! The core of Throughline: it keeps the thread of a conversation.
//!
//! The engine remembers what was said, what was done and which things were talked about; decides what
//! the model sees on the next turn; and can show afterwards exactly what it saw, and why. It has no
//! sockets, files, environment or clock of its own: everything outside is behind a trait that the
//! caller provides.
//!
//! # Layout
//!
//! - [`turn`]: the life of a turn, the table of contents of this crate.
//! - [`store`], [`model`], [`tool`], [`embed`], [`clock`]: the outside, as traits.
//! - [`search`]: ranking of turns, items and tools.
//! - [`entity`], [`pack`]: things the conversation is about.

pub mod clock;
pub mod embed;
pub mod failure;
pub mod id;
pub mod model;
pub mod search;
pub mod store;
pub mod tool;
