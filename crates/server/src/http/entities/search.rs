//! `GET /search`: searches the caller's sessions.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use throughline_engine::engine::SearchHit;
use utoipa::{IntoParams, ToSchema};

use crate::http::App;
use crate::http::caller::Authenticated;
use crate::http::part::Query;
use crate::http::problem::Problem;
use crate::http::shapes;

/// A search.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct SearchQuery {
    /// Words or a description to search for; at least one visible character.
    q: String,
    /// Maximum number of hits to return, 1–100.
    #[serde(default = "limit")]
    #[param(default = 20)]
    limit: usize,
    /// Hits to skip, 0–1000000; default: 0.
    #[serde(default)]
    offset: usize,
}

fn limit() -> usize {
    20
}

/// A page of hits.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Found {
    /// The hits, best first.
    #[schema(value_type = Vec<shapes::SearchHitView>)]
    pub hits: Vec<SearchHit>,
    /// Sessions whose last changes are not indexed yet.
    pub sessions_behind: u64,
}

/// Searches the caller's sessions by words and by meaning.
#[utoipa::path(get, path = "/search", tag = "entities", params(SearchQuery),
    responses((status = 200, body = Found)))]
pub(super) async fn search(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Query(query): Query<SearchQuery>,
) -> Result<Json<Found>, Problem> {
    let found = app.engine().search(&caller, &query.q, query.limit, query.offset).await?;
    Ok(Json(Found { hits: found.hits, sessions_behind: found.sessions_behind }))
}
