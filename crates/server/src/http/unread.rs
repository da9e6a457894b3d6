//! Bodies of refused requests: read away if they are small, else the response announces that the connection closes.
//!
//! A request is often refused by its head alone. If its body is left in the socket, the connection cannot be used again and
//! closes, and a client that keeps connections would lose its next request.
//!
//! Invariant: nothing of such a body is kept in memory.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware::Next;
use axum::response::Response;
use http_body_util::BodyExt;
use hyper::body::{Frame, SizeHint};

/// Largest body that is read away, in bytes.
const DRAINED_BYTES_MAX: u64 = 64 * 1024;
/// How long it may take to arrive.
const DRAINED_WITHIN: Duration = Duration::from_millis(500);

/// Serves a request and settles what is left of its body.
pub(super) async fn settle(request: Request, next: Next) -> Response {
    if request.body().is_end_stream() {
        return next.run(request).await;
    }
    let (parts, body) = request.into_parts();
    let may_drain = !parts.headers.contains_key(header::EXPECT) && is_small(&parts.headers);
    let lent = Lent(Arc::new(Mutex::new(Some(body))));
    let held = lent.clone();
    let mut response = next.run(Request::from_parts(parts, Body::new(lent))).await;
    let left = held.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(left) = left.filter(|left| !left.is_end_stream())
        && !(may_drain && drain(left).await)
    {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

fn is_small(headers: &HeaderMap) -> bool {
    let length = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok());
    length.and_then(|length| length.parse().ok()).is_some_and(|n: u64| n <= DRAINED_BYTES_MAX)
}

/// Whether the whole body came and was dropped.
async fn drain(mut body: Body) -> bool {
    let read = async {
        while let Some(frame) = body.frame().await {
            if frame.is_err() {
                return false;
            }
        }
        true
    };
    tokio::time::timeout(DRAINED_WITHIN, read).await.unwrap_or(false)
}

/// A body that can be taken back.
#[derive(Clone)]
struct Lent(Arc<Mutex<Option<Body>>>);

impl HttpBody for Lent {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match held.as_mut() {
            Some(body) => Pin::new(body).poll_frame(context),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        let held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        let held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.as_ref().map(HttpBody::size_hint).unwrap_or_default()
    }
}
