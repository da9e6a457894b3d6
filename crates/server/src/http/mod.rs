//! The REST API and the layers around it.
//!
//! A handler parses the request, calls the engine and formats the response; it decides nothing about
//! conversations. [`run`] takes its listener, so that tests use port 0.
//!
//! # Layout
//!
//! - [`problem`]: errors. [`body`], [`part`]: extractors. [`condition`], [`idempotency`]: headers. [`caller`]:
//!   authentication. [`oauth`]: metadata for access tokens.
//! - [`conversations`], [`chat`], [`agents`], [`entities`], [`memories`], [`contexts`], [`presets`], [`users`],
//!   [`about`]: the routes, one file per operation or noun. [`shared`]: read-only links. [`openapi`]: their document.
//! - [`page`]: the page's files. [`mcp`]: MCP over HTTP.
//! - [`dropin`]: endpoints for unchanged OpenAI and Anthropic clients.
//! - [`connections`], [`stall`], [`unread`]: limits of a connection. [`layers`], [`guard`]: layers around every request.
//!   [`admit`]: checks before a handler runs.

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
mod unread;
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

/// State shared by the handlers.
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

/// Parts that an [`App`] is built from.
pub struct Setup {
    pub engine: Arc<Engine>,
    /// Authentication.
    pub gate: Gate,
    /// Limits of the transport.
    pub settings: ServerSettings,
    /// MCP servers, for their connection states.
    pub servers: Arc<McpProxy>,
    /// Whether metrics are recorded.
    pub telemetry: TelemetrySettings,
}

impl App {
    /// An app without upstreams; starts recording metrics if enabled.
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

    /// Sets the providers of the drop-in endpoints; must be called before the app is cloned.
    pub fn with_upstreams(self, upstreams: Upstreams) -> Self {
        let mut parts = Arc::into_inner(self.0).expect("an app is made before it is shared");
        parts.upstreams = upstreams;
        Self(Arc::new(parts))
    }

    /// Providers of the drop-in endpoints.
    pub fn upstreams(&self) -> &Upstreams {
        &self.0.upstreams
    }

    pub fn engine(&self) -> &Arc<Engine> {
        &self.0.setup.engine
    }

    /// Authentication.
    pub fn gate(&self) -> &Gate {
        &self.0.setup.gate
    }

    /// Limits of the transport.
    pub fn settings(&self) -> &ServerSettings {
        &self.0.setup.settings
    }

    /// Turns in progress; awaited at shutdown.
    pub fn turns(&self) -> &TaskTracker {
        &self.0.turns
    }

    /// Runs `work` to completion, even if the request times out.
    async fn to_the_end<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, Problem> {
        self.turns().spawn(work).await.map_err(|stopped| {
            Problem::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                "stopped",
                format!("the work was stopped: {stopped}"),
                "send the request again; it continues with the rest",
            )
        })
    }

    /// Permits for concurrent requests.
    pub fn places(&self) -> &Semaphore {
        &self.0.places
    }

    /// Memory for the bodies of requests in progress.
    fn body_memory(&self) -> &Arc<Semaphore> {
        &self.0.body_memory
    }

    /// Whether the store can be written; the error is the reason.
    async fn probe_store(&self) -> Result<(), String> {
        let limit = Duration::from_secs(self.settings().health_seconds_max);
        self.0.health_cache.check(self.engine().store().probe_write(), limit).await
    }

    pub fn servers(&self) -> &McpProxy {
        &self.0.setup.servers
    }

    /// Statistics of the last turns.
    pub fn figures(&self) -> &Figures {
        &self.0.figures
    }

    /// Whether metrics are recorded.
    pub fn telemetry_enabled(&self) -> bool {
        self.0.setup.telemetry.enabled
    }

    /// Cancelled when shutdown begins.
    pub fn stopping(&self) -> &CancellationToken {
        &self.0.stopping
    }

    /// Cancelled when the shutdown time is over; running turns end with what they have.
    pub fn giving_up(&self) -> &CancellationToken {
        &self.0.giving_up
    }
}

/// Serves `app` on `listener` until `shutdown`, then finishes requests and turns within the time limit.
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
        tracing::warn!(shutdown.seconds = limit.as_secs(), "requests were aborted at shutdown");
    }
    app.engine().interrupt_turns();
    app.giving_up().cancel();
    app.turns().close();
    if tokio::time::timeout(limit, app.turns().wait()).await.is_err() {
        tracing::warn!(turns = app.turns().len(), "turns were aborted at shutdown");
    }
}

/// The documented routes for commands of this process; the caller of a request puts a [`Caller`] into its
/// extensions.
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
