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
//! - [`session`]: the head, the log, and how both are read and written.
//! - [`piece`], [`budget`], [`layout`], [`receipt`]: what a request is made of.
//! - [`agent`], [`persona`], [`preset`], [`mode`], [`prompt`]: what is said to the model, and by whose word.
//! - [`search`]: ranking of turns, items and tools.
//! - [`entity`], [`pack`]: things the conversation is about.
//! - [`engine`]: the door through which transports come in.

pub mod access;
pub mod agent;
pub mod budget;
pub mod chats;
pub mod clock;
pub mod context;
pub mod embed;
pub mod engine;
pub mod enrich;
pub mod entity;
pub mod error;
pub mod failure;
pub mod hash;
pub mod history;
pub mod id;
pub mod index;
pub mod layout;
pub mod limits;
pub mod memory;
pub mod mode;
pub mod model;
pub mod notice;
pub mod pack;
pub mod persona;
pub mod piece;
pub mod pin;
pub mod preset;
pub mod prompt;
pub mod rebuild;
pub mod receipt;
pub mod receipt_diff;
pub mod reply;
pub mod resolve;
pub mod search;
pub mod select;
pub mod session;
pub mod shared;
pub mod store;
pub mod summary;
pub mod tend;
pub mod tokens;
pub mod tool;
pub mod trace;
pub mod turn;
pub mod usage;
