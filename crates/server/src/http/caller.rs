//! Who is asking, from the `Authorization` header.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use throughline_engine::access::Caller;

use super::App;
use super::problem::Problem;
use crate::access::Refusal;

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
    Ok(app.gate().caller(key.as_deref()).await?)
}

/// The key in `Authorization: Bearer …` or `x-api-key`.
fn credential(parts: &Parts) -> Result<Option<String>, Problem> {
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
