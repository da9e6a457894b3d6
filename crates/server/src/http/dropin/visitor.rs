//! Who asks, and with whose credential the provider is asked.
//!
//! While there are no keys, the person at this machine asks, and whatever credential their client sends
//! is the provider's. Once there are keys, the client's credential is ours and goes no further.
//!
//! Invariant: what looks like a Throughline key is never lent.

use axum::http::{HeaderMap, header};
use throughline_engine::access::{Action, Caller, authorize};
use throughline_upstream::model::pass_through::LentKey;

use crate::access::ApiKey;
use crate::http::App;
use crate::http::problem::Problem;

/// Somebody whose credential was checked.
pub struct Visitor {
    /// Whose sessions they reach.
    pub caller: Caller,
    /// Their own key for the provider.
    pub lent: Option<LentKey>,
}

impl Visitor {
    /// Whoever sent these headers.
    pub async fn of(app: &App, headers: &HeaderMap) -> Result<Self, Problem> {
        let credential = credential(headers);
        if app.gate().keyless().await? {
            let lent = credential.filter(|text| ApiKey::parse(text).is_none()).map(LentKey::from);
            return Ok(Self { caller: Caller::local(), lent });
        }
        let caller = app.gate().caller(credential.as_deref()).await?;
        authorize(&caller, Action::Write)?;
        Ok(Self { caller, lent: None })
    }
}

/// The key in `x-api-key` or `Authorization: Bearer …`.
fn credential(headers: &HeaderMap) -> Option<String> {
    if let Some(key) = headers.get("x-api-key") {
        return Some(key.to_str().ok()?.to_owned());
    }
    let text = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, key) = text.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| key.trim().to_owned())
}
