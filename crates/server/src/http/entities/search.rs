//! `GET /search`: across the caller's sessions.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::http::App;
use crate::http::caller::Authenticated;
use crate::http::conversations::view::{Raw, json};
use crate::http::part::Query;
use crate::http::problem::Problem;
use crate::http::shapes;

/// What to look for.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SearchQuery {
    /// Words.
    q: String,
    /// The maximum number of hits, 1–100.
    #[serde(default = "limit")]
    #[param(default = 20)]
    limit: usize,
    /// Hits to skip.
    #[serde(default)]
    offset: usize,
}

fn limit() -> usize {
    20
}

/// What was found.
#[derive(Debug, Serialize, ToSchema)]
pub struct Found {
    /// Session, turn, part, snippet, score and title each; best first.
    #[schema(value_type = Vec<shapes::SearchHitView>)]
    pub hits: Raw,
    /// Sessions whose last changes are not in the index yet.
    pub sessions_behind: u64,
}

/// Searches the caller's sessions by words and by meaning.
#[utoipa::path(get, path = "/search", tag = "entities", params(SearchQuery),
    responses((status = 200, body = Found)))]
pub async fn search(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Query(query): Query<SearchQuery>,
) -> Result<Json<Found>, Problem> {
    let found = app.engine().search(&caller, &query.q, query.limit, query.offset).await?;
    Ok(Json(Found { hits: json(&found.hits), sessions_behind: found.sessions_behind }))
}
