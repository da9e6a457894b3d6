//! The engine's clock and its source of chance, both given from outside.
//!
//! Invariant: no other module of the engine asks the operating system for the time or for randomness.

use jiff::Timestamp;
use uuid::Uuid;

/// Tells the time and makes ids.
pub trait Clock: Send + Sync + 'static {
    fn now(&self) -> Timestamp;

    /// A new time-ordered id (UUIDv7).
    fn id(&self) -> Uuid;
}
