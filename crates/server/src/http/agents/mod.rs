//! Routes of agents, their items, and the tools of MCP servers.

pub mod calls;
mod demo;
mod list;
pub mod tools;
pub mod usage;

pub use usage::UsageFormat;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;

pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list::list))
        .routes(routes!(list::items))
        .routes(routes!(tools::list))
        .routes(routes!(calls::search))
        .routes(routes!(calls::call))
        .routes(routes!(tools::approve))
        .routes(routes!(tools::permit, tools::revoke))
        .routes(routes!(usage::of_session))
        .routes(routes!(usage::of_agent))
        .routes(routes!(demo::reset))
}
