//! Rebuilds a forwarded request byte for byte.
//!
//! Invariant: the result has the hash of what was sent; otherwise it is an error.

use serde::Deserialize;
use serde::de::IgnoredAny;
use throughline_engine::access::Caller;
use throughline_engine::engine::Engine;
use throughline_engine::error::{Error, Result};
use throughline_engine::hash::ContentHash;
use throughline_engine::id::SessionId;
use throughline_upstream::model::{Api, responses};

use super::client_body::ClientBody;
use super::reply::LIMIT_NAMES;
use super::splice::{self, Insertion};

/// What the provider was sent on that turn, and its hash; `None` if the turn was not forwarded.
pub async fn again(
    engine: &Engine,
    caller: &Caller,
    id: &SessionId,
    turn: u64,
) -> Result<Option<(Vec<u8>, ContentHash)>> {
    let Some(kept) = engine.handed_on(caller, id, turn).await? else { return Ok(None) };
    let (provider, model) = kept.model.split_once('/').unwrap_or(("openai", &kept.model));
    let api = match (provider, is_for_response(&kept.body)) {
        ("anthropic", _) => Api::Messages,
        (_, true) => Api::Responses,
        (_, false) => Api::ChatCompletions,
    };
    let put_in = Insertion { addition: Some(&kept.addition), model: Some(model) };
    let body = ClientBody::read(api, &kept.body).ok();
    let sent = body.map(|body| splice::with(&body, put_in)).unwrap_or_default();
    let mut forms = vec![sent];
    if api == Api::Responses {
        let request = serde_json::from_str(&forms[0]).unwrap_or_default();
        forms.extend(LIMIT_NAMES.map(|limit| responses::to_chat(&request, limit).body));
    }
    let same = |form: &String| ContentHash::of_bytes(form.as_bytes()) == kept.hash;
    if let Some(sent) = forms.into_iter().find(same) {
        return Ok(Some((sent.into_bytes(), kept.hash)));
    }
    Err(Error::Unreadable {
        what: format!("the request of turn {turn} of session {id}"),
        reason: format!("the stored data does not match the hash {}", kept.hash),
    })
}

fn is_for_response(body: &str) -> bool {
    #[derive(Deserialize)]
    struct Outline {
        input: Option<IgnoredAny>,
    }
    serde_json::from_str::<Outline>(body).is_ok_and(|outline| outline.input.is_some())
}
