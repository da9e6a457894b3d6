//! The system clock and random ids for the engine.

use std::sync::Arc;

use jiff::Timestamp;
use throughline_engine::clock::Clock;
use uuid::Uuid;

/// The system clock.
pub fn system() -> Arc<dyn Clock> {
    Arc::new(SystemClock)
}

/// The system clock, with version 7 UUIDs.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn id(&self) -> Uuid {
        Uuid::now_v7()
    }
}
