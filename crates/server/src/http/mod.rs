//! The REST API and what stands around it.
//!
//! A handler takes the request apart, calls the engine once and dresses the answer; nothing is decided
//! here about conversations. [`run`] is given its listener, so that a test uses port 0.
//!
//! # Layout
//!
//! - [`problem`]: errors. [`body`], [`shape`], [`part`]: requests, checked. [`condition`],
//!   [`idempotency`]: headers. [`caller`]: who is asking.
//! - [`conversations`] and the other nouns: the routes, a file a verb.
//! - [`guard`], [`layers`]: what every request passes through.

pub mod body;
pub mod caller;
pub mod condition;
pub mod conversations;
pub mod guard;
pub mod health;
pub mod idempotency;
mod layers;
pub mod openapi;
pub mod page;
pub mod part;
pub mod prepared;
pub mod problem;
pub mod shape;

use std::sync::Arc;
use std::time::Duration;

use axum::serve::ListenerExt;
use throughline_engine::engine::Engine;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::access::Gate;
use crate::config::ServerSettings;
use prepared::Prepared;

/// What the handlers share.
#[derive(Clone)]
pub struct App(Arc<AppParts>);

struct AppParts {
    engine: Arc<Engine>,
    gate: Gate,
    settings: ServerSettings,
    prepared: Prepared,
    turns: TaskTracker,
    places: Semaphore,
    stopping: CancellationToken,
}

impl App {
    /// An app over an engine.
    pub fn new(engine: Arc<Engine>, gate: Gate, settings: ServerSettings) -> Self {
        let places = Semaphore::new(settings.requests_at_once_max);
        Self(Arc::new(AppParts {
            engine,
            gate,
            settings,
            prepared: Prepared::new(),
            turns: TaskTracker::new(),
            places,
            stopping: CancellationToken::new(),
        }))
    }

    /// The engine.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.0.engine
    }

    /// Who may come in.
    pub fn gate(&self) -> &Gate {
        &self.0.gate
    }

    /// Limits of the transport.
    pub fn settings(&self) -> &ServerSettings {
        &self.0.settings
    }

    /// Contexts that were prepared and may be named when their exchange is recorded.
    pub fn prepared(&self) -> &Prepared {
        &self.0.prepared
    }

    /// Turns under way; they end by themselves when their client goes, and are waited for at the end.
    pub fn turns(&self) -> &TaskTracker {
        &self.0.turns
    }

    /// Requests that may be served at once.
    pub fn places(&self) -> &Semaphore {
        &self.0.places
    }

    /// Cancelled when the server stops.
    pub fn stopping(&self) -> &CancellationToken {
        &self.0.stopping
    }
}

/// Serves `app` on `listener` until `shutdown`, then finishes what is under way within the limit.
pub async fn run(
    listener: TcpListener,
    app: App,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> std::io::Result<()> {
    let limit = Duration::from_secs(app.settings().shutdown_seconds_max);
    let stopping = app.stopping().clone();
    let signal = {
        let stopping = stopping.clone();
        async move {
            shutdown.await;
            stopping.cancel();
        }
    };
    // A turn is one small answer to one small request; waiting to fill a packet only adds delay.
    let listener = listener.tap_io(|stream| {
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "a connection keeps its delay");
        }
    });
    let router = layers::around(routes(&app), &app);
    let server = axum::serve(listener, router).with_graceful_shutdown(signal).into_future();
    let too_late = async {
        stopping.cancelled().await;
        tokio::time::sleep(limit).await;
    };
    let outcome = tokio::select! {
        outcome = server => outcome,
        () = too_late => {
            tracing::warn!(shutdown.seconds = limit.as_secs(), "requests were cut off at the end");
            Ok(())
        }
    };
    stopping.cancel();
    app.turns().close();
    if tokio::time::timeout(limit, app.turns().wait()).await.is_err() {
        tracing::warn!(turns = app.turns().len(), "turns were cut off at the end");
    }
    outcome
}

/// All routes, without the layers around them.
fn routes(app: &App) -> axum::Router {
    let (router, document) = openapi::documented().split_for_parts();
    router
        .merge(openapi::route(document))
        .merge(page::routes())
        .fallback(layers::no_route)
        .method_not_allowed_fallback(layers::no_method)
        .with_state(app.clone())
}
