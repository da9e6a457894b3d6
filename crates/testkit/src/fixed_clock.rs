//! A clock that stands still until a test moves it, and sequential ids.
//!
//! Invariant: two clocks created and used in the same way give the same times and ids.

use std::sync::Mutex;
use std::time::Duration;

use jiff::Timestamp;
use throughline_engine::clock::Clock;
use uuid::Uuid;

/// The default start: 2026-11-15T09:00:00Z.
pub const START_SECONDS: i64 = 1_794_733_200;

/// A clock moved by a test.
#[derive(Debug)]
pub struct FixedClock(Mutex<(Timestamp, u64)>);

impl FixedClock {
    /// A clock that starts at `start`.
    pub fn at(start: Timestamp) -> Self {
        Self(Mutex::new((start, 0)))
    }

    /// Sets the time.
    pub fn set(&self, now: Timestamp) {
        self.0.lock().expect("no test panics while it holds the clock").0 = now;
    }

    /// Advances the time.
    pub fn advance(&self, by: Duration) {
        let mut state = self.0.lock().expect("no test panics while it holds the clock");
        state.0 += by;
    }
}

impl Default for FixedClock {
    fn default() -> Self {
        Self::at(Timestamp::from_second(START_SECONDS).expect("the start is a valid time"))
    }
}

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        self.0.lock().expect("no test panics while it holds the clock").0
    }

    /// A UUIDv7 of the clock's time whose random part counts up from 1.
    fn id(&self) -> Uuid {
        let mut state = self.0.lock().expect("no test panics while it holds the clock");
        state.1 += 1;
        let millis = u64::try_from(state.0.as_millisecond()).unwrap_or(0);
        let mut random = [0; 10];
        random[2..].copy_from_slice(&state.1.to_be_bytes());
        uuid::Builder::from_unix_timestamp_millis(millis, &random).into_uuid()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_stands_still_until_moved_and_ids_are_in_order() {
        let clock = FixedClock::default();
        assert_eq!(clock.now().to_string(), "2026-11-15T09:00:00Z");
        let (one, two) = (clock.id(), clock.id());
        clock.advance(Duration::from_millis(1));
        let three = clock.id();
        assert_eq!(clock.now().to_string(), "2026-11-15T09:00:00.001Z");
        assert!(one < two && two < three);
        assert_eq!(one.get_version_num(), 7);
        assert_eq!(FixedClock::default().id(), one);
    }
}
