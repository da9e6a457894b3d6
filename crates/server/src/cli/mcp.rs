//! `throughline mcp`: the MCP server on standard input and output.

use tokio_util::sync::CancellationToken;

use super::Settings;
use crate::assemble::{self, Demo};
use crate::failure::Failure;
use crate::mcp::{Mcp, stdio};
use crate::telemetry;

/// Serves until the client goes.
pub async fn run(settings: &Settings) -> Result<(), Failure> {
    let config = settings.load()?;
    telemetry::log::start(&config.log);
    let store = assemble::store(&config).await?;
    let assembled = assemble::engine(&config, store, Demo::Without).await?;
    assembled.servers.connect_in_background();
    let stop = CancellationToken::new();
    let tending = {
        let (engine, stop) = (assembled.engine.clone(), stop.clone());
        tokio::spawn(async move { engine.tend_until(stop).await })
    };
    let served = stdio::run(Mcp::local(assembled.engine.clone())).await;
    stop.cancel();
    if tending.await.is_err() {
        tracing::warn!("background work ended before its time");
    }
    assembled.servers.shutdown().await;
    served
}
