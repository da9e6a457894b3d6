//! Sessions: the head, the log of turns, and the one way both are read and written.
//!
//! [`head`] and [`record`] are the shapes, [`apply`] is how a turn changes a head, [`sessions`] loads and
//! commits through a cache that is never trusted without its version, [`turns`] reads turns, [`group_commit`] writes turns that
//! wait at the same time in one commit, [`usage`] counts which items were used. [`unreadable`] stands in for a turn
//! that is damaged, [`salvage`] makes a lost head anew, [`erase`] takes single turns out or, as [`withheld`] ones, out of use. [`share`]
//! lists the read-only links.
//!
//! Invariant: a turn enters the log only through [`Sessions::update`] or [`Sessions::commit_batched`].

pub mod apply;
mod cache;
pub mod client_body;
pub mod dialogue;
pub mod erase;
mod group_commit;
pub mod head;
pub mod pending;
pub mod record;
pub mod salvage;
pub mod sessions;
pub mod share;
pub mod tool_words;
mod turns;
pub mod unreadable;
pub mod unsettled;
pub mod usage;
pub mod withheld;

pub use cache::CacheStatistics;
pub use head::SessionHead;
pub use record::{CallRecord, ReplyForm, TurnKind, TurnRecord, TurnStatus};
pub use sessions::{LoadedSession, Sessions};
