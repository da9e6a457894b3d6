//! Routes of entities and of search.

mod about;
mod change;
mod list;
mod search;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;

pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list::entities))
        .routes(routes!(change::forget))
        .routes(routes!(change::correct))
        .routes(routes!(list::workflows))
        .routes(routes!(about::entity))
        .routes(routes!(about::workflow))
        .routes(routes!(search::search))
}
