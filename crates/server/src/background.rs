//! What runs beside a server, over HTTP or over standard input and output, until it is asked to stop.
//!
//! Backups at their interval, expiry, and the engine's own work.

use std::sync::Arc;

use throughline_engine::engine::Engine;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::assemble;
use crate::backup::daily;
use crate::backup::kept::KeptCopies;
use crate::config::Config;
use crate::expiry;
use crate::failure::Failure;

/// Starts all of it.
pub fn start(
    config: &Config,
    engine: &Arc<Engine>,
    kept: Arc<KeptCopies>,
    stop: &CancellationToken,
    tasks: &TaskTracker,
) -> Result<(), Failure> {
    let (url, options) = assemble::store_options(config)?;
    let days = config.backups.kept_days;
    tasks.spawn(expiry::sweep_daily(engine.clone(), kept, days, stop.clone()));
    tasks.spawn(daily::back_up_until(stop.clone(), url, options, config.backups.clone()));
    tasks.spawn(engine_work(engine.clone(), stop.clone()));
    Ok(())
}

/// First what is behind from before, then what turns leave behind.
async fn engine_work(engine: Arc<Engine>, stop: CancellationToken) {
    if let Err(error) = engine.background().find_due().await {
        tracing::warn!(%error, "sessions that are behind could not be looked for");
    }
    engine.run_background(stop).await;
}
