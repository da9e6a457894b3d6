//! `POST`, `GET /conversations/{id}/shares` and `DELETE /conversations/{id}/shares/{share}`: read-only links.
//!
//! [`crate::http::shared`] serves them to visitors.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use throughline_engine::id::SessionId;
use throughline_engine::session::share;
use throughline_engine::share::ShareToken;
use utoipa::ToSchema;

use crate::access::random;
use crate::http::App;
use crate::http::body::Body;
use crate::http::caller::Authenticated;
use crate::http::part::Path;
use crate::http::problem::Problem;

/// Lifetime of a link.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ShareBody {
    /// Days until the link expires, 1 to `limits.share_days_max`; default: 7.
    expires_in_days: Option<u32>,
}

/// A read-only link, as its owner sees it.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Share {
    /// Id of the link, for revoking it; it does not open the link.
    pub id: String,
    /// Last turn that the link shows.
    pub up_to_turn: u64,
    /// Title that the link shows; null if it has none.
    pub title: Option<String>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it expires.
    pub expires_at: Timestamp,
}

/// A new link.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct NewShare {
    /// The link, without its token.
    #[serde(flatten)]
    pub share: Share,
    /// Token that opens the link. It is not stored and returned only once.
    pub token: String,
    /// Path of the link on this server, such as `/#/shared/share_…`.
    pub path: String,
}

/// Links of a session.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Shares {
    /// Valid links, newest last.
    pub shares: Vec<Share>,
}

impl From<share::Share> for Share {
    fn from(share: share::Share) -> Self {
        Self {
            id: share.id.to_string(),
            up_to_turn: share.up_to_turn,
            title: share.title,
            created_at: share.created_at,
            expires_at: share.expires_at,
        }
    }
}

impl From<Vec<share::Share>> for Shares {
    fn from(shares: Vec<share::Share>) -> Self {
        Self { shares: shares.into_iter().map(Share::from).collect() }
    }
}

/// Creates a read-only link to the conversation so far. Anybody who has it can read until it expires or is
/// revoked; later turns are not shown.
#[utoipa::path(post, path = "/conversations/{id}/shares", tag = "shares",
    request_body = ShareBody, params(("id" = String, Path, description = "Id of the session")),
    responses((status = 201, body = NewShare), (status = 400, body = Problem),
        (status = 404, body = Problem), (status = 409, body = Problem), (status = 413, body = Problem)))]
pub(super) async fn create(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path(id): Path<SessionId>,
    body: Body<ShareBody>,
) -> Result<(StatusCode, Json<NewShare>), Problem> {
    let token = ShareToken::new(random()?);
    let share = app.engine().share(&caller, &id, &token, body.value.expires_in_days).await?;
    let token = token.reveal().to_owned();
    let path = format!("/#/shared/{token}");
    Ok((StatusCode::CREATED, Json(NewShare { share: share.into(), token, path })))
}

/// Lists the valid links of a session, without their tokens.
#[utoipa::path(get, path = "/conversations/{id}/shares", tag = "shares",
    params(("id" = String, Path, description = "Id of the session")),
    responses((status = 200, body = Shares), (status = 404, body = Problem)))]
pub(super) async fn list(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path(id): Path<SessionId>,
) -> Result<Json<Shares>, Problem> {
    Ok(Json(app.engine().shares(&caller, &id).await?.into()))
}

/// Revokes a link at once, and returns the remaining ones.
#[utoipa::path(delete, path = "/conversations/{id}/shares/{share}", tag = "shares",
    params(("id" = String, Path, description = "Id of the session"),
        ("share" = String, Path, description = "Id of the link")),
    responses((status = 200, body = Shares), (status = 404, body = Problem)))]
pub(super) async fn revoke(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path((id, share)): Path<(SessionId, String)>,
) -> Result<Json<Shares>, Problem> {
    Ok(Json(app.engine().revoke_share(&caller, &id, &share).await?.into()))
}
