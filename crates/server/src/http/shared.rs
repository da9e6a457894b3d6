//! `GET /shared/{token}`: what a read-only link shows, to anybody who has it.
//!
//! Who made the link, in which session, what tools were given and answered, what a model was shown: none of that is
//! part of it.
//!
//! Invariant: a token that never was, one that has expired and one that was revoked get the same answer.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use serde::Serialize;
use throughline_engine::engine::SharedPage;
use throughline_engine::error::Error;
use throughline_engine::session::record::TurnRecord;
use throughline_engine::share::ShareToken;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;
use super::conversations::HistoryParameters;
use super::conversations::view::{Raw, json};
use super::part::{Path, Query};
use super::problem::Problem;

/// The route under `/shared`.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(show))
}

/// A conversation as a link shows it.
#[derive(Debug, Serialize, ToSchema)]
pub struct SharedConversation {
    /// Its title.
    pub title: Option<String>,
    /// The last turn that is shown.
    pub up_to_turn: u64,
    /// When it was shared.
    pub shared_at: Timestamp,
    /// When the link expires.
    pub expires_at: Timestamp,
    /// The turns in the order that was asked for; those that were erased are not among them.
    pub turns: Vec<SharedTurn>,
    /// Where the next answer begins; null at the end.
    pub next_cursor: Option<String>,
}

/// A turn as a link shows it.
#[derive(Debug, Serialize, ToSchema)]
pub struct SharedTurn {
    /// Its number.
    pub turn: u64,
    /// When it was said.
    pub at: Timestamp,
    /// What the user said.
    pub message: String,
    /// What the assistant said.
    pub reply: String,
    /// `complete`, `partial`, `failed` or `refused`.
    #[schema(value_type = String)]
    pub status: Raw,
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
            status: json(&record.status),
            tools_used: record.calls.iter().map(|call| call.tool.to_string()).collect(),
        }
    }
}

/// What a read-only link shows, paged both ways. It needs no key: whoever has the link may read.
#[utoipa::path(get, path = "/shared/{token}", tag = "shares",
    params(("token" = String, Path, description = "The link's token"), HistoryParameters),
    responses((status = 200, body = SharedConversation), (status = 404, body = Problem)))]
pub async fn show(
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
