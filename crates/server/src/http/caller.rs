//! Authentication: the holder of the key or token, or the user they act for.
//!
//! An application that serves many users has one key and names each user in `x-user-id`, which requires the
//! grant `admin`. While there are no keys, anybody may be named.
//!
//! Invariant: a user is named only within the tenant of the credential.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use throughline_engine::access::{Caller, Grants, acting_for};
use throughline_engine::id::UserId;

use super::App;
use super::problem::Problem;
use crate::access::{Refusal, TokenError};
use crate::names::name_of;

/// Names the user that a request is for.
pub const USER: &str = "x-user-id";

/// A caller whose credential was checked.
#[derive(Debug, Clone)]
pub struct Authenticated(pub Caller);

impl FromRequestParts<App> for Authenticated {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        match parts.extensions.get::<Caller>() {
            Some(caller) => Ok(Self(caller.clone())),
            None => authenticate(parts, app).await.map(Self),
        }
    }
}

/// Authenticates a request.
pub async fn authenticate(parts: &Parts, app: &App) -> Result<Caller, Problem> {
    let key = credential(parts, app)?;
    let caller = app.gate().caller(key.as_deref()).await?;
    of_user(caller, &parts.headers)
}

/// `caller`, or the user named in the headers.
pub fn of_user(caller: Caller, headers: &HeaderMap) -> Result<Caller, Problem> {
    match headers.get(USER).and_then(|id| name_of(id.as_bytes())) {
        Some(name) => Ok(acting_for(&caller, &UserId::new(name)?)?),
        None => Ok(caller),
    }
}

/// The token in `Authorization: Bearer …`.
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// The key or token in `Authorization: Bearer …` or `x-api-key`.
fn credential(parts: &Parts, app: &App) -> Result<Option<String>, Problem> {
    let bearer = bearer(&parts.headers);
    // The other header may hold the client's key for a model provider.
    if let Some(key) = bearer.filter(|key| app.gate().is_ours(key)) {
        return Ok(Some(key.to_owned()));
    }
    if let Some(key) = parts.headers.get("x-api-key") {
        return Ok(key.to_str().ok().map(str::to_owned));
    }
    match (parts.headers.get(header::AUTHORIZATION), bearer) {
        (None, _) => Ok(None),
        (Some(_), Some(key)) => Ok(Some(key.to_owned())),
        (Some(_), None) => Err(Refusal::NotAKey.into()),
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        let (status, hint) = match refusal {
            Refusal::Engine(error) => return error.into(),
            Refusal::NoKey | Refusal::NotAKey | Refusal::Invalid => (
                StatusCode::UNAUTHORIZED,
                "send the header authorization: Bearer tl_…; create one with throughline key create",
            ),
            Refusal::Token(TokenError::Invalid(_)) => (
                StatusCode::UNAUTHORIZED,
                "get a new token; see /.well-known/oauth-protected-resource",
            ),
            Refusal::Token(TokenError::NoScope(_)) => {
                (StatusCode::FORBIDDEN, "ask the issuer for a token with that scope")
            }
            Refusal::Token(TokenError::Away(_)) => (
                StatusCode::SERVICE_UNAVAILABLE,
                "try again in a few seconds; keys of this server still work",
            ),
        };
        let mut problem = Self::new(status, refusal.code(), refusal.to_string(), hint);
        if status == StatusCode::FORBIDDEN {
            problem.needed = Some(Grants::Read);
        }
        problem
    }
}
