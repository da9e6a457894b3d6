//! Who is asking: the holder of the key in the request, or the user that they act for.
//!
//! An application that serves many users has one key and names each of them in `x-user-id`. With a key that takes one with
//! the grant `admin`; while there are no keys, the person at this machine may name anybody.
//!
//! Invariant: a user is named only within the tenant of the key.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use throughline_engine::access::{Action, Caller, authorize};
use throughline_engine::id::UserId;

use super::App;
use super::names::name_of;
use super::problem::Problem;
use crate::access::{ApiKey, Refusal};

/// The header that names the user whom a request is for.
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

/// Who sent a request.
pub async fn authenticate(parts: &Parts, app: &App) -> Result<Caller, Problem> {
    let key = credential(parts)?;
    let caller = app.gate().caller(key.as_deref()).await?;
    acting_for(caller, &parts.headers)
}

/// `caller`, or the user whom the request names.
pub fn acting_for(caller: Caller, headers: &HeaderMap) -> Result<Caller, Problem> {
    let Some(name) = headers.get(USER).and_then(|id| name_of(id.as_bytes())) else {
        return Ok(caller);
    };
    let user = UserId::new(name)?;
    if user == caller.scope.user {
        return Ok(caller);
    }
    authorize(&caller, Action::Administer)?;
    let mut caller = caller;
    caller.scope.user = user;
    Ok(caller)
}

/// The key in `Authorization: Bearer …` or `x-api-key`.
fn credential(parts: &Parts) -> Result<Option<String>, Problem> {
    let text = |name: &str| parts.headers.get(name).and_then(|value| value.to_str().ok());
    let bearer =
        text("authorization").and_then(|text| text.split_once(' ')).map(|(_, key)| key.trim());
    // A client of a model provider may send the provider's key in the other place.
    if let Some(key) = bearer.filter(|key| ApiKey::parse(key).is_some()) {
        return Ok(Some(key.to_owned()));
    }
    if let Some(key) = parts.headers.get("x-api-key") {
        return Ok(key.to_str().ok().map(str::to_owned));
    }
    let Some(value) = parts.headers.get(header::AUTHORIZATION) else { return Ok(None) };
    let text = value.to_str().unwrap_or_default();
    match text.split_once(' ') {
        Some((scheme, key)) if scheme.eq_ignore_ascii_case("bearer") => {
            Ok(Some(key.trim().to_owned()))
        }
        _ => Err(Refusal::NotAKey.into()),
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Engine(error) => error.into(),
            refusal => Self::new(
                StatusCode::UNAUTHORIZED,
                refusal.code(),
                refusal.to_string(),
                "send the header authorization: Bearer tl_…; throughline key create makes a key",
            ),
        }
    }
}
