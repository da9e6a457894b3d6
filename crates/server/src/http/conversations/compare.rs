//! `GET /conversations/{id}/turns/{turn}/context/diff`: compares what the model saw on two turns.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use throughline_engine::id::SessionId;
use throughline_engine::receipt_diff::{ChangedPiece, MovedPiece, ReceiptDiff};
use utoipa::{IntoParams, ToSchema};

use super::context::PieceView;
use crate::http::App;
use crate::http::caller::Authenticated;
use crate::http::part::{Path, Query};
use crate::http::problem::Problem;
use crate::http::shapes;

/// The turn to compare with.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct CompareQuery {
    /// The second turn, from 1.
    with: u64,
    /// Session of the second turn; default: the same session.
    session: Option<String>,
}

/// Differences between the first turn (in the path) and the second (in the query).
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Comparison {
    /// Pieces that only the first turn has.
    pub only_first: Vec<PieceView>,
    /// Pieces that only the second turn has.
    pub only_second: Vec<PieceView>,
    /// Pieces that one turn sent and the other dropped, or that both dropped for different reasons.
    #[schema(value_type = Vec<shapes::MovedPieceView>)]
    pub moved: Vec<MovedPiece>,
    /// Pieces of the same source whose text differs.
    #[schema(value_type = Vec<shapes::ChangedPieceView>)]
    pub changed: Vec<ChangedPiece>,
    /// Number of pieces that are equal.
    pub same: usize,
    /// Tokens sent in the first and in the second turn.
    pub used_tokens: [u32; 2],
    /// Whether both requests are equal, byte for byte.
    pub same_request: bool,
}

impl From<&ReceiptDiff> for Comparison {
    fn from(diff: &ReceiptDiff) -> Self {
        Self {
            only_first: diff.only_first.iter().map(Into::into).collect(),
            only_second: diff.only_second.iter().map(Into::into).collect(),
            moved: diff.moved.clone(),
            changed: diff.changed.clone(),
            same: diff.same,
            used_tokens: diff.used_tokens,
            same_request: diff.same_request,
        }
    }
}

/// Compares what the model saw on two turns.
#[utoipa::path(get, path = "/conversations/{id}/turns/{turn}/context/diff", tag = "turns",
    params(("id" = String, Path, description = "Id of the session"),
        ("turn" = u64, Path, description = "First turn, from 1"), CompareQuery),
    responses((status = 200, body = Comparison), (status = 404, body = Problem)))]
pub(super) async fn compare(
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
