//! `throughline serve`: REST, MCP and the page.

use std::net::SocketAddr;
use std::sync::Arc;

use clap::Args;
use throughline_engine::engine::Engine;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::access::{Gate, Keys};
use crate::assemble;
use crate::config::Config;
use crate::failure::Failure;
use crate::http::{self, App};
use crate::telemetry;

/// Flags of `serve`.
#[derive(Debug, Args)]
pub struct Serve {
    /// Address and port instead of the configured ones.
    #[arg(long, value_name = "HOST:PORT")]
    bind: Option<SocketAddr>,
    /// The store instead of the configured one.
    #[arg(long, value_name = "URL")]
    store: Option<String>,
}

impl Serve {
    /// Serves until it is asked to stop.
    pub async fn run(self, mut config: Config) -> Result<(), Failure> {
        if let Some(bind) = self.bind {
            config.server.bind = bind;
        }
        if let Some(store) = self.store {
            config.store.url = store;
        }
        telemetry::start();
        let store = assemble::store(&config).await?;
        let keys = Keys::new(store.clone(), assemble::clock());
        let gate = Gate::open(keys, config.server.bind.ip()).await?;
        let engine = Arc::new(assemble::engine(&config, store).await?);
        let listener = listen(config.server.bind).await?;
        let address = listener.local_addr()?;
        let facts = engine.store().facts();
        tracing::info!(
            store.backend = facts.backend,
            store.location = facts.location,
            store.durability = %facts.durability,
            "serving on http://{address}"
        );
        let stop = CancellationToken::new();
        let tending = tokio::spawn(tend(engine.clone(), stop.clone()));
        let app = App::new(engine, gate, config.server);
        http::run(listener, app, asked_to_stop()?).await?;
        stop.cancel();
        tending.await.ok();
        tracing::info!("stopped");
        Ok(())
    }
}

/// Background work: first what is behind from before, then what turns leave behind.
async fn tend(engine: Arc<Engine>, stop: CancellationToken) {
    if let Err(error) = engine.tend_all().await {
        tracing::warn!(%error, "sessions that are behind could not be looked for");
    }
    engine.tend_until(stop).await;
}

async fn listen(bind: SocketAddr) -> Result<TcpListener, Failure> {
    TcpListener::bind(bind).await.map_err(|error| {
        Failure::new(format!("{bind} cannot be listened on: {error}"), "use another --bind")
    })
}

/// Answers when the process is asked to end.
fn asked_to_stop() -> Result<impl Future<Output = ()> + Send + 'static, Failure> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tracing::info!("stopping: finishing what is under way");
    })
}
