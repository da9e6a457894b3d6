//! Who asks, and with whose credential the provider is asked.
//!
//! While there are no keys, the person at this machine asks, and whatever credential their client sends is the
//! provider's. Once there are keys, one of the client's credentials must be ours; another one is the provider's.
//!
//! Invariant: what looks like a Throughline key is never lent.

use axum::http::{HeaderMap, header};
use throughline_engine::access::{Action, Caller, authorize};
use throughline_upstream::model::pass_through::LentKey;

use crate::access::ApiKey;
use crate::http::App;
use crate::http::caller::{USER, acting_for};
use crate::http::problem::Problem;

/// A model client whose credential was checked.
pub struct Client {
    /// Whose sessions it reaches.
    pub caller: Caller,
    /// Whether a user is named, by a key or by a header, whose memory belongs to every request.
    pub has_user: bool,
    /// Its own key for the provider.
    pub lent: Option<LentKey>,
}

impl Client {
    /// Whoever sent these headers.
    pub async fn of(app: &App, headers: &HeaderMap) -> Result<Self, Problem> {
        let bearer = header_text(headers, header::AUTHORIZATION.as_str())
            .and_then(|text| text.split_once(' '))
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
            .map(|(_, key)| key.trim());
        let key = header_text(headers, "x-api-key");
        let is_ours = |text: &&str| ApiKey::parse(text).is_some();
        let lent = match (key.filter(|key| !is_ours(key)), bearer.filter(|key| !is_ours(key))) {
            (Some(key), _) => Some(LentKey::ApiKey(key.into())),
            (None, Some(token)) => Some(LentKey::Bearer(token.into())),
            (None, None) => None,
        };
        if app.gate().keyless().await? {
            let caller = acting_for(Caller::local(), headers)?;
            return Ok(Self { caller, has_user: headers.contains_key(USER), lent });
        }
        let ours = key.filter(is_ours).or(bearer.filter(is_ours)).or(key).or(bearer);
        let caller = acting_for(app.gate().caller(ours).await?, headers)?;
        authorize(&caller, Action::Write)?;
        Ok(Self { caller, has_user: true, lent })
    }
}

fn header_text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}
