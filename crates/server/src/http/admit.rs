//! Checks before a handler runs: the caller, the body, a free place, in this order.
//!
//! The caller is determined from the head alone, so a stranger's body is never buffered; the handler rejects it
//! unread. A body must arrive at a minimum rate and within the memory for bodies. Only a complete request takes
//! a place, so slow clients delay nobody else.
//!
//! Invariant: a request that holds a place never waits for its client's bytes.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use bytes::BytesMut;
use http_body_util::BodyExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

use super::App;
use super::caller::authenticate;
use super::dropin::refusal;
use super::problem::Problem;

/// Unit in which memory for bodies is reserved, in bytes.
pub(super) const BODY_BLOCK_BYTES: usize = 1024;

/// Authenticates the caller, reads the body and takes a place, then runs the handler.
pub(super) async fn admit(State(app): State<App>, request: Request, next: Next) -> Response {
    let (mut parts, mut body) = request.into_parts();
    let path = parts.uri.path().to_owned();
    let mut memory = Memory::default();
    if carries_body(&parts) && may_send(&app, &mut parts).await {
        let limit = match path.starts_with("/v1/") {
            true => app.settings().client_body_bytes_max,
            false => app.settings().body_bytes_max,
        };
        body = match memory.read(&app, &parts.headers, limit, body).await {
            Ok(bytes) => Body::from(bytes),
            Err(problem) => return refusal::shaped(&path, &problem),
        };
    }
    let Ok(_place) = app.places().try_acquire() else {
        return refusal::shaped(&path, &busy(&app));
    };
    next.run(Request::from_parts(parts, body)).await
}

fn carries_body(parts: &Parts) -> bool {
    !matches!(parts.method, Method::GET | Method::HEAD)
}

/// Whether the body is worth reading: the sender is authenticated, or no key is required. The caller is stored
/// in the request. Without keys, a credential may be meant for a model provider.
async fn may_send(app: &App, parts: &mut Parts) -> bool {
    match authenticate(parts, app).await {
        Ok(caller) => {
            parts.extensions.insert(caller);
            true
        }
        Err(_) => app.gate().keyless().await.unwrap_or(false),
    }
}

/// Memory reserved for a body until its request ends.
#[derive(Default)]
struct Memory {
    blocks: Option<OwnedSemaphorePermit>,
    bytes: usize,
}

impl Memory {
    /// Reads the body, unless it is too slow or too large.
    async fn read(
        &mut self,
        app: &App,
        headers: &HeaderMap,
        limit: usize,
        mut body: Body,
    ) -> Result<Bytes, Problem> {
        let settings = app.settings();
        if announced(headers).is_some_and(|length| length > limit) {
            return Err(too_large(limit));
        }
        let started = Instant::now();
        let mut bytes = BytesMut::new();
        loop {
            let earned = bytes.len() as u64 / settings.body_bytes_per_second_min;
            let deadline = started + Duration::from_secs(settings.body_seconds_max + earned);
            let frame = timeout_at(deadline, body.frame()).await.map_err(|_| too_slow(app))?;
            let Some(frame) = frame else { return Ok(bytes.freeze()) };
            let Ok(data) = frame.map_err(|_| unreadable())?.into_data() else { continue };
            if bytes.len() + data.len() > limit {
                return Err(too_large(limit));
            }
            self.grow(app, data.len())?;
            bytes.extend_from_slice(&data);
        }
    }

    /// Reserves memory for `more` bytes.
    fn grow(&mut self, app: &App, more: usize) -> Result<(), Problem> {
        let held = self.bytes.div_ceil(BODY_BLOCK_BYTES);
        self.bytes += more;
        let needed =
            u32::try_from(self.bytes.div_ceil(BODY_BLOCK_BYTES) - held).unwrap_or(u32::MAX);
        let taken = app.body_memory().clone().try_acquire_many_owned(needed);
        let taken = taken.map_err(|_| no_memory(app))?;
        match &mut self.blocks {
            Some(blocks) => blocks.merge(taken),
            None => self.blocks = Some(taken),
        }
        Ok(())
    }
}

/// Declared size of the body.
fn announced(headers: &HeaderMap) -> Option<usize> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// The body exceeds `limit`.
pub(super) fn too_large(limit: usize) -> Problem {
    Problem::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        "body_too_large",
        format!("the body is larger than {limit} bytes"),
        "send less, or raise server.body_bytes_max (server.client_body_bytes_max for /v1/)",
    )
}

/// The body was cut off.
pub(super) fn unreadable() -> Problem {
    Problem::new(
        StatusCode::BAD_REQUEST,
        "body_unreadable",
        "the body ended before it was complete",
        "send the request again",
    )
}

fn too_slow(app: &App) -> Problem {
    let settings = app.settings();
    let detail = format!(
        "the body did not arrive within {} seconds, at {} bytes per second",
        settings.body_seconds_max, settings.body_bytes_per_second_min
    );
    let hint = "send it faster, or raise server.body_seconds_max";
    Problem::new(StatusCode::REQUEST_TIMEOUT, "body_too_slow", detail, hint)
}

fn no_memory(app: &App) -> Problem {
    Problem::new(
        StatusCode::SERVICE_UNAVAILABLE,
        "busy",
        format!("requests in progress hold {} bytes", app.settings().bodies_bytes_max),
        "try again in a second, or raise server.bodies_bytes_max",
    )
}

fn busy(app: &App) -> Problem {
    Problem::new(
        StatusCode::SERVICE_UNAVAILABLE,
        "busy",
        format!("{} requests are already being served", app.settings().requests_at_once_max),
        "try again in a second, or raise server.requests_at_once_max",
    )
}

/// Memory for all bodies, in blocks.
pub(super) fn body_memory(bytes: usize) -> Semaphore {
    Semaphore::new((bytes / BODY_BLOCK_BYTES).clamp(1, Semaphore::MAX_PERMITS))
}
