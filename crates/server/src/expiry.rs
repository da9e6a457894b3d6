//! The daily look at contexts and sessions that expire, and at copies that were kept long enough.
//!
//! What a sweep does is the engine's; here is only when, and where the copies go.

use std::sync::Arc;
use std::time::Duration;

use throughline_engine::access::Caller;
use throughline_engine::engine::Engine;
use tokio_util::sync::CancellationToken;

use crate::backup::kept::KeptCopies;

/// Between two sweeps.
const EVERY: Duration = Duration::from_secs(24 * 60 * 60);
/// Before the first one, so that a start is not slowed.
const FIRST: Duration = Duration::from_secs(5);

/// Sweeps once a day until `stop`; copies are kept for `days`, for ever where that is 0.
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
                Ok(files) => tracing::info!(files, days, "kept copies were removed"),
                Err(error) => tracing::warn!(%error, "kept copies could not be removed"),
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
                "looked for what has expired"
            );
            for problem in sweep.problems {
                tracing::warn!("left as it is: {problem}");
            }
        }
        Err(error) => tracing::warn!(%error, "what has expired could not be looked for"),
    }
}
