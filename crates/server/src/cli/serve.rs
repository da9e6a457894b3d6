//! `throughline serve`: REST, MCP and the web page.

use std::net::SocketAddr;
use std::time::Duration;

use clap::Args;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::task::TaskTracker;

use super::Settings;
use crate::access::{Gate, Keys, Tokens, first_key};
use crate::agents::{demo, watch};
use crate::assemble::{self, Assembled, Demo};
use crate::background;
use crate::config::{Config, ServerEntry};
use crate::failure::Failure;
use crate::http::dropin::Upstreams;
use crate::http::{self, App, Setup};
use crate::telemetry::{self, traces::Traces};

/// Arguments of `serve`.
#[derive(Debug, Args)]
pub(super) struct Serve {
    /// Also start the demo inventory, an MCP server over stdio, and an agent that uses it.
    #[arg(long)]
    demo: bool,
    /// Listen on this address instead of the configured one.
    #[arg(long, value_name = "HOST:PORT")]
    bind: Option<SocketAddr>,
}

impl Serve {
    /// Serves until it is stopped.
    pub(super) async fn run(self, settings: &Settings) -> Result<(), Failure> {
        let flags = self.bind.map(|bind| ("server.bind", bind.to_string()));
        let (mut config, _) = settings.load_with(flags.as_slice())?;
        let traces = Traces::open(&config.telemetry)?;
        telemetry::log::start(&config.log, traces.as_ref());
        let demo = Demo::by(self.demo);
        if demo == Demo::With {
            config.servers.insert(demo::SERVER.into(), demo_server()?);
        }
        assemble::can_note_erasures(&config)?;
        let (store, kept) = assemble::store_and_copies(&config).await?;
        let keys = Keys::new(store.clone(), crate::clock::system());
        if let Some(key) = config.environment.secret(first_key::VARIABLE) {
            first_key::store(&keys, &key).await?;
        }
        let gate = Gate::open(keys, Tokens::of(&config.oauth)?, config.server.bind.ip()).await?;
        let assembled = assemble::engine(&config, store, demo).await?;
        raise_open_files();
        let listener = listen(config.server.bind).await?;
        // In parallel, so that the first turn need not wait for it; on one thread, so that the second reuses the
        // memory that the first has freed.
        tokio::task::spawn_blocking(|| {
            throughline_engine::fact::gather::warm_up();
            throughline_engine::tokens::warm_up();
        });
        // With port 0 the system has chosen one.
        config.server.bind = listener.local_addr()?;
        announce(&listener, &assembled)?;
        let servers = assembled.servers.clone();
        servers.connect_in_background();
        let tending = TaskTracker::new();
        let upstreams = Upstreams::of(&config)?;
        let app = application(&config, gate, assembled, &tending, upstreams);
        background::start(&config, app.engine(), kept, app.stopping(), &tending)?;
        tending.close();
        http::run(listener, app, asked_to_stop()?).await;
        tending.wait().await;
        servers.shutdown().await;
        if let Some(traces) = traces {
            traces.close().await;
        }
        tracing::info!("stopped");
        Ok(())
    }
}

/// The app and its background tasks.
fn application(
    config: &Config,
    gate: Gate,
    assembled: Assembled,
    beside: &TaskTracker,
    upstreams: Upstreams,
) -> App {
    let Assembled { engine, servers, folder, fixed } = assembled;
    let (settings, telemetry) = (config.server.clone(), config.telemetry.clone());
    let app = App::new(Setup { engine: engine.clone(), gate, settings, servers, telemetry })
        .with_upstreams(upstreams);
    if config.agents.poll_seconds > 0 {
        let every = Duration::from_secs(config.agents.poll_seconds);
        let stop = app.stopping().clone();
        beside.spawn(watch::watch(engine.clone(), folder, fixed, every, stop));
    }
    app
}

/// This binary as an MCP server.
pub(super) fn demo_server() -> Result<ServerEntry, Failure> {
    let command = std::env::current_exe()?.to_string_lossy().into_owned();
    Ok(demo::server(command))
}

/// Raises the limit of open files to the maximum: every connection needs one.
fn raise_open_files() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    if let Err(error) = setrlimit(Resource::Nofile, limit) {
        tracing::warn!(%error, "cannot raise the limit of open files");
    }
}

async fn listen(bind: SocketAddr) -> Result<TcpListener, Failure> {
    TcpListener::bind(bind).await.map_err(|error| {
        Failure::new(format!("cannot listen on {bind}: {error}"), "use another --bind")
    })
}

fn announce(listener: &TcpListener, assembled: &Assembled) -> Result<(), Failure> {
    let address = listener.local_addr()?;
    let facts = assembled.engine.store().facts();
    tracing::info!(
        store.backend = facts.backend,
        store.location = facts.location,
        store.durability = %facts.durability,
        models = assembled.engine.model_names().len(),
        "serving on http://{address}"
    );
    Ok(())
}

/// Completes on SIGTERM or SIGINT.
fn asked_to_stop() -> Result<impl Future<Output = ()> + Send + 'static, Failure> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tracing::info!("stopping: finishing requests and turns in progress");
    })
}
