//! `POST /chat/stream`: chat as server-sent events.
//!
//! A failure before the first event is an ordinary error response; afterwards it is an `error` event. Closing
//! the stream cancels the turn, and the reply so far is kept.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::State;
use axum::http::HeaderValue;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::stream::{self, Stream};
use throughline_engine::events::{Events, TurnEvent};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::body::ChatBody;
use super::event;
use super::reply::ChatReply;
use super::run::{self, Running};
use crate::http::App;
use crate::http::body::Body;
use crate::http::caller::Authenticated;
use crate::http::idempotency::IdempotencyKey;
use crate::http::problem::Problem;

/// Interval of keep-alive comments.
const ALIVE_EVERY: Duration = Duration::from_secs(15);

/// Answers a message as server-sent events: context, tool_call, tool_result, approval, delta, usage, done,
/// error.
#[utoipa::path(post, path = "/chat/stream", tag = "chat", request_body = ChatBody,
    params(("idempotency-key" = Option<String>, Header, description = "Key of this request, 1–255 visible ASCII characters; a repetition returns the first result")),
    responses((status = 200, content_type = "text/event-stream", body = String),
        (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(super) async fn chat_stream(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    key: IdempotencyKey,
    body: Body<ChatBody>,
) -> Result<Response, Problem> {
    let request = body.value.request(key.of("chat", &body.bytes))?;
    let (sender, events) = unbounded_channel();
    let running = run::converse(&app, caller, request, Events::to(sender));
    respond(app, running, events).await
}

/// Streams a running turn; waits for its first event, so that an early failure is an ordinary error.
pub(super) async fn respond(
    app: App,
    running: Running,
    mut events: UnboundedReceiver<TurnEvent>,
) -> Result<Response, Problem> {
    let state = match events.recv().await {
        Some(first) => StreamState::Events { first: Some(first), events, running },
        None => {
            let reply = ChatReply::of(&app, &running.outcome().await?);
            StreamState::Last(Box::new(event::named("done", &reply)))
        }
    };
    let stream =
        Sse::new(told(app, state)).keep_alive(KeepAlive::new().interval(ALIVE_EVERY).text("alive"));
    let mut response = stream.into_response();
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    Ok(response)
}

#[expect(clippy::large_enum_variant, reason = "one lives per stream, and almost always the first")]
enum StreamState {
    Events { first: Option<TurnEvent>, events: UnboundedReceiver<TurnEvent>, running: Running },
    Last(Box<Event>),
    Over,
}

fn told(app: App, state: StreamState) -> impl Stream<Item = Result<Event, Infallible>> {
    stream::unfold((app, state), async |(app, state)| match state {
        StreamState::Events { first, mut events, running } => {
            let next = match first {
                Some(first) => Some(first),
                None => events.recv().await,
            };
            if let Some(next) = next {
                let event = event::wire(&next);
                return Some((
                    Ok(event),
                    (app, StreamState::Events { first: None, events, running }),
                ));
            }
            let last = match running.outcome().await {
                Ok(outcome) => event::named("done", &ChatReply::of(&app, &outcome)),
                Err(problem) => event::named("error", &problem),
            };
            Some((Ok(last), (app, StreamState::Over)))
        }
        StreamState::Last(event) => Some((Ok(*event), (app, StreamState::Over))),
        StreamState::Over => None,
    })
}
