//! The session of a request.
//!
//! Any client may name it in `x-session-id`. Clients of Responses may also use `conversation`, or
//! `previous_response_id`, whose value contains the session. A reply that is not the last one is continued in a
//! fork. A request that names nothing starts a session, unless it has `store: false`.
//!
//! Invariant: our conversation and response ids are never sent to a provider.

use std::ops::Range;

use axum::http::{HeaderMap, StatusCode};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use throughline_engine::agent::MemoryScope;
use throughline_engine::creation::NewSession;
use throughline_engine::error::Error;
use throughline_engine::id::SessionId;
use throughline_engine::session::head::Settings;
use throughline_upstream::model::Api;
use uuid::Uuid;

use super::SESSION;
use super::client::Client;
use super::client_body::place;
use super::splice::edited;
use crate::http::App;
use crate::http::problem::Problem;
use crate::names::name_of;

/// Prefix of our response ids; a provider's ids differ.
const REPLY: &str = "resp_tl_";

/// The session that a request belongs to.
#[derive(Debug, Default)]
pub(super) struct Thread {
    /// The session that stores the exchange; `None` if nothing is stored.
    pub session: Option<NewSession>,
    /// Whether the request is incomplete without the session.
    pub needed: bool,
    /// The response it continues, as the client names it.
    pub previous: Option<String>,
    /// The conversation, as the client names it.
    pub conversation: Option<String>,
    /// The request without our ids and with stored items, if it differs from what the client sent.
    pub text: Option<String>,
}

/// Fields of a Responses request that refer to a conversation.
#[derive(Default, Deserialize)]
struct Links<'a> {
    #[serde(borrow, default)]
    previous_response_id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    conversation: Option<&'a RawValue>,
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
    #[serde(default)]
    store: Option<bool>,
}

impl Thread {
    /// Finds the session from headers and text.
    pub(super) async fn of(
        app: &App,
        client: &Client,
        api: Api,
        headers: &HeaderMap,
        text: Option<&str>,
    ) -> Result<Self, Problem> {
        let header = headers.get(SESSION).and_then(|id| name_of(id.as_bytes()));
        let header = header.map(SessionId::new).transpose()?;
        let text = text.filter(|_| api == Api::Responses);
        let links =
            text.and_then(|text| Some((text, serde_json::from_str::<Links<'_>>(text).ok()?)));
        let Some((text, links)) = links else {
            return Ok(Self { session: header.map(named), ..Self::default() });
        };
        let previous = links.previous_response_id.and_then(read::<String>);
        let conversation = links.conversation.and_then(read::<Value>);
        let conversation = conversation
            .and_then(|named| Some(named.as_str().or(named["id"].as_str())?.to_owned()));
        if previous.is_some() && conversation.is_some() {
            return Err(two_links());
        }
        if let Some((previous, reply)) =
            previous.and_then(|id| Some((id.clone(), ReplyId::read(&id)?)))
        {
            return Self::going_on(app, client, header, (text, &links), previous, reply).await;
        }
        let named_by = |name: &String| SessionId::new(name_of(name.as_bytes())?).ok();
        let id = conversation.as_ref().and_then(named_by);
        let conversation = conversation.filter(|_| id.is_some());
        let needed = id.is_some() && header.is_none();
        let cleared = match &id {
            Some(id) => Some(links.cleared(text, &round_of(app, client, id, &links).await?)),
            None => None,
        };
        let session = match header.or(id) {
            Some(id) => Some(named(id)),
            None if links.store == Some(false) => None,
            None => Some(own(app, client)?),
        };
        Ok(Self { session, needed, previous: None, conversation, text: cleared })
    }

    /// A request that continues one of our responses.
    async fn going_on(
        app: &App,
        client: &Client,
        header: Option<SessionId>,
        (text, links): (&str, &Links<'_>),
        previous: String,
        reply: ReplyId,
    ) -> Result<Self, Problem> {
        let engine = app.engine();
        let loaded = match engine.session(&client.caller, &reply.session).await {
            Ok(loaded) => loaded,
            Err(Error::NoSession(_)) => return Err(not_found(&previous)),
            Err(error) => return Err(error.into()),
        };
        let (head, next) = (&loaded.head, reply.turns_before + 1);
        let round = head.client_round.as_ref().filter(|round| round.reply == previous);
        let mut session = header.clone().unwrap_or_else(|| reply.session.clone());
        if round.is_none() && head.turns < next {
            return Err(not_found(&previous));
        }
        if header.is_none() && round.is_none() && head.turns > next {
            let fork = engine.fork(&client.caller, &reply.session, Some(next), None).await?;
            session = fork.head.id.clone();
        }
        let items = round.map(|round| round.items.clone()).unwrap_or_default();
        let text = Some(links.cleared(text, &items));
        let (session, previous) = (Some(named(session)), Some(previous));
        Ok(Self { session, needed: true, previous, conversation: None, text })
    }
}

/// The items of the round that a request goes on with: it sends results of calls, and the rest is with the
/// conversation.
async fn round_of(
    app: &App,
    client: &Client,
    id: &SessionId,
    links: &Links<'_>,
) -> Result<Vec<Value>, Problem> {
    let items = links.input.and_then(read::<Vec<Value>>).unwrap_or_default();
    let is_result =
        |item: &Value| item["type"].as_str().is_some_and(|kind| kind.ends_with("_call_output"));
    if !items.first().is_some_and(is_result) {
        return Ok(Vec::new());
    }
    match app.engine().session(&client.caller, id).await {
        Ok(loaded) => Ok(loaded
            .head
            .client_round
            .as_ref()
            .map(|round| round.items.clone())
            .unwrap_or_default()),
        Err(Error::NoSession(_)) => Ok(Vec::new()),
        Err(error) => Err(error.into()),
    }
}

/// Refuses a request that cannot be converted: one that is no object, or continues a response of the provider, which
/// the other protocol has no place for.
pub(super) fn check_convertible(body: &[u8], thread: &Thread) -> Result<(), Problem> {
    let starts_as_object = body.trim_ascii_start().starts_with(b"{");
    let links = serde_json::from_slice::<Links<'_>>(body).ok().filter(|_| starts_as_object);
    let links = links.ok_or_else(|| Problem::invalid("body", "it is not a JSON object"))?;
    match links.previous_response_id.and_then(read::<String>) {
        Some(id) if thread.previous.is_none() => Err(not_found(&id)),
        _ => Ok(()),
    }
}

impl Links<'_> {
    /// The request without our ids, and with `items` before its own.
    fn cleared(&self, text: &str, items: &[Value]) -> String {
        let mut edits: Vec<(Range<usize>, String)> = Vec::new();
        for named in [self.previous_response_id, self.conversation].into_iter().flatten() {
            edits.push((place(text, named.get()), "null".into()));
        }
        if let Some(input) = self.input.filter(|_| !items.is_empty()) {
            let before: String = items.iter().map(|item| format!("{item},")).collect();
            let whole = place(text, input.get());
            edits.push(match input.get().starts_with('[') {
                true if input.get()[1..].trim_start().starts_with(']') => {
                    (whole.start + 1..whole.start + 1, before.trim_end_matches(',').to_owned())
                }
                true => (whole.start + 1..whole.start + 1, before),
                false => {
                    (whole, format!(r#"[{before}{{"role":"user","content":{}}}]"#, input.get()))
                }
            });
        }
        edited(text, edits)
    }
}

/// A response id: the session, and its number of turns before the response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ReplyId {
    pub session: SessionId,
    /// Turns of the session before the reply.
    pub turns_before: u64,
}

impl ReplyId {
    /// A new response id in `session`.
    pub(super) fn make(session: &SessionId, turns_before: u64, nonce: Uuid) -> String {
        format!("{REPLY}{}_{turns_before}_{session}", nonce.simple())
    }

    /// What an id says; `None` where it is not ours.
    pub(super) fn read(id: &str) -> Option<Self> {
        let (nonce, rest) = id.strip_prefix(REPLY)?.split_once('_')?;
        let (turns, session) = rest.split_once('_')?;
        nonce.parse::<Uuid>().ok()?;
        Some(Self { session: SessionId::new(session).ok()?, turns_before: turns.parse().ok()? })
    }
}

/// The session with that id; it is created if missing.
fn named(id: SessionId) -> NewSession {
    NewSession { id: Some(id), ..NewSession::default() }
}

/// A new session. Without a named user it uses nothing of other sessions.
fn own(app: &App, client: &Client) -> Result<NewSession, Problem> {
    let id = SessionId::new(app.engine().new_id().to_string())?;
    let memory = (!client.has_user).then_some(MemoryScope::Session);
    Ok(NewSession { settings: Settings { memory, ..Settings::default() }, ..named(id) })
}

fn read<T: for<'de> Deserialize<'de>>(raw: &RawValue) -> Option<T> {
    serde_json::from_str(raw.get()).ok()
}

/// A response that a request continues and nobody has.
pub(super) fn not_found(id: &str) -> Problem {
    Problem::new(
        StatusCode::BAD_REQUEST,
        "previous_response_not_found",
        format!("Previous response with id '{id}' not found."),
        "it was not stored, was erased, or belongs to somebody else; send the conversation itself",
    )
}

/// Two ways to name what comes before, which may differ.
fn two_links() -> Problem {
    Problem::new(
        StatusCode::BAD_REQUEST,
        "mutually_exclusive_parameters",
        "Mutually exclusive parameters: 'previous_response_id' and 'conversation' cannot be used together.",
        "send one of them",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_of_a_reply_leads_back_and_a_providers_own_does_not() {
        let session = SessionId::new("a_b-1").expect("a name");
        let id = ReplyId::make(&session, 7, Uuid::nil());
        assert_eq!(ReplyId::read(&id), Some(ReplyId { session, turns_before: 7 }));
        for id in ["resp_68a1", "resp_tl_x_1_a", "resp_tl_", "", "resp_tl_1_1_"] {
            assert_eq!(ReplyId::read(id), None, "{id}");
        }
    }

    #[test]
    fn items_come_in_front_and_our_ids_go() {
        let check = |text: &str, expected: &str| {
            let links: Links<'_> = serde_json::from_str(text).expect("JSON");
            assert_eq!(links.cleared(text, &[Value::from(1)]), expected);
        };
        check(
            r#"{"previous_response_id":"x","input":[ 2],"n":1.50}"#,
            r#"{"previous_response_id":null,"input":[1, 2],"n":1.50}"#,
        );
        check(
            r#"{"conversation":{"id":"c"},"input":"Hi."}"#,
            r#"{"conversation":null,"input":[1,{"role":"user","content":"Hi."}]}"#,
        );
        check(r#"{"input":[ ]}"#, r#"{"input":[1 ]}"#);
    }
}
