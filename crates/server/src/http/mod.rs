//! The REST API and what stands around it.
//!
//! A handler takes the request apart, calls the engine once and dresses the answer; nothing is decided
//! here about conversations. [`run`] is given its listener, so that a test uses port 0.
//!
//! # Layout
//!
//! - [`problem`]: errors. [`body`], [`part`]: requests, checked. [`condition`],
//!   [`idempotency`]: headers. [`caller`]: who is asking. [`oauth`]: where tokens come from.
//! - [`conversations`], [`chat`], [`agents`], [`entities`], [`memories`], [`about`]: the routes, a file a verb.
//!   [`shared`]: what a read-only link shows, to anybody who has it.
//! - [`dropin`]: the endpoints of model providers, for their own clients.
//! - [`connections`], [`stall`]: what a connection may cost. [`layers`], [`guard`]: what every request passes
//!   through. [`admit`]: what a request needs before its handler runs.

pub mod about;
mod admit;
pub mod agents;
pub mod body;
pub mod caller;
pub mod chat;
pub mod condition;
mod connections;
pub mod contexts;
pub mod conversations;
pub mod dropin;
pub mod entities;
pub mod guard;
pub mod idempotency;
mod layers;
mod mcp;
pub mod memories;
mod oauth;
pub mod openapi;
pub mod page;
pub mod part;
pub mod presets;
pub mod problem;
mod shapes;
mod shared;
mod stall;
pub mod users;

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use axum::middleware::{from_fn, from_fn_with_state};
use throughline_engine::engine::Engine;
use throughline_upstream::mcp::McpProxy;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::access::Gate;
use crate::config::{ServerSettings, TelemetrySettings};
use crate::telemetry::{self, Figures};
use about::health_cache::HealthCache;
use dropin::Upstreams;
use problem::Problem;

/// What the handlers share.
#[derive(Clone)]
pub struct App(Arc<AppParts>);

struct AppParts {
    setup: Setup,
    upstreams: Upstreams,
    figures: Arc<Figures>,
    turns: TaskTracker,
    health_cache: HealthCache,
    places: Semaphore,
    body_memory: Arc<Semaphore>,
    stopping: CancellationToken,
    giving_up: CancellationToken,
}

/// What an app is made of.
pub struct Setup {
    /// The engine.
    pub engine: Arc<Engine>,
    /// Who may come in.
    pub gate: Gate,
    /// Limits of the transport.
    pub settings: ServerSettings,
    /// MCP servers, for their state.
    pub servers: Arc<McpProxy>,
    /// Whether anything is counted.
    pub telemetry: TelemetrySettings,
}

impl App {
    /// An app over an engine.
    pub fn new(setup: Setup) -> Self {
        let figures = Arc::new(Figures::default());
        if setup.telemetry.enabled {
            telemetry::metrics::start();
            let figures = figures.clone();
            setup.engine.observe_turns(move |record, sent| figures.note(record, sent));
        }
        Self(Arc::new(AppParts {
            upstreams: Upstreams::default(),
            figures,
            turns: TaskTracker::new(),
            health_cache: HealthCache::default(),
            places: Semaphore::new(setup.settings.requests_at_once_max),
            body_memory: Arc::new(admit::body_memory(setup.settings.bodies_bytes_max)),
            stopping: CancellationToken::new(),
            giving_up: CancellationToken::new(),
            setup,
        }))
    }

    /// The same app with somewhere to hand drop-in requests on to; before it is shared.
    pub fn with_upstreams(self, upstreams: Upstreams) -> Self {
        let mut parts = Arc::into_inner(self.0).expect("an app is made before it is shared");
        parts.upstreams = upstreams;
        Self(Arc::new(parts))
    }

    /// Where drop-in requests are handed on to.
    pub fn upstreams(&self) -> &Upstreams {
        &self.0.upstreams
    }

    /// The engine.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.0.setup.engine
    }

    /// Who may come in.
    pub fn gate(&self) -> &Gate {
        &self.0.setup.gate
    }

    /// Limits of the transport.
    pub fn settings(&self) -> &ServerSettings {
        &self.0.setup.settings
    }

    /// Turns under way; they end by themselves when their client goes, and are waited for at the end.
    pub fn turns(&self) -> &TaskTracker {
        &self.0.turns
    }

    /// Does `work` to its end, though it takes longer than its request may.
    async fn to_the_end<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, Problem> {
        self.turns().spawn(work).await.map_err(|stopped| {
            Problem::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                "stopped",
                format!("it was stopped: {stopped}"),
                "send the request again; it goes on with what is left",
            )
        })
    }

    /// Requests that may be served at once.
    pub fn places(&self) -> &Semaphore {
        &self.0.places
    }

    /// Memory for the bodies of requests under way.
    fn body_memory(&self) -> &Arc<Semaphore> {
        &self.0.body_memory
    }

    /// Whether the store can be written, with the reason where it cannot.
    async fn probe_store(&self) -> Result<(), String> {
        let limit = Duration::from_secs(self.settings().health_seconds_max);
        self.0.health_cache.check(self.engine().store().probe_write(), limit).await
    }

    /// MCP servers.
    pub fn servers(&self) -> &McpProxy {
        &self.0.setup.servers
    }

    /// Figures of the last turns.
    pub fn figures(&self) -> &Figures {
        &self.0.figures
    }

    /// Whether anything is counted.
    pub fn telemetry_enabled(&self) -> bool {
        self.0.setup.telemetry.enabled
    }

    /// Cancelled when the server begins to stop.
    pub fn stopping(&self) -> &CancellationToken {
        &self.0.stopping
    }

    /// Cancelled when the time to stop is over; turns under way end with what they have.
    pub fn giving_up(&self) -> &CancellationToken {
        &self.0.giving_up
    }
}

/// Serves `app` on `listener` until `shutdown`, then finishes what is under way within the limit.
pub async fn run(
    listener: TcpListener,
    app: App,
    shutdown: impl Future<Output = ()> + Send + 'static,
) {
    let limit = Duration::from_secs(app.settings().shutdown_seconds_max);
    let service = layers::around(routes(&app), &app);
    let tracker = TaskTracker::new();
    let stopping = app.stopping();
    let accepting = connections::serve(listener, service, app.settings(), &tracker, stopping);
    tokio::select! {
        () = accepting => {}
        () = shutdown => {}
    }
    stopping.cancel();
    tracker.close();
    if tokio::time::timeout(limit, tracker.wait()).await.is_err() {
        tracing::warn!(shutdown.seconds = limit.as_secs(), "requests were cut off at the end");
    }
    app.giving_up().cancel();
    app.turns().close();
    if tokio::time::timeout(limit, app.turns().wait()).await.is_err() {
        tracing::warn!(turns = app.turns().len(), "turns were cut off at the end");
    }
}

/// The documented routes for commands of this process: whoever calls puts the [`Caller`] into the request's extensions.
///
/// [`Caller`]: throughline_engine::access::Caller
pub fn in_process(app: &App) -> axum::Router {
    let (router, _) = openapi::documented().split_for_parts();
    router.fallback(layers::no_route).with_state(app.clone())
}

/// All routes, without the layers around them.
fn routes(app: &App) -> axum::Router {
    let (router, document) = openapi::documented().split_for_parts();
    router
        .merge(openapi::route(document))
        .merge(page::routes())
        .merge(about::health_routes())
        .merge(oauth::routes())
        .merge(mcp::routes(app))
        .merge(dropin::routes())
        .fallback(layers::no_route)
        .method_not_allowed_fallback(layers::no_method)
        .route_layer(from_fn_with_state(app.clone(), layers::within_time))
        .route_layer(from_fn_with_state(app.clone(), admit::admit))
        .route_layer(from_fn(layers::routed))
        .with_state(app.clone())
}
