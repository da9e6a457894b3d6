//! The machine's clock and its source of chance, given to the engine.

use jiff::Timestamp;
use throughline_engine::clock::Clock;
use uuid::Uuid;

/// Tells the machine's time.
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
