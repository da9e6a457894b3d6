//! `GET /shared/{token}`: what a read-only link shows to anybody who has it.
//!
//! It does not reveal who created the link, the session's id, tool arguments and results, or what a model was
//! sent.
//!
//! Invariant: an unknown, an expired and a revoked token get the same response.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use serde::Serialize;
use throughline_engine::engine::SharedPage;
use throughline_engine::error::Error;
use throughline_engine::session::record::{TurnRecord, TurnStatus};
use throughline_engine::share::ShareToken;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;
use super::conversations::HistoryParameters;
use super::part::{Path, Query};
use super::problem::Problem;

/// The route under `/shared`.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(show))
}

/// A conversation, as a link shows it.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct SharedConversation {
    /// Title of the conversation; null if it has none.
    pub title: Option<String>,
    /// Last turn that the link shows.
    pub up_to_turn: u64,
    /// When the link was created.
    pub shared_at: Timestamp,
    /// When the link expires.
    pub expires_at: Timestamp,
    /// The turns, in the requested order; erased ones are omitted.
    pub turns: Vec<SharedTurn>,
    /// Cursor of the next page; null on the last page.
    pub next_cursor: Option<String>,
}

/// A turn, as a link shows it.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct SharedTurn {
    /// Number of the turn, from 1.
    pub turn: u64,
    /// When it was said.
    pub at: Timestamp,
    /// The user's message.
    pub message: String,
    /// The assistant's reply.
    pub reply: String,
    /// `complete`, `partial`, `failed` or `refused`.
    #[schema(value_type = String)]
    pub status: TurnStatus,
    /// Tools that were called, as `server:tool`, in order.
    pub tools_used: Vec<String>,
}

impl From<SharedPage> for SharedConversation {
    fn from(page: SharedPage) -> Self {
        Self {
            title: page.share.title,
            up_to_turn: page.share.up_to_turn,
            shared_at: page.share.created_at,
            expires_at: page.share.expires_at,
            turns: page.turns.iter().map(|turn| turn.as_ref().into()).collect(),
            next_cursor: page.next.map(|turn| turn.to_string()),
        }
    }
}

impl From<&TurnRecord> for SharedTurn {
    fn from(record: &TurnRecord) -> Self {
        Self {
            turn: record.turn,
            at: record.at,
            message: record.message.clone(),
            reply: record.reply.clone(),
            status: record.status,
            tools_used: record.calls.iter().map(|call| call.tool.to_string()).collect(),
        }
    }
}

/// Returns the conversation behind a read-only link. No key is needed.
#[utoipa::path(get, path = "/shared/{token}", tag = "shares",
    params(("token" = String, Path, description = "Token of the link"), HistoryParameters),
    responses((status = 200, body = SharedConversation), (status = 404, body = Problem)))]
pub(super) async fn show(
    State(app): State<App>,
    Path(token): Path<String>,
    Query(parameters): Query<HistoryParameters>,
) -> Response {
    let mut response = read(&app, &token, &parameters).await.map(Json).into_response();
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

async fn read(
    app: &App,
    token: &str,
    parameters: &HistoryParameters,
) -> Result<SharedConversation, Problem> {
    let query = parameters.query()?;
    let token = ShareToken::parse(token).ok_or(Error::NoShare)?;
    Ok(app.engine().shared(&token, query).await?.into())
}
