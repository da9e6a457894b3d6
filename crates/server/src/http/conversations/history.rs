//! `GET /conversations/{id}/history`.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use throughline_engine::engine::{HistoryQuery, Order};
use throughline_engine::id::SessionId;
use utoipa::{IntoParams, ToSchema};

use super::turn::TurnBrief;
use crate::http::App;
use crate::http::caller::Authenticated;
use crate::http::part::{Path, Query};
use crate::http::problem::Problem;

/// Selects turns.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct HistoryParameters {
    /// Maximum number of turns to return, 1–1000.
    #[param(default = 50)]
    limit: u64,
    /// `asc` for oldest first, `desc` for newest first.
    #[param(default = "asc")]
    order: Direction,
    /// `next_cursor` of the previous response; absent for the first page.
    cursor: Option<String>,
}

impl Default for HistoryParameters {
    fn default() -> Self {
        Self { limit: 50, order: Direction::Asc, cursor: None }
    }
}

/// Order of turns.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Oldest first.
    Asc,
    /// Newest first.
    Desc,
}

/// A page of turns.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct History {
    /// The turns, in the requested order.
    pub turns: Vec<TurnBrief>,
    /// Cursor of the next page; null on the last page.
    pub next_cursor: Option<String>,
}

/// Lists the turns of a session, oldest or newest first.
#[utoipa::path(get, path = "/conversations/{id}/history", tag = "turns",
    params(("id" = String, Path, description = "Id of the session"), HistoryParameters),
    responses((status = 200, body = History), (status = 404, body = Problem)))]
pub(super) async fn history(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path(id): Path<SessionId>,
    Query(parameters): Query<HistoryParameters>,
) -> Result<Json<History>, Problem> {
    let page = app.engine().history(&caller, &id, parameters.query()?).await?;
    Ok(Json(History {
        turns: page
            .turns
            .iter()
            .map(|turn| TurnBrief::of(turn, &page.withheld, app.upstreams()))
            .collect(),
        next_cursor: page.next.map(|turn| turn.to_string()),
    }))
}

impl HistoryParameters {
    /// The engine's query.
    pub fn query(&self) -> Result<HistoryQuery, Problem> {
        let from = self.cursor.as_deref().map(turn_of).transpose()?;
        let order = match self.order {
            Direction::Asc => Order::Ascending,
            Direction::Desc => Order::Descending,
        };
        Ok(HistoryQuery { limit: self.limit, order, from })
    }
}

fn turn_of(cursor: &str) -> Result<u64, Problem> {
    match cursor.parse() {
        Ok(turn) if turn > 0 => Ok(turn),
        _ => Err(Problem::invalid("cursor", "it is not a next_cursor of this endpoint")),
    }
}
