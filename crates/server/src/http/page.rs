//! Where the page is served.

use axum::Router;

use super::App;

/// The page's routes.
pub fn routes() -> Router<App> {
    Router::new()
}
