//! What the server says about itself.

mod health;
mod memory;
mod metrics;
mod prompt;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;

/// The routes under the API.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(health::health))
        .routes(routes!(memory::stats))
        .routes(routes!(prompt::info))
}

/// The route beside it, where scrapers look.
pub fn metrics_route() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(metrics::metrics))
}
