//! `GET` and `DELETE /v1/responses/{id}`, `GET /v1/responses/{id}/input_items`: replies that a session keeps, by their ids.
//!
//! An id leads to its session within the caller's scope. An id of the provider's own is not passed on: with a configured
//! key it would lead to everybody's responses.
//!
//! Invariant: what was never kept, was erased or belongs to somebody else is the same 404.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use throughline_engine::error::Error;
use throughline_engine::id::SessionId;
use throughline_engine::model::StopReason;
use throughline_engine::session::head::ClientRound;
use throughline_engine::session::record::{TurnKind, TurnRecord, TurnStatus};
use throughline_upstream::model::Provider;
use throughline_upstream::model::responses::ResponseWriter;

use super::client::Client;
use super::thread::ReplyId;
use super::{refusal, stored};
use crate::http::App;
use crate::http::problem::Problem;

/// Items of a page where the client names no number, and at most, as at OpenAI.
const ITEMS: usize = 20;
const ITEMS_MAX: usize = 100;

/// The response of that id.
pub(super) async fn show(
    State(app): State<App>,
    headers: HeaderMap,
    Path(id): Path<String>,
    uri: Uri,
) -> Response {
    let shown = async {
        let asked: AskedForm = query(&uri)?;
        if asked.stream {
            return Err(Problem::invalid("stream", "a stored response is returned in one piece"));
        }
        Ok(StoredReply::find(&app, &headers, &id).await?.response())
    };
    answered(shown.await)
}

/// What the model was asked with, as the client sent it.
pub(super) async fn input_items(
    State(app): State<App>,
    headers: HeaderMap,
    Path(id): Path<String>,
    uri: Uri,
) -> Response {
    let listed = async {
        let listing: Listing = query(&uri)?;
        let reply = StoredReply::find(&app, &headers, &id).await?;
        listing.page(reply.input())
    };
    answered(listed.await)
}

/// Erases the turn that keeps the response, and what was gathered from it.
pub(super) async fn delete(
    State(app): State<App>,
    headers: HeaderMap,
    Path(id): Path<String>,
) -> Response {
    let deleted = async {
        let reply = StoredReply::find(&app, &headers, &id).await?;
        let StoredIn::Turn { record, .. } = &reply.stored_in else {
            return Err(Problem::new(
                StatusCode::CONFLICT,
                "response_awaits_tools",
                format!("response {id} awaits the results of its tool calls"),
                "send them, or erase the session",
            ));
        };
        let (engine, caller, turn) = (app.engine().clone(), reply.client.caller, record.turn);
        let session = reply.session;
        let erasing = async move { engine.erase_turns(&caller, &session, &[turn].into()).await };
        app.to_the_end(erasing).await??;
        Ok(json!({"id": id, "object": "response", "deleted": true}))
    };
    answered(deleted.await)
}

fn answered(answer: Result<Value, Problem>) -> Response {
    match answer {
        Ok(answer) => Json(answer).into_response(),
        Err(problem) => refusal::in_format(Provider::OpenAi, &problem),
    }
}

fn query<T: for<'de> Deserialize<'de>>(uri: &Uri) -> Result<T, Problem> {
    let query = axum::extract::Query::try_from_uri(uri);
    query.map(|query| query.0).map_err(|error| Problem::invalid("query", error.body_text()))
}

/// How a client wants a response.
#[derive(Deserialize)]
struct AskedForm {
    #[serde(default)]
    stream: bool,
}

/// A reply that is kept here.
struct StoredReply {
    id: String,
    client: Client,
    session: SessionId,
    stored_in: StoredIn,
}

/// Where a reply is kept.
enum StoredIn {
    /// In the log; `request` is null where it was too large to be kept.
    Turn { record: Box<TurnRecord>, request: Value },
    /// In the head: it ended in calls that the client has not answered yet.
    Round { round: Box<ClientRound>, since: i64 },
}

impl StoredReply {
    async fn find(app: &App, headers: &HeaderMap, id: &str) -> Result<Self, Problem> {
        let client = Client::of(app, headers).await?;
        let missing = || not_found(id);
        let (engine, caller) = (app.engine(), &client.caller);
        let ReplyId { session, turns_before } = ReplyId::read(id).ok_or_else(missing)?;
        let loaded = match engine.session(caller, &session).await {
            Ok(loaded) => loaded,
            Err(Error::NoSession(_)) => return Err(missing()),
            Err(error) => return Err(error.into()),
        };
        let head = &loaded.head;
        if let Some(round) = head.client_round.as_ref().filter(|round| round.reply == id) {
            let (round, since) = (round.clone(), head.last_activity.as_second());
            let stored_in = StoredIn::Round { round, since };
            return Ok(Self { id: id.to_owned(), client, session, stored_in });
        }
        let turn = turns_before.checked_add(1).filter(|turn| *turn <= head.turns);
        let turn = turn.ok_or_else(missing)?;
        let (_, record) = engine.turn(caller, &session, turn).await?;
        // Turns of older versions do not say the id.
        let named = record.client_reply.as_ref().is_none_or(|reply| reply == id);
        if !named || record.kind != TurnKind::DropIn || record.status == TurnStatus::Erased {
            return Err(missing());
        }
        let request = match engine.handed_on(caller, &session, turn).await {
            Ok(Some(request)) => serde_json::from_str(&request.body).unwrap_or_default(),
            Ok(None) | Err(Error::NotKept { .. }) => Value::Null,
            Err(error) => return Err(error.into()),
        };
        let stored_in = StoredIn::Turn { record: Box::new((*record).clone()), request };
        Ok(Self { id: id.to_owned(), client, session, stored_in })
    }

    /// The response, as it was answered. Of reasoning only what waits with calls is kept.
    fn response(&self) -> Value {
        match &self.stored_in {
            StoredIn::Turn { record, request } => stored::response(&self.id, record, request),
            StoredIn::Round { round, since } => {
                let model = stored::model_name(&round.model);
                let writer = ResponseWriter::new(&self.id, model, *since, &Value::Null);
                let mut response = writer.whole(StopReason::ToolUse, None);
                response["output"] = json!(round.items.get(round.sent_items..));
                response
            }
        }
    }

    /// What the client sent, each item with an id.
    fn input(&self) -> Vec<Value> {
        let items = match &self.stored_in {
            StoredIn::Turn { record, request } => match &request["input"] {
                Value::Array(items) => items.clone(),
                _ => vec![json!({"role": "user", "content": record.message})],
            },
            StoredIn::Round { round, .. } => {
                round.items.iter().take(round.sent_items).cloned().collect()
            }
        };
        let suffix = self.id.trim_start_matches("resp_");
        items.into_iter().enumerate().map(|(at, item)| listed(item, at, suffix)).collect()
    }
}

/// An item as OpenAI lists it: with its type, an id, and its text as parts.
fn listed(mut item: Value, at: usize, suffix: &str) -> Value {
    let Some(fields) = item.as_object_mut() else { return item };
    if fields.contains_key("role") {
        fields.entry("type").or_insert_with(|| json!("message"));
        fields.entry("status").or_insert_with(|| json!("completed"));
        let kind = if fields["role"] == "assistant" { "output_text" } else { "input_text" };
        if let Some(Value::String(text)) = fields.get("content") {
            let part = match kind {
                "output_text" => json!({"type": kind, "text": text, "annotations": []}),
                _ => json!({"type": kind, "text": text}),
            };
            fields.insert("content".into(), json!([part]));
        }
    }
    fields.entry("id").or_insert_with(|| json!(format!("item_{suffix}_{at}")));
    item
}

/// Which items a client wants.
#[derive(Deserialize)]
struct Listing {
    after: Option<String>,
    limit: Option<usize>,
    order: Option<Order>,
}

#[derive(Deserialize, Default, Clone, Copy, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Order {
    Asc,
    #[default]
    Desc,
}

impl Listing {
    fn page(self, mut items: Vec<Value>) -> Result<Value, Problem> {
        let limit = self.limit.unwrap_or(ITEMS);
        if !(1..=ITEMS_MAX).contains(&limit) {
            return Err(Problem::invalid("limit", format!("it is 1 to {ITEMS_MAX}")));
        }
        if self.order.unwrap_or_default() == Order::Desc {
            items.reverse();
        }
        if let Some(after) = self.after {
            let at = items.iter().position(|item| item["id"] == after.as_str());
            let at = at.ok_or_else(|| Problem::invalid("after", "there is no item of that id"))?;
            items.drain(..=at);
        }
        let has_more = items.len() > limit;
        items.truncate(limit);
        let id = |item: Option<&Value>| item.map(|item| item["id"].clone());
        Ok(json!({
            "object": "list", "first_id": id(items.first()), "last_id": id(items.last()),
            "has_more": has_more, "data": items,
        }))
    }
}

fn not_found(id: &str) -> Problem {
    Problem::new(
        StatusCode::NOT_FOUND,
        "response_not_found",
        format!("Response with id '{id}' not found."),
        "it was not stored here, was erased, or belongs to somebody else",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(query: &str) -> Result<(Vec<String>, bool), Problem> {
        let items = (1..=4).map(|at| json!({"id": format!("i{at}")})).collect();
        let uri: Uri = format!("/?{query}").parse().expect("a path");
        let page = super::query::<Listing>(&uri)?.page(items)?;
        let ids = page["data"].as_array().expect("a list").iter();
        let ids = ids.map(|item| item["id"].as_str().expect("an id").to_owned()).collect();
        Ok((ids, page["has_more"] == true))
    }

    #[test]
    fn items_are_paged_from_the_newest_unless_the_client_says_otherwise() {
        let check = |query: &str, ids: &[&str], more: bool| {
            let page = page(query).unwrap_or_else(|problem| panic!("{query}: {}", problem.detail));
            assert_eq!(page, (ids.iter().map(|id| (*id).to_owned()).collect(), more), "{query}");
        };
        check("", &["i4", "i3", "i2", "i1"], false);
        check("limit=2", &["i4", "i3"], true);
        check("order=asc&after=i1&limit=2", &["i2", "i3"], true);
        check("order=asc&after=i4", &[], false);
        for wrong in ["limit=0", "limit=101", "after=x", "order=up"] {
            assert!(page(wrong).is_err(), "{wrong}");
        }
    }
}
