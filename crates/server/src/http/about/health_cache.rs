//! Write probes of the store, at most one per second and with a time limit.
//!
//! Schedulers probe often, and an unreachable store may take many seconds to fail. Concurrent callers share one
//! probe.

use std::time::Duration;

use throughline_engine::store::StoreError;
use tokio::sync::Mutex;
use tokio::time::Instant;

/// How long a result is reused.
const HOLDS: Duration = Duration::from_secs(1);

/// The last result.
#[derive(Debug, Default)]
pub struct HealthCache(Mutex<Option<(Instant, Result<(), String>)>>);

impl HealthCache {
    /// Runs `probe` unless a recent result exists; the error is the reason why the store cannot be written.
    pub async fn check(
        &self,
        probe: impl Future<Output = Result<(), StoreError>>,
        limit: Duration,
    ) -> Result<(), String> {
        let mut last = self.0.lock().await;
        if let Some((at, answer)) = &*last
            && at.elapsed() < HOLDS
        {
            return answer.clone();
        }
        let answer = match tokio::time::timeout(limit, probe).await {
            Ok(answer) => answer.map_err(|error| error.to_string()),
            Err(_) => Err(format!("the store did not answer within {} seconds", limit.as_secs())),
        };
        // Counted from the end of the probe, so that a slow one is not repeated at once.
        *last = Some((Instant::now(), answer.clone()));
        answer
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::*;

    const LIMIT: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn a_store_that_does_not_answer_is_given_up_and_asked_again_later() {
        let cache = HealthCache::default();
        let reason = cache.check(pending(), LIMIT).await.expect_err("it never answers");
        assert_eq!(reason, "the store did not answer within 1 seconds");
        // The cached result is used.
        assert_eq!(cache.check(async { panic!("asked again") }, LIMIT).await, Err(reason));
        tokio::time::advance(HOLDS).await;
        assert_eq!(cache.check(ready(Ok(())), LIMIT).await, Ok(()));
        assert_eq!(cache.check(pending(), LIMIT).await, Ok(()));
    }
}
