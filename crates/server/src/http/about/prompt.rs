//! `GET /debug/prompt-info`: prompt mode and token use of a turn.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use throughline_engine::engine::SessionQuery;
use throughline_engine::error::Error;
use throughline_engine::id::SessionId;
use throughline_engine::receipt::BudgetReport;
use utoipa::{IntoParams, ToSchema};

use crate::http::App;
use crate::http::caller::Authenticated;
use crate::http::part::Query;
use crate::http::problem::Problem;
use crate::http::shapes;
use crate::telemetry::figures::tokens_by_part;

/// Selects a turn.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct PromptQuery {
    /// Id of the session; default: the most recently changed one.
    conversation_id: Option<String>,
    /// Turn, from 1; default: the last one.
    turn: Option<u64>,
}

/// Prompt mode and token use of a turn.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct PromptInfo {
    /// Id of the session.
    pub conversation_id: String,
    /// Turn, from 1.
    pub turn: u64,
    /// Prompt mode: `general`, `creation`, `search`, `modification` or `analysis`.
    pub mode: String,
    /// Why that mode was chosen.
    pub mode_why: String,
    /// Token budget.
    #[schema(value_type = shapes::BudgetView)]
    pub budget: BudgetReport,
    /// Tokens sent by part, such as `instructions`, `history` or `tools`.
    #[schema(value_type = BTreeMap<String, u64>)]
    pub tokens_by_part: BTreeMap<&'static str, u64>,
    /// Tokens of the prefix that equals the previous request.
    pub stable_prefix_tokens: u32,
    /// Number of pieces that were dropped.
    pub dropped: usize,
    /// One sentence for people.
    pub summary: String,
    /// Whether no model was asked; all of it is then about what a model would have been sent.
    pub no_model: bool,
}

/// Returns prompt mode and token use of a turn.
#[utoipa::path(get, path = "/debug/prompt-info", tag = "server", params(PromptQuery),
    responses((status = 200, body = PromptInfo), (status = 404, body = Problem)))]
pub(super) async fn info(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Query(query): Query<PromptQuery>,
) -> Result<Json<PromptInfo>, Problem> {
    let engine = app.engine();
    let session = match query.conversation_id.map(SessionId::new).transpose()? {
        Some(id) => engine.session(&caller, &id).await?,
        None => {
            let newest = SessionQuery { limit: 1, ..SessionQuery::default() };
            let listed = engine.list_sessions(&caller, newest).await?;
            listed.sessions.into_iter().next().ok_or_else(none)?
        }
    };
    let turn = query.turn.unwrap_or(session.head.turns);
    let id = &session.head.id;
    let receipt = engine.receipt(&caller, id, turn).await?;
    Ok(Json(PromptInfo {
        conversation_id: id.to_string(),
        turn,
        mode: receipt.mode.as_str().into(),
        mode_why: receipt.mode_why.clone(),
        budget: receipt.budget,
        tokens_by_part: tokens_by_part(
            receipt.pieces.iter().filter(|p| p.sent()).map(|piece| (&piece.source, piece.tokens)),
        ),
        stable_prefix_tokens: receipt.stable_prefix_tokens,
        dropped: receipt.pieces.iter().filter(|piece| !piece.sent()).count(),
        summary: receipt.summary(),
        no_model: receipt.no_model,
    }))
}

fn none() -> Error {
    Error::Missing { kind: "session", name: "that was changed last".into(), known: Vec::new() }
}
