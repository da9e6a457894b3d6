//! The HTTP client for MCP servers, with a limit on every response.
//!
//! The protocol library bounds the events of a stream but reads a plain body completely, so an endless response
//! would exhaust memory. This client does what the library's own does, but with bounded bodies.
//!
//! Invariant: never buffers more of a response than the limit, whatever its form.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{Stream, StreamExt};
use reqwest::header::{
    ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE,
};
use reqwest::{Response, StatusCode};
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorData, JsonRpcMessage, ServerJsonRpcMessage,
};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, HttpStatusError, SseError, StreamableHttpClient, StreamableHttpError,
    StreamableHttpPostResponse,
};
use sse_stream::{Sse, SseStream};

use super::raw;

const EVENTS: &str = "text/event-stream";
const JSON: &str = "application/json";
const SESSION: &str = "mcp-session-id";

type Failed = StreamableHttpError<reqwest::Error>;

/// An HTTP client with bounded responses.
#[derive(Debug, Clone)]
pub(super) struct BoundedClient {
    client: reqwest::Client,
    server: Arc<str>,
    bytes_max: usize,
    session_lost: Arc<AtomicBool>,
}

impl BoundedClient {
    /// Limits responses of `server` to `bytes_max`. Sets `session_lost` when it no longer knows our session.
    pub(super) fn new(
        client: reqwest::Client,
        server: &str,
        bytes_max: usize,
        session_lost: Arc<AtomicBool>,
    ) -> Self {
        Self { client, server: server.into(), bytes_max, session_lost }
    }

    /// Events as the library may read them.
    fn readable<E: Send + 'static>(
        &self,
        events: impl Stream<Item = Result<Sse, E>> + Send + 'static,
    ) -> BoxStream<'static, Result<Sse, E>> {
        let server = self.server.clone();
        let readable = move |mut event: Sse| {
            event.data = event.data.map(|data| raw::readable_text(&server, &data).into_owned());
            event
        };
        events.map(move |event| event.map(&readable)).boxed()
    }

    /// Does not start a new session transparently: the server may be another one now, and its tools have to be
    /// listed first.
    fn session_lost(&self) -> Failed {
        self.session_lost.store(true, Ordering::Release);
        StreamableHttpError::UnexpectedServerResponse(Cow::Borrowed(
            "it no longer knows our session",
        ))
    }

    async fn body(&self, mut response: Response) -> Result<Vec<u8>, Failed> {
        let announced = response.content_length().and_then(|bytes| usize::try_from(bytes).ok());
        if announced.is_some_and(|bytes| bytes > self.bytes_max) {
            return Err(too_large(self.bytes_max).into());
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await? {
            if body.len() + chunk.len() > self.bytes_max {
                return Err(too_large(self.bytes_max).into());
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }
}

impl StreamableHttpClient for BoundedClient {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Failed> {
        let mut request =
            self.client.post(uri.as_ref()).header(ACCEPT, format!("{EVENTS}, {JSON}"));
        if let Some(token) = auth_header {
            request = request.bearer_auth(token);
        }
        for (name, value) in custom_headers {
            request = request.header(name, value);
        }
        let in_session = session_id.is_some();
        if let Some(session) = session_id {
            request = request.header(SESSION, session.as_ref());
        }
        let response = request.json(&message).send().await?;
        let status = response.status();
        refused(&response)?;
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if status == StatusCode::NOT_FOUND && in_session {
            return Err(self.session_lost());
        }
        let kind = header(&response, CONTENT_TYPE).unwrap_or_default();
        let session = header(&response, HeaderName::from_static(SESSION));
        if !status.is_success() {
            let failure = status_failure(&response);
            let is_json = kind.starts_with(JSON);
            if let Some(failure) = failure.filter(|_| !is_json || status.as_u16() == 429) {
                return Err(failure.into());
            }
            let body = self.body(response).await?;
            if in_session && status == StatusCode::BAD_REQUEST && names_no_request(&body) {
                return Err(self.session_lost());
            }
            return unsuccessful(&message, in_session, status, (&kind, &body), session);
        }
        if kind.starts_with(EVENTS) {
            let events =
                SseStream::from_bytes_stream(bounded(response.bytes_stream(), self.bytes_max));
            return Ok(StreamableHttpPostResponse::Sse(self.readable(events), session));
        }
        let expects_no_reply = !matches!(message, ClientJsonRpcMessage::Request(_));
        let body = self.body(response).await?;
        if body.is_empty() && expects_no_reply {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if !kind.starts_with(JSON) {
            return Err(StreamableHttpError::UnexpectedContentType(Some(kind)));
        }
        match serde_json::from_slice(&raw::readable(&self.server, &body)) {
            Ok(parsed) => Ok(StreamableHttpPostResponse::Json(parsed, session)),
            Err(_) if expects_no_reply => Ok(StreamableHttpPostResponse::Accepted),
            Err(error) => Err(error.into()),
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Failed> {
        self.client.delete_session(uri, session_id, auth_header, custom_headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failed> {
        let (client, most) = (&self.client, self.bytes_max);
        let events = client
            .get_stream_with_max_sse_event_size(
                uri,
                session_id,
                last_event_id,
                auth_header,
                custom_headers,
                most,
            )
            .await?;
        Ok(self.readable(events))
    }
}

/// Returns the server's challenge if it rejects our credential.
fn refused(response: &Response) -> Result<(), Failed> {
    match (response.status(), header(response, WWW_AUTHENTICATE)) {
        (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN, Some(challenge)) => {
            Err(StreamableHttpError::AuthRequired(AuthRequiredError::new(challenge)))
        }
        _ => Ok(()),
    }
}

fn status_failure(response: &Response) -> Option<HttpStatusError> {
    let status = response.status();
    let retryable = status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error();
    retryable.then(|| HttpStatusError::new(status.as_u16(), header(response, RETRY_AFTER)))
}

/// Whether an error has no request id. Servers also report an unknown session like that, before parsing the request.
fn names_no_request(body: &[u8]) -> bool {
    let parsed = serde_json::from_slice::<ServerJsonRpcMessage>(body);
    matches!(parsed, Ok(JsonRpcMessage::Error(error)) if error.id.is_none())
}

/// A response with an error status may still be a valid protocol message.
fn unsuccessful(
    message: &ClientJsonRpcMessage,
    in_session: bool,
    status: StatusCode,
    (kind, body): (&str, &[u8]),
    session: Option<String>,
) -> Result<StreamableHttpPostResponse, Failed> {
    let parsed = serde_json::from_slice::<ServerJsonRpcMessage>(body).ok();
    let unauthorized = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    // A legacy server rejects an unknown method before it reads the id.
    if let ClientJsonRpcMessage::Request(request) = message
        && matches!(request.request, ClientRequest::DiscoverRequest(_))
        && !in_session
        && status.is_client_error()
        && !unauthorized
    {
        let error = match parsed {
            Some(JsonRpcMessage::Error(error)) => error.error,
            _ => ErrorData::invalid_request(format!("it responded with HTTP {status}"), None),
        };
        let answer = ServerJsonRpcMessage::error(error, Some(request.id.clone()));
        return Ok(StreamableHttpPostResponse::Json(answer, None));
    }
    match parsed {
        Some(JsonRpcMessage::Error(mut answer)) if kind.starts_with(JSON) && !unauthorized => {
            // Without an id, the caller would wait for a reply until its timeout.
            if let ClientJsonRpcMessage::Request(request) = message {
                answer.id = answer.id.or_else(|| Some(request.id.clone()));
            }
            Ok(StreamableHttpPostResponse::Json(JsonRpcMessage::Error(answer), session))
        }
        _ if status.is_server_error() => Err(HttpStatusError::new(status.as_u16(), None).into()),
        _ => {
            let text = String::from_utf8_lossy(body);
            let text = format!("HTTP {status}: {text}");
            Err(StreamableHttpError::UnexpectedServerResponse(Cow::Owned(text)))
        }
    }
}

fn header(response: &Response, name: HeaderName) -> Option<String> {
    response.headers().get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
}

fn too_large(bytes_max: usize) -> io::Error {
    let what = format!("its response exceeds {bytes_max} bytes");
    io::Error::new(io::ErrorKind::FileTooLarge, what)
}

/// Passes on the bytes of an event stream; fails when a single event exceeds the limit.
fn bounded(
    bytes: impl Stream<Item = Result<Bytes, reqwest::Error>> + Send + 'static,
    bytes_max: usize,
) -> impl Stream<Item = io::Result<Bytes>> + Send + 'static {
    let mut event = Event::default();
    bytes.map(move |chunk| {
        let chunk = chunk.map_err(io::Error::other)?;
        if event.longest_with(&chunk) > bytes_max { Err(too_large(bytes_max)) } else { Ok(chunk) }
    })
}

/// The size of the current event, which ends at an empty line.
#[derive(Debug, Default)]
struct Event {
    bytes: usize,
    newlines: usize,
}

impl Event {
    fn longest_with(&mut self, chunk: &[u8]) -> usize {
        let mut longest = self.bytes;
        for byte in chunk {
            self.bytes += 1;
            match byte {
                b'\n' => self.newlines += 1,
                b'\r' => {}
                _ => self.newlines = 0,
            }
            longest = longest.max(self.bytes);
            if self.newlines >= 2 {
                self.bytes = 0;
            }
        }
        longest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_measured_across_chunks_and_ends_at_an_empty_line() {
        let mut event = Event::default();
        assert_eq!(event.longest_with(b"data: ab\r"), 9);
        assert_eq!(event.longest_with(b"\n\r\nda"), 12);
        assert_eq!(event.longest_with(b"ta: a\n"), 8);
        assert_eq!(event.longest_with(b"\nx"), 9);
        assert_eq!(event.longest_with(&[b'y'; 90]), 91);
    }
}
