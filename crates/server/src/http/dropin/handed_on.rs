//! A request that was handed on to a provider, put together again to the byte.
//!
//! Invariant: the result has the hash of what was sent, or the answer is an error.

use throughline_engine::access::Caller;
use throughline_engine::engine::Engine;
use throughline_engine::error::{Error, Result};
use throughline_engine::hash::ContentHash;
use throughline_engine::id::SessionId;
use throughline_upstream::model::Provider;

use super::client_body::ClientBody;
use super::splice::{self, PutIn};

/// What the provider was sent on that turn, and its hash; `None` where the turn was not handed on.
pub async fn again(
    engine: &Engine,
    caller: &Caller,
    id: &SessionId,
    turn: u64,
) -> Result<Option<(Vec<u8>, ContentHash)>> {
    let Some(kept) = engine.handed_on(caller, id, turn).await? else { return Ok(None) };
    let (format, model) = match kept.model.split_once('/') {
        Some(("anthropic", model)) => (Provider::Anthropic, model),
        Some((_, model)) => (Provider::OpenAi, model),
        None => (Provider::OpenAi, kept.model.as_str()),
    };
    let put_in = PutIn { addition: Some(&kept.addition), model: Some(model) };
    let body = ClientBody::read(format, &kept.body).ok();
    let sent = body.map(|body| splice::with(&body, put_in).into_bytes()).unwrap_or_default();
    if ContentHash::of_bytes(&sent) == kept.hash {
        return Ok(Some((sent, kept.hash)));
    }
    Err(Error::Unreadable {
        what: format!("the request of turn {turn} of session {id}"),
        reason: format!("what is kept does not make the bytes of hash {}", kept.hash),
    })
}
