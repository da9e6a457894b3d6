//! Routes of conversations, one file per operation.

mod call;
mod change;
mod compare;
mod context;
mod create;
mod delete;
mod fork;
mod history;
mod items;
mod list;
mod permissions;
mod prepare;
mod record;
mod shares;
mod show;
mod transfer;
pub mod turn;
pub mod view;

pub use history::{Direction, HistoryParameters};
pub use transfer::ExportFormat;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;

/// The routes under `/conversations`, and `/import`.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list::list, create::create))
        .routes(routes!(show::show, change::change, delete::put_aside))
        .routes(routes!(delete::erase))
        .routes(routes!(history::history))
        .routes(routes!(prepare::prepare))
        .routes(routes!(call::call))
        .routes(routes!(record::record))
        .routes(routes!(turn::show, delete::erase_turn))
        .routes(routes!(context::show))
        .routes(routes!(compare::compare))
        .routes(routes!(context::request))
        .routes(routes!(context::content))
        .routes(routes!(fork::fork))
        .routes(routes!(shares::create, shares::list))
        .routes(routes!(shares::revoke))
        .routes(routes!(items::list, items::add, items::remove))
        .routes(routes!(permissions::list))
        .routes(routes!(permissions::set, permissions::revoke))
        .routes(routes!(transfer::export))
        .routes(routes!(transfer::import))
}
