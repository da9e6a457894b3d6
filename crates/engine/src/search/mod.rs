//! Ranks older turns, items and tools against a message, without a model.
//!
//! [`TurnIndex`] is for the older turns of a session, [`ItemIndex`] for rules, references and tools. Both combine
//! a word index ([`bm25`]) and a vector scan ([`vectors`]) with one formula ([`hybrid`]). Nothing here embeds:
//! the caller passes vectors, so this module is pure and never waits. A text without a vector (an empty slice) is
//! still found by its words.
//!
//! Invariant: an index contains no text, only hashed words, counts and vectors; it can be rebuilt from the log.

pub mod bm25;
pub mod calibrate;
pub mod hybrid;
mod items;
mod lengths;
mod order;
mod sittings;
mod speakers;
pub mod stem;
pub mod thesaurus;
mod turns;
mod unit;
pub mod vectors;
pub mod words;

pub use calibrate::Calibration;
pub use items::{ItemHit, ItemIndex, Steering, tool_text};
pub use speakers::split_name;
pub use turns::{Hit, Part, TURNS_EACH, TurnIndex};
pub use unit::{TurnUnit, VERSION as UNIT_VERSION};
