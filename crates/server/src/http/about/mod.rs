//! What the server says about itself.

mod health;
pub mod health_cache;
mod memory;
mod metrics;
mod prompt;

use axum::routing::get;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;

/// The routes under the API.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(health::health))
        .routes(routes!(health::live))
        .routes(routes!(health::ready))
        .routes(routes!(memory::stats))
        .routes(routes!(prompt::info))
}

/// The same answers where schedulers look first.
pub fn health_routes() -> axum::Router<App> {
    axum::Router::new()
        .route("/health", get(health::health))
        .route("/health/live", get(health::live))
        .route("/health/ready", get(health::ready))
}

/// The route beside it, where scrapers look.
pub fn metrics_route() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(metrics::metrics))
}
