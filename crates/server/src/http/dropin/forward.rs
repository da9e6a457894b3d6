//! Forwards a request to the provider. The response is passed on byte for byte, unless it is converted, and a
//! copy is kept for memory.
//!
//! This runs as its own task: if the client disconnects, the upstream call ends and the reply so far is still
//! stored.
//!
//! Invariant: the last event of a stream reaches the client after its turn is committed, so that the client's
//! next request sees it.

use std::time::Duration;

use axum::body::Body;
use axum::http::{StatusCode, header};
use axum::response::Response;
use bytes::{Bytes, BytesMut};
use opentelemetry::context::FutureExt as _;
use throughline_engine::failure::UpstreamFault;
use throughline_engine::session::record::TurnError;
use throughline_upstream::model::parsed_answer::{self, ParsedAnswer};
use throughline_upstream::model::pass_through::{ClientCall, PassThrough};
use throughline_upstream::model::{Api, fault_of};
use tokio::sync::{mpsc, oneshot};
use tokio_stream::wrappers::ReceiverStream;

use super::answer_form::AnswerForm;
use super::keep::{Ending, TurnToKeep};
use super::notes::Notes;
use super::{headers, refusal};
use crate::http::App;
use crate::http::problem::{Problem, internal};

/// Largest error response that is passed on, in bytes.
const REFUSAL_BYTES_MAX: usize = 1024 * 1024;
/// Chunks buffered for a slow client.
const CHUNKS_WAITING_MAX: usize = 16;
/// Marks of a stream's last event.
const LAST_EVENT_MARKS: [&[u8]; 4] =
    [b"data: [DONE]", b"message_stop", b"response.completed", b"response.incomplete"];
/// Bytes before a chunk in which a mark may begin.
const MARK_BYTES_MAX: usize = 24;

/// A request to forward.
pub(super) struct Forward {
    /// The provider.
    pub upstream: PassThrough,
    /// The call to make.
    pub call: ClientCall,
    /// API of the client.
    pub api: Api,
    /// How the response is converted.
    pub form: AnswerForm,
    /// Response headers about memory.
    pub notes: Notes,
    /// What to store afterwards.
    pub remains: TurnToKeep,
}

/// How reading the response ended.
enum Read {
    Ended,
    Left,
    Broke(UpstreamFault, String),
}

impl Read {
    fn interrupted() -> Self {
        Self::Broke(UpstreamFault::Unreachable, "the connection to the provider broke".into())
    }
}

impl Forward {
    /// Sends the request, and responds as soon as the provider does.
    pub(super) async fn run(self, app: &App) -> Response {
        let provider = self.api.provider();
        let (head, answer) = oneshot::channel();
        let tracker = app.turns().clone();
        tracker.spawn(self.go(app.clone(), head).with_current_context());
        answer.await.unwrap_or_else(|_| refusal::in_format(provider, &internal()))
    }

    async fn go(self, app: App, mut head: oneshot::Sender<Response>) {
        let Self { upstream, call, api, form, notes, mut remains } = self;
        let sent = tokio::select! {
            biased;
            () = head.closed() => return remains.end(Ending::Left(ParsedAnswer::default())).await,
            () = app.giving_up().cancelled() => {
                return remains.end(Ending::Left(ParsedAnswer::default())).await;
            }
            sent = upstream.send(&call) => sent,
        };
        let response = match sent {
            Ok(response) if response.status().is_redirection() => {
                let problem = moved(response.status());
                refuse(remains, api, head, &problem, UpstreamFault::Rejected).await;
                return;
            }
            Ok(response) => response,
            Err(error) => {
                let problem = refusal::of_upstream(&error);
                refuse(remains, api, head, &problem, error.fault).await;
                return;
            }
        };
        let back = UpstreamAnswer { app, upstream, api, form, notes, response, remains };
        if !back.response.status().is_success() {
            back.refused(head).await;
        } else if back.streams() || back.may_pass_unread() {
            back.streamed(head).await;
        } else {
            back.whole(head).await;
        }
    }
}

/// A provider's response.
struct UpstreamAnswer {
    app: App,
    upstream: PassThrough,
    api: Api,
    form: AnswerForm,
    notes: Notes,
    response: reqwest::Response,
    remains: TurnToKeep,
}

impl UpstreamAnswer {
    fn streams(&self) -> bool {
        let kind = self.response.headers().get(header::CONTENT_TYPE);
        kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
    }

    /// Whether the response need not be parsed.
    fn may_pass_unread(&self) -> bool {
        self.remains.keeping.is_none() && matches!(self.form, AnswerForm::AsItIs)
    }

    fn answer(&self, body: Body) -> Response {
        let mut answer = Response::new(body);
        *answer.status_mut() = self.response.status();
        *answer.headers_mut() = headers::passed(self.response.headers());
        self.notes.write(answer.headers_mut());
        answer
    }

    async fn refused(mut self, mut head: oneshot::Sender<Response>) {
        let (body, _) = self.collect(REFUSAL_BYTES_MAX, &mut head).await;
        let body = self.upstream.cleaned(body);
        let status = self.response.status();
        let answer = self.answer(Body::from(body.clone()));
        let message = format!("{status}: {}", parsed_answer::refusal(&body));
        let error = TurnError::new(format!("upstream_{}", status.as_u16()), message);
        self.remains.end(Ending::Refused(error.caused_by(fault_of(status.as_u16())))).await;
        let _ = head.send(answer);
    }

    async fn whole(mut self, mut head: oneshot::Sender<Response>) {
        let most = self.upstream.config().reply_bytes_max;
        let (body, read) = self.collect(most, &mut head).await;
        let body = self.form.whole(body);
        let parsed = parsed_answer::whole(self.api, &body);
        let (answer, ending) = match read {
            Read::Ended => (self.answer(Body::from(body)), Ending::Over(parsed)),
            Read::Left => (self.answer(Body::empty()), Ending::Left(parsed)),
            Read::Broke(fault, why) => {
                let answer = refusal::in_format(self.api.provider(), &broke(&why));
                (answer, Ending::Broke(parsed, fault, why))
            }
        };
        self.remains.end(ending).await;
        let _ = head.send(answer);
    }

    async fn collect(
        &mut self,
        most: usize,
        head: &mut oneshot::Sender<Response>,
    ) -> (Bytes, Read) {
        let mut body = BytesMut::new();
        let read = loop {
            let chunk = tokio::select! {
                biased;
                () = head.closed() => break Read::Left,
                () = self.app.giving_up().cancelled() => break Read::Left,
                () = tokio::time::sleep(self.silence()) => break self.silent(),
                chunk = self.response.chunk() => chunk,
            };
            match chunk {
                Ok(Some(chunk)) if body.len() + chunk.len() > most => {
                    break Read::Broke(UpstreamFault::TooLarge, format!("it is over {most} bytes"));
                }
                Ok(Some(chunk)) => body.extend_from_slice(&chunk),
                Ok(None) => break Read::Ended,
                Err(_) => break Read::interrupted(),
            }
        };
        (body.freeze(), read)
    }

    async fn streamed(mut self, head: oneshot::Sender<Response>) {
        let (client, chunks) = mpsc::channel(CHUNKS_WAITING_MAX);
        let answer = self.answer(Body::from_stream(ReceiverStream::new(chunks)));
        if head.send(answer).is_err() {
            return self.remains.end(Ending::Left(ParsedAnswer::default())).await;
        }
        let mut copy = BytesMut::new();
        let read = loop {
            let chunk = tokio::select! {
                biased;
                () = client.closed() => break Read::Left,
                () = self.app.giving_up().cancelled() => break Read::Left,
                () = tokio::time::sleep(self.silence()) => break self.silent(),
                chunk = self.response.chunk() => chunk,
            };
            let (chunk, is_last) = match chunk {
                Ok(Some(chunk)) => (self.form.stream(chunk), false),
                Ok(None) => (self.form.end(), true),
                Err(_) => break Read::interrupted(),
            };
            if !chunk.is_empty() && !self.hand_on(&client, &mut copy, chunk).await {
                break Read::Left;
            }
            if is_last {
                break Read::Ended;
            }
        };
        let ending = self.ending(&read, copy.freeze()).await;
        self.remains.end(ending).await;
        if let Read::Broke(_, why) = read {
            let _ = client.send(Err(std::io::Error::other(why))).await;
        }
    }

    /// Sends a chunk to the client. A client that does not read in time counts as disconnected.
    async fn hand_on(
        &mut self,
        client: &mpsc::Sender<std::io::Result<Bytes>>,
        copy: &mut BytesMut,
        chunk: Bytes,
    ) -> bool {
        self.look_at(copy, &chunk).await;
        let patience = Duration::from_secs(self.app.settings().unread_seconds_max);
        tokio::select! {
            sent = client.send(Ok(chunk)) => sent.is_ok(),
            () = self.app.giving_up().cancelled() => false,
            () = tokio::time::sleep(patience) => false,
        }
    }

    /// How a stream ended, from its copy; without a session there is none.
    async fn ending(&self, read: &Read, copy: Bytes) -> Ending {
        let parsed = match self.remains.keeping {
            Some(_) => parsed_answer::stream(self.api, copy).await,
            None => ParsedAnswer::default(),
        };
        match read {
            Read::Broke(fault, why) => Ending::Broke(parsed, *fault, why.clone()),
            Read::Left => Ending::Left(parsed),
            Read::Ended if self.remains.keeping.is_none() => Ending::Passed,
            Read::Ended => Ending::Over(parsed),
        }
    }

    /// Copies `chunk`; if it ends the reply, the turn is committed before the chunk is passed on.
    async fn look_at(&mut self, copy: &mut BytesMut, chunk: &Bytes) {
        let room = self.remains.keeping.is_some()
            && copy.len() + chunk.len() <= self.upstream.config().reply_bytes_max;
        if !room {
            return;
        }
        let from = copy.len().saturating_sub(MARK_BYTES_MAX);
        copy.extend_from_slice(chunk);
        let marked = |mark: &[u8]| copy[from..].windows(mark.len()).any(|part| part == mark);
        if !LAST_EVENT_MARKS.iter().any(|mark| marked(mark)) {
            return;
        }
        let parsed = parsed_answer::stream(self.api, copy.clone().freeze()).await;
        if parsed.stop.is_some() {
            self.remains.end(Ending::Over(parsed)).await;
        }
    }

    /// Longest silence of the provider.
    fn silence(&self) -> Duration {
        self.upstream.config().idle_timeout
    }

    fn silent(&self) -> Read {
        let why =
            format!("it said nothing for {} seconds (idle_seconds)", self.silence().as_secs());
        Read::Broke(UpstreamFault::TimedOut, why)
    }
}

/// Responds with a problem, after the failed turn is committed.
async fn refuse(
    mut remains: TurnToKeep,
    api: Api,
    head: oneshot::Sender<Response>,
    problem: &Problem,
    cause: UpstreamFault,
) {
    let error = TurnError::new(&problem.code, &problem.detail);
    remains.end(Ending::Refused(error.caused_by(cause))).await;
    let _ = head.send(refusal::in_format(api.provider(), problem));
}

/// A redirect would send the client's credential elsewhere.
fn moved(status: StatusCode) -> Problem {
    Problem::new(
        StatusCode::BAD_GATEWAY,
        "upstream_moved",
        format!("the provider answered {status}; redirects are not followed"),
        "set base_url to the new address",
    )
}

fn broke(why: &str) -> Problem {
    Problem::new(
        StatusCode::BAD_GATEWAY,
        "upstream_failed",
        format!("the provider's answer is not whole: {why}"),
        "try again",
    )
}
