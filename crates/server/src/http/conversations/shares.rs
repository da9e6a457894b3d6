//! `POST`, `GET /conversations/{id}/shares` and `DELETE /conversations/{id}/shares/{share}`: read-only links.
//!
//! What a visitor sees of one is in [`crate::http::shared`].

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

/// How long a link opens.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ShareBody {
    /// Days until it expires: 7 when absent, at most `limits.share_days_max`.
    expires_in_days: Option<u32>,
}

/// A read-only link, as its owner sees it.
#[derive(Debug, Serialize, ToSchema)]
pub struct Share {
    /// Its id, which opens nothing.
    pub id: String,
    /// The last turn that it shows.
    pub up_to_turn: u64,
    /// The title that it shows.
    pub title: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it expires.
    pub expires_at: Timestamp,
}

/// A link that was just made.
#[derive(Debug, Serialize, ToSchema)]
pub struct NewShare {
    /// The link.
    #[serde(flatten)]
    pub share: Share,
    /// What opens it. It is stored nowhere and shown only here.
    pub token: String,
    /// Where it opens on this server's page, such as `/#/shared/share_…`.
    pub path: String,
}

/// The links of a session.
#[derive(Debug, Serialize, ToSchema)]
pub struct Shares {
    /// Those that open, the newest last.
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

/// Makes a read-only link to what was said so far. Anybody who has it can read until it expires or is revoked; nothing that
/// is said later is shown.
#[utoipa::path(post, path = "/conversations/{id}/shares", tag = "shares",
    request_body = ShareBody, params(("id" = String, Path, description = "The session's id")),
    responses((status = 201, body = NewShare), (status = 400, body = Problem),
        (status = 404, body = Problem), (status = 409, body = Problem), (status = 413, body = Problem)))]
pub async fn create(
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

/// The links of a session that open, without what opens them.
#[utoipa::path(get, path = "/conversations/{id}/shares", tag = "shares",
    params(("id" = String, Path, description = "The session's id")),
    responses((status = 200, body = Shares), (status = 404, body = Problem)))]
pub async fn list(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path(id): Path<SessionId>,
) -> Result<Json<Shares>, Problem> {
    Ok(Json(app.engine().shares(&caller, &id).await?.into()))
}

/// Revokes a link: it opens nothing from now on. Answers those that still do.
#[utoipa::path(delete, path = "/conversations/{id}/shares/{share}", tag = "shares",
    params(("id" = String, Path, description = "The session's id"),
        ("share" = String, Path, description = "The link's id")),
    responses((status = 200, body = Shares), (status = 404, body = Problem)))]
pub async fn revoke(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path((id, share)): Path<(SessionId, String)>,
) -> Result<Json<Shares>, Problem> {
    Ok(Json(app.engine().revoke_share(&caller, &id, &share).await?.into()))
}
