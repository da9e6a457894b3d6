//! `GET /conversations/{id}/turns/{turn}/context/diff`: what the model saw on two turns, compared.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use throughline_engine::id::SessionId;
use throughline_engine::receipt_diff::ReceiptDiff;
use utoipa::{IntoParams, ToSchema};

use super::context::PieceView;
use super::view::{Raw, json};
use crate::http::App;
use crate::http::caller::Authenticated;
use crate::http::part::{Path, Query};
use crate::http::problem::Problem;
use crate::http::shapes;

/// What to compare with.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct CompareQuery {
    /// The other turn.
    with: u64,
    /// The other turn's session; default: the same session.
    session: Option<String>,
}

/// What differs between the turn in the path, the first, and the other, the second.
#[derive(Debug, Serialize, ToSchema)]
pub struct Comparison {
    /// Pieces that only the first has.
    pub only_first: Vec<PieceView>,
    /// Pieces that only the second has.
    pub only_second: Vec<PieceView>,
    /// Pieces that were sent in one and not in the other, or dropped for another reason: `source`, `first`
    /// and `second` (why not sent; null where it was), and whether the text `changed` too.
    #[schema(value_type = Vec<shapes::MovedPieceView>)]
    pub moved: Raw,
    /// Pieces of the same source with another text: `source`, both hashes and both counts of tokens.
    #[schema(value_type = Vec<shapes::ChangedPieceView>)]
    pub changed: Raw,
    /// How many pieces are the same.
    pub same: usize,
    /// Tokens sent, in the first and in the second.
    pub used_tokens: [u32; 2],
    /// Whether both made the same request, to the byte.
    pub same_request: bool,
}

impl From<&ReceiptDiff> for Comparison {
    fn from(diff: &ReceiptDiff) -> Self {
        Self {
            only_first: diff.only_first.iter().map(Into::into).collect(),
            only_second: diff.only_second.iter().map(Into::into).collect(),
            moved: json(&diff.moved),
            changed: json(&diff.changed),
            same: diff.same,
            used_tokens: diff.used_tokens,
            same_request: diff.same_request,
        }
    }
}

/// Compares what the model saw on two turns.
#[utoipa::path(get, path = "/conversations/{id}/turns/{turn}/context/diff", tag = "turns",
    params(("id" = String, Path, description = "The session's id"),
        ("turn" = u64, Path, description = "The first turn, from 1"), CompareQuery),
    responses((status = 200, body = Comparison), (status = 404, body = Problem)))]
pub async fn compare(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path((id, turn)): Path<(SessionId, u64)>,
    Query(query): Query<CompareQuery>,
) -> Result<Json<Comparison>, Problem> {
    let other = match query.session {
        Some(session) => SessionId::new(session)?,
        None => id.clone(),
    };
    let diff = app.engine().receipt_diff(&caller, (&id, turn), (&other, query.with)).await?;
    Ok(Json(Comparison::from(&diff)))
}
