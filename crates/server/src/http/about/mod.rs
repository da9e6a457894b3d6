//! Health, statistics and metrics of the server.

mod health;
pub mod health_cache;
mod memory;
mod metrics;
mod prompt;

use axum::routing::get;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;

/// Routes under `/api/v1`.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(health::health))
        .routes(routes!(health::live))
        .routes(routes!(health::ready))
        .routes(routes!(memory::stats))
        .routes(routes!(prompt::info))
}

/// The health routes at the paths that schedulers expect.
pub fn health_routes() -> axum::Router<App> {
    axum::Router::new()
        .route("/health", get(health::health))
        .route("/health/live", get(health::live))
        .route("/health/ready", get(health::ready))
}

/// `/metrics`, at the path that scrapers expect.
pub fn metrics_route() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(metrics::metrics))
}
