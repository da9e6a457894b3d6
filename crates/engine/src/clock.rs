//! The engine's source of time and ids, provided from outside.
//!
//! Invariant: timestamps and ids come only from here. Durations are measured with the monotonic clock.

use jiff::Timestamp;
use uuid::Uuid;

pub trait Clock: Send + Sync + 'static {
    fn now(&self) -> Timestamp;

    /// A new time-ordered id (UUIDv7).
    fn id(&self) -> Uuid;
}
