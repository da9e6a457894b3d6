//! The core of Throughline: it keeps the thread of a conversation.
//!
//! The engine stores what was said, done and talked about; decides what the model sees on the next turn; and can
//! show afterwards exactly what it was sent, and why. It has no sockets, files or environment, and reads the time of
//! day through [`clock`] only: everything outside is behind a trait that the caller implements.
//!
//! # Layout
//!
//! - [`turn`]: the life of a turn, the table of contents of this crate.
//! - [`store`], [`model`], [`tool`], [`embed`], [`clock`], [`index`], [`shared`]: the ports, as traits.
//! - [`session`]: the head, the log, and how both are read and written; [`creation`] creates sessions.
//! - [`request`], [`piece`], [`history`], [`summary`], [`budget`], [`layout`], [`receipt`], [`rebuild`]: requests and
//!   receipts.
//! - [`image`]: pictures that come with a message.
//! - [`agent`], [`item`], [`persona`], [`preset`], [`mode`], [`prompt`]: the instructions to the model.
//! - [`notice`], [`resolve`], [`memory`], [`enrich`], [`select`], [`reply`]: the stages of a turn.
//! - [`schema`]: cost limits for tool schemas, and validation of arguments. [`exact`]: numbers that cannot be held.
//! - [`search`]: ranking of turns, items and tools.
//! - [`permission`], [`rule`], [`pin`], [`catalog`]: which tools exist, and what a call needs to run.
//! - [`lexicon`], [`weights`]: the words of a language, and the weight of each cue.
//! - [`entity`], [`pack`]: the things a session is about. [`fact`]: what is known about the user.
//! - [`tombstone`], [`life`]: what was erased, so that a restored copy can be erased again.
//! - [`background`], [`indexer`], [`worklist`]: work after a turn.
//! - [`sabotage`]: guarantees broken on purpose, for tests; compiled out of shipped builds.
//! - [`engine`]: the facade for transports. Nothing here depends on it.

pub mod access;
pub mod agent;
pub mod background;
pub mod budget;
pub mod catalog;
pub mod chats;
pub mod clock;
pub mod creation;
pub mod embed;
pub mod engine;
pub mod enrich;
pub mod entity;
pub mod error;
pub mod events;
pub mod exact;
pub mod excerpt;
pub mod fact;
pub mod failure;
mod full_stop;
pub mod grants;
pub mod hash;
pub mod history;
pub mod id;
pub mod image;
pub mod index;
pub mod indexer;
pub mod item;
pub mod labels;
pub mod layout;
pub mod lexicon;
pub mod life;
pub mod limits;
pub mod memory;
pub mod mode;
pub mod model;
pub mod models;
pub mod notice;
pub mod pack;
pub mod permission;
pub mod persona;
pub mod piece;
pub mod pin;
pub mod plain_text;
pub mod preset;
pub mod prompt;
pub mod rebuild;
pub mod receipt;
pub mod receipt_diff;
mod receipt_summary;
pub mod reply;
pub mod request;
pub mod resolve;
pub mod rounds;
pub mod rule;
pub mod sabotage;
pub mod schema;
pub mod search;
pub mod select;
mod sentence;
pub mod session;
pub mod share;
pub mod shared;
pub mod store;
pub mod summary;
pub mod tokens;
pub mod tombstone;
pub mod tool;
pub mod tool_choice;
mod tool_search;
pub mod tool_spec;
pub mod trace;
pub mod turn;
pub mod weights;
pub mod worklist;
