//! The caller of a drop-in request, and the credential for the provider.
//!
//! While there are no keys, the caller is the local user, and any credential of the client is for the provider.
//! Once there are keys, or tokens are accepted, one credential must be ours; another one is for the provider.
//!
//! Invariant: a Throughline key or a token of the configured issuer is never passed on.

use axum::http::HeaderMap;
use throughline_engine::access::{Action, Caller, authorize};
use throughline_upstream::model::pass_through::LentKey;

use crate::http::App;
use crate::http::caller::{USER, bearer, of_user};
use crate::http::problem::Problem;

/// A model client whose credential was checked.
pub(super) struct Client {
    /// Whose sessions it can access.
    pub caller: Caller,
    /// Whether a key or a header names a user, whose memory is then added to every request.
    pub has_user: bool,
    /// Its own credential for the provider.
    pub lent: Option<LentKey>,
}

impl Client {
    /// Authenticates the sender of these headers.
    pub(super) async fn of(app: &App, headers: &HeaderMap) -> Result<Self, Problem> {
        let bearer = bearer(headers);
        let key = headers.get("x-api-key").and_then(|key| key.to_str().ok());
        let is_ours = |text: &&str| app.gate().is_ours(text);
        let lent = match (key.filter(|key| !is_ours(key)), bearer.filter(|key| !is_ours(key))) {
            (Some(key), _) => Some(LentKey::ApiKey(key.into())),
            (None, Some(token)) => Some(LentKey::Bearer(token.into())),
            (None, None) => None,
        };
        if app.gate().keyless().await? {
            let caller = of_user(Caller::local(), headers)?;
            return Ok(Self { caller, has_user: headers.contains_key(USER), lent });
        }
        let ours = key.filter(is_ours).or(bearer.filter(is_ours)).or(key).or(bearer);
        let caller = of_user(app.gate().caller(ours).await?, headers)?;
        authorize(&caller, Action::Write)?;
        Ok(Self { caller, has_user: true, lent })
    }
}
