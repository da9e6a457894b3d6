//! `throughline mcp`: the MCP server over stdio.

use clap::Args;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::Settings;
use super::serve::demo_server;
use crate::agents::demo;
use crate::assemble::{self, Demo};
use crate::background;
use crate::failure::Failure;
use crate::mcp::{Mcp, stdio};
use crate::telemetry::{self, traces::Traces};

/// Arguments of `mcp`.
#[derive(Debug, Args)]
pub(super) struct Serve {
    /// Also start the demo inventory, so that tools-search and tools-call have tools to use.
    #[arg(long)]
    demo: bool,
}

/// Serves until the client disconnects.
pub(super) async fn run(flags: &Serve, settings: &Settings) -> Result<(), Failure> {
    let demo = Demo::by(flags.demo);
    let mut config = settings.load()?;
    if demo == Demo::With {
        config.servers.insert(demo::SERVER.into(), demo_server()?);
    }
    let traces = Traces::open(&config.telemetry)?;
    telemetry::log::start(&config.log, traces.as_ref());
    assemble::can_note_erasures(&config)?;
    let (store, kept) = assemble::store_and_copies(&config).await?;
    let assembled = assemble::engine(&config, store, demo).await?;
    assembled.servers.connect_in_background();
    let stop = CancellationToken::new();
    let tasks = TaskTracker::new();
    background::start(&config, &assembled.engine, kept, &stop, &tasks)?;
    tasks.close();
    let served = stdio::run(Mcp::local(assembled.engine.clone())).await;
    stop.cancel();
    tasks.wait().await;
    assembled.servers.shutdown().await;
    if let Some(traces) = traces {
        traces.close().await;
    }
    served
}
