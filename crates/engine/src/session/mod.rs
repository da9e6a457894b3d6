//! Sessions: the head, the log of turns, and the one way both are read and written.
//!
//! [`head`] and [`record`] are the shapes, [`apply`] is how a turn changes a head, [`keep`] loads and
//! commits through a cache that is never trusted without its version, [`together`] writes turns that
//! wait at the same time in one commit.
//!
//! Invariant: a turn enters the log only through [`keep::Sessions::update`] or
//! [`keep::Sessions::update_together`].

pub mod apply;
mod cache;
pub mod head;
pub mod keep;
pub mod pending;
pub mod record;
mod together;

pub use cache::CacheStatistics;
pub use head::{ItemName, SessionHead, SessionItem};
pub use keep::{Loaded, Sessions};
pub use record::{CallRecord, ReplyForm, TurnKind, TurnRecord, TurnStatus};
