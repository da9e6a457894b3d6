//! Sessions waiting for background work.
//!
//! In memory only: a session's head shows what is due, so a lost list costs nothing.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde::Serialize;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::store::Key;

/// Attempts before a session waits for its next turn or a restart.
const ATTEMPTS_MAX: u32 = 5;
/// Delay before the first retry.
const RETRY_FIRST: Duration = Duration::from_secs(1);
/// Growth of the delay: 1, 5, 25 and 125 seconds.
const RETRY_GROWTH: u32 = 5;
#[derive(Default)]
pub struct Worklist {
    waiting: Mutex<VecDeque<Key>>,
    /// Sessions to check later: another server held the lease, a turn is waiting, or the work failed.
    later: Mutex<Vec<(Instant, Key)>>,
    attempts: Mutex<HashMap<Key, u32>>,
    pub(crate) wake: Notify,
    done: AtomicU64,
    failed: AtomicU64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct WorkStatistics {
    pub waiting: u64,
    /// Sessions processed since startup.
    pub done: u64,
    /// Failed attempts since startup.
    pub failed: u64,
}

impl Worklist {
    /// Adds a session unless it is already waiting.
    pub fn add(&self, key: &Key) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if !waiting.contains(key) {
            waiting.push_back(key.clone());
            drop(waiting);
            self.wake.notify_one();
        }
    }

    pub(crate) fn take_all(&self) -> Vec<Key> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let mut later = self.later.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let due = later.extract_if(.., |(at, _)| *at <= now).map(|(_, key)| key);
        let mut taken: Vec<Key> = waiting.drain(..).collect();
        taken.extend(due);
        taken
    }

    /// Schedules a session after `wait`, or earlier if that was requested before.
    pub fn look_later(&self, key: &Key, wait: Duration) {
        let at = Instant::now() + wait;
        let mut later = self.later.lock().unwrap_or_else(PoisonError::into_inner);
        match later.iter_mut().find(|(_, other)| other == key) {
            Some((earlier, _)) => *earlier = at.min(*earlier),
            None => later.push((at, key.clone())),
        }
        drop(later);
        self.wake.notify_one();
    }

    /// Waits until a scheduled session is due; forever if there is none.
    pub(crate) async fn next_due(&self) {
        match self.first_due() {
            Some(at) => tokio::time::sleep_until(at).await,
            None => std::future::pending().await,
        }
    }

    fn first_due(&self) -> Option<Instant> {
        let later = self.later.lock().unwrap_or_else(PoisonError::into_inner);
        later.iter().map(|(at, _)| *at).min()
    }

    pub fn statistics(&self) -> WorkStatistics {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).len();
        let waiting = waiting + self.later.lock().unwrap_or_else(PoisonError::into_inner).len();
        WorkStatistics {
            waiting: waiting as u64,
            done: self.done.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
        }
    }

    /// Delay before the next attempt; `None` after too many failures, until the next turn.
    pub(crate) fn failed(&self, key: &Key) -> Option<Duration> {
        self.failed.fetch_add(1, Ordering::Relaxed);
        let mut attempts = self.attempts.lock().unwrap_or_else(PoisonError::into_inner);
        let count = attempts.entry(key.clone()).or_default();
        *count += 1;
        if *count < ATTEMPTS_MAX {
            return Some(RETRY_FIRST * RETRY_GROWTH.pow(*count - 1));
        }
        attempts.remove(key);
        None
    }

    pub(crate) fn succeeded(&self, key: &Key) {
        self.done.fetch_add(1, Ordering::Relaxed);
        self.attempts.lock().unwrap_or_else(PoisonError::into_inner).remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::system_scope;
    use crate::id::ThreadId;
    use crate::store::Kind;

    #[test]
    fn failed_work_waits_longer_each_time_then_for_the_next_turn() {
        let id = ThreadId::new("s").expect("valid");
        let key = Key { scope: system_scope(), kind: Kind::Session, id };
        let work = Worklist::default();
        let waits = || work.failed(&key).map(|wait| wait.as_secs());
        let first: Vec<_> = (0..5).map(|_| waits()).collect();
        assert_eq!(first, [Some(1), Some(5), Some(25), Some(125), None]);
        assert_eq!(waits(), Some(1), "the next turn starts anew");
        work.succeeded(&key);
        assert_eq!(work.failed(&key), Some(RETRY_FIRST));
        assert_eq!((work.statistics().failed, work.statistics().done), (7, 1));
    }
}
