//! The engine's own answer to a provider's client: by another model, or by none.
//!
//! Here the engine makes the request itself, with its own tools; the client's tools are not offered. A
//! request without a session is answered in one that is erased at once.

use std::convert::Infallible;

use axum::Json;
use axum::body::Body;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures::stream;
use throughline_engine::access::Caller;
use throughline_engine::events::{Events, TurnEvent};
use throughline_engine::id::SessionId;
use throughline_engine::model::Usage;
use throughline_engine::request::TurnInput;
use throughline_engine::session::apply::RequestKey;
use throughline_engine::session::record::{ReplyForm, TurnRecord};
use throughline_engine::turn::{TurnOutcome, TurnRequest};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::SESSION;
use super::client_body::ClientBody;
use super::dress::Dress;
use crate::http::App;
use crate::http::chat::run::{self, Running};
use crate::http::problem::Problem;

/// The model that is named when there is none.
pub const OFFLINE: &str = "throughline-offline";

/// Answers a client through the engine.
pub async fn reply(
    app: &App,
    caller: Caller,
    session: Option<SessionId>,
    key: Option<RequestKey>,
    client: &ClientBody<'_>,
) -> Result<Response, Problem> {
    let lasting = session.is_some();
    let id = match session {
        Some(id) => id,
        None => SessionId::new(app.engine().new_id().to_string())?,
    };
    let request = turn_request(client, id.clone(), key.filter(|_| lasting));
    let passing =
        (!lasting).then(|| Passing { app: app.clone(), caller: caller.clone(), id: id.clone() });
    let (sender, mut events) = unbounded_channel();
    let running = run::converse(app, caller, request, Events::to(sender));
    let dress = dress_of(client, id.as_str(), model_name(app), app.engine().now().as_second());
    if !client.streams {
        let outcome = running.outcome().await?;
        let (text, usage, model) = said(&outcome);
        let dress = Dress { model: model.unwrap_or(dress.model), ..dress };
        let mut response = Json(dress.whole(&text, usage)).into_response();
        name_session(&mut response, lasting.then_some(&id));
        drop(passing);
        return Ok(response);
    }
    // What goes wrong before the first event is an error answer, not a broken stream.
    let Some(first) = events.recv().await else {
        let (text, usage, _) = said(&running.outcome().await?);
        return Ok(events_response(dress.begin() + &dress.more(&text) + &dress.end(usage)));
    };
    let telling = Telling { dress, events, running: Some(running), next: Some(first), passing };
    let mut response = stream_response(telling);
    name_session(&mut response, lasting.then_some(&id));
    Ok(response)
}

/// A turn that was kept before, told again.
pub fn stored(client: &ClientBody<'_>, session: &SessionId, record: &TurnRecord) -> Response {
    let model = match &record.form {
        ReplyForm::Model { model } => model.split_once('/').map_or(&**model, |(_, name)| name),
        _ => OFFLINE,
    };
    let id = format!("{session}-{}", record.turn);
    let dress = dress_of(client, &id, model.to_owned(), record.at.as_second());
    let usage = usage_of(record);
    let mut response = match client.streams {
        false => Json(dress.whole(&record.reply, usage)).into_response(),
        true => events_response(dress.begin() + &dress.more(&record.reply) + &dress.end(usage)),
    };
    name_session(&mut response, Some(session));
    response
}

fn turn_request(client: &ClientBody<'_>, id: SessionId, key: Option<RequestKey>) -> TurnRequest {
    let request = client.request();
    let mut given = Vec::new();
    if !client.system.trim().is_empty() {
        given.push(("the client's instructions".to_owned(), client.system.clone()));
    }
    if !request.earlier.is_empty() {
        given.push(("the client's conversation so far".to_owned(), request.earlier.join("\n")));
    }
    let input = TurnInput { message: request.message, given, ..TurnInput::default() };
    TurnRequest { session: Some(id), input, key, ..TurnRequest::default() }
}

fn dress_of(client: &ClientBody<'_>, id: &str, model: String, created: i64) -> Dress {
    Dress { format: client.format, id: format!("throughline-{id}"), model, created }
}

fn model_name(app: &App) -> String {
    app.engine().model_names().into_iter().next().unwrap_or_else(|| OFFLINE.to_owned())
}

/// The reply, its tokens, and who gave it.
fn said(outcome: &TurnOutcome) -> (String, Usage, Option<String>) {
    match outcome {
        TurnOutcome::Finished { record, .. } => {
            let model = match &record.form {
                ReplyForm::Model { model } => model.clone(),
                _ => OFFLINE.to_owned(),
            };
            (record.reply.clone(), usage_of(record), Some(model))
        }
        TurnOutcome::Paused { pending, .. } => {
            let waiting: Vec<String> =
                pending.undecided().map(|call| format!("{} ({})", call.tool, call.id)).collect();
            let text = format!("Waiting for approval of {}.", waiting.join(", "));
            (text, Usage::default(), None)
        }
    }
}

fn usage_of(record: &TurnRecord) -> Usage {
    record.usage.unwrap_or_else(|| Usage {
        input_tokens: record.receipt.as_ref().map_or(0, |r| u64::from(r.budget.used_tokens)),
        output_tokens: u64::from(record.tokens.reply),
        ..Usage::default()
    })
}

/// A session for one request: erased when this is dropped.
struct Passing {
    app: App,
    caller: Caller,
    id: SessionId,
}

impl Drop for Passing {
    fn drop(&mut self) {
        let (app, caller, id) = (self.app.clone(), self.caller.clone(), self.id.clone());
        let turns = app.turns().clone();
        turns.spawn(async move {
            if let Err(error) = app.engine().erase(&caller, &id).await {
                tracing::warn!(session.id = %id, %error, "a passing session could not be erased");
            }
        });
    }
}

/// A turn that is being told as a stream.
struct Telling {
    dress: Dress,
    events: UnboundedReceiver<TurnEvent>,
    running: Option<Running>,
    next: Option<TurnEvent>,
    passing: Option<Passing>,
}

fn stream_response(telling: Telling) -> Response {
    let begin = telling.dress.begin();
    let told =
        stream::unfold((Some(begin), telling, false), async |(begin, mut telling, said_any)| {
            if let Some(begin) = begin {
                return Some((Ok::<_, Infallible>(begin), (None, telling, said_any)));
            }
            loop {
                let next = match telling.next.take() {
                    Some(next) => Some(next),
                    None => telling.events.recv().await,
                };
                match next {
                    Some(TurnEvent::Delta(text)) => {
                        return Some((Ok(telling.dress.more(&text)), (None, telling, true)));
                    }
                    Some(_) => {}
                    None => break,
                }
            }
            let last = match telling.running.take()?.outcome().await {
                Ok(outcome) => {
                    let (text, usage, _) = said(&outcome);
                    let rest = if said_any { String::new() } else { telling.dress.more(&text) };
                    rest + &telling.dress.end(usage)
                }
                Err(problem) => telling.dress.error(&problem.detail),
            };
            telling.passing = None;
            Some((Ok(last), (None, telling, said_any)))
        });
    events_body(Body::from_stream(told))
}

fn events_response(text: String) -> Response {
    events_body(Body::from(text))
}

fn events_body(body: Body) -> Response {
    let kind = HeaderValue::from_static("text/event-stream");
    ([(header::CONTENT_TYPE, kind)], body).into_response()
}

fn name_session(response: &mut Response, session: Option<&SessionId>) {
    let name = session.and_then(|id| HeaderValue::try_from(id.as_str()).ok());
    if let Some(name) = name {
        response.headers_mut().insert(SESSION, name);
    }
}
