//! Background tasks of a server, over HTTP or stdio: backups, expiry, and the engine's own work.

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

/// Starts all tasks; they end with `stop`.
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

/// First the work left from before, then that of new turns.
async fn engine_work(engine: Arc<Engine>, stop: CancellationToken) {
    if let Err(error) = engine.background().find_due().await {
        tracing::warn!(%error, "cannot find sessions with pending work");
    }
    engine.run_background(stop).await;
}
