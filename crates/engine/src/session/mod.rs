//! Sessions: the head, the log of turns, and how both are read and written.
//!
//! [`head`] and [`record`] are the data, [`apply`] applies a turn to a head, [`sessions`] loads and commits
//! through a cache that is always validated by version, [`turns`] reads turns, [`group_commit`] writes concurrent
//! turns in one commit, [`usage`] counts which items were used. [`unreadable`] stands in for a damaged turn,
//! [`salvage`] rebuilds a lost head, [`erase`] erases turns or makes them [`withheld`], [`redact`] removes what other turns
//! have of erased ones. [`share`] lists the read-only links.
//!
//! Invariant: a turn enters the log only through [`Sessions::create`], [`Sessions::update`] or
//! [`Sessions::commit_batched`].

pub mod apply;
mod cache;
pub mod client_body;
pub mod dialogue;
pub mod erase;
mod erased_words;
mod group_commit;
pub mod head;
pub mod pending;
pub mod record;
pub(crate) mod redact;
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
