//! The machine's clock and its source of chance, given to the engine.

use std::sync::Arc;

use jiff::Timestamp;
use throughline_engine::clock::Clock;
use uuid::Uuid;

/// The clock of everything.
pub fn system() -> Arc<dyn Clock> {
    Arc::new(SystemClock)
}

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
