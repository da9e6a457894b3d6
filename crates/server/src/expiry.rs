//! The daily sweep of expired contexts and sessions, and of old copies.
//!
//! The engine decides what to sweep; this module decides when, and where copies go.

use std::sync::Arc;
use std::time::Duration;

use throughline_engine::access::Caller;
use throughline_engine::engine::Engine;
use tokio_util::sync::CancellationToken;

use crate::backup::kept::KeptCopies;

/// Interval between sweeps.
const EVERY: Duration = Duration::from_secs(24 * 60 * 60);
/// Delay of the first sweep, so that it does not slow the start.
const FIRST: Duration = Duration::from_secs(5);

/// Sweeps once a day until `stop`; copies are kept for `days`, or for ever if 0.
pub async fn sweep_daily(
    engine: Arc<Engine>,
    kept: Arc<KeptCopies>,
    days: u32,
    stop: CancellationToken,
) {
    let mut wait = FIRST;
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(wait) => {}
        }
        wait = EVERY;
        sweep(&engine, kept.as_ref()).await;
        if days > 0 {
            match kept.remove_older(days, engine.now()) {
                Ok(0) => {}
                Ok(files) => tracing::info!(files, days, "old copies removed"),
                Err(error) => tracing::warn!(%error, "cannot remove old copies"),
            }
        }
    }
}

async fn sweep(engine: &Engine, kept: &KeptCopies) {
    match engine.sweep_expired(&Caller::local(), kept).await {
        Ok(sweep) => {
            tracing::info!(
                contexts = sweep.contexts,
                warned = sweep.warned,
                put_aside = sweep.put_aside,
                purged = sweep.purged,
                "expiry sweep finished"
            );
            for problem in sweep.problems {
                tracing::warn!("skipped: {problem}");
            }
        }
        Err(error) => tracing::warn!(%error, "expiry sweep failed"),
    }
}
