//! The engine's source of time and ids, provided from outside.
//!
//! Invariant: no other engine module asks the operating system for the time or for randomness.

use jiff::Timestamp;
use uuid::Uuid;

pub trait Clock: Send + Sync + 'static {
    fn now(&self) -> Timestamp;

    /// A new time-ordered id (UUIDv7).
    fn id(&self) -> Uuid;
}
