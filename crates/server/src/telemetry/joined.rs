//! Joins the trace named in the `traceparent` header (W3C Trace Context).
//!
//! Spans of the request become children of the caller's span; if the caller does not sample its trace, none are
//! sent. An invalid header is ignored, and the spans start their own trace.
//!
//! Invariant: a spawned task must be given the context (`with_current_context`), or it is lost.

use axum::extract::Request;
use axum::http::HeaderMap;
use axum::middleware::Next;
use axum::response::Response;
use opentelemetry::Context;
use opentelemetry::context::FutureExt as _;
use opentelemetry::propagation::{Extractor, TextMapPropagator as _};
use opentelemetry_sdk::propagation::TraceContextPropagator;

/// Names the trace and the caller's span.
const TRACEPARENT: &str = "traceparent";

/// Serves a request as part of its trace.
pub async fn joined(mut request: Request, next: Next) -> Response {
    if !request.headers().contains_key(TRACEPARENT) {
        return next.run(request).await;
    }
    let context = TraceContextPropagator::new().extract(&Headers(request.headers()));
    // Over MCP, a task that only sees the request's parts answers it.
    request.extensions_mut().insert(Trace(context.clone()));
    next.run(request).with_context(context).await
}

/// The trace of a request, for tasks that answer it elsewhere.
#[derive(Debug, Clone)]
pub struct Trace(pub Context);

struct Headers<'a>(&'a HeaderMap);

impl Extractor for Headers<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).and_then(|value| value.to_str().ok())
    }

    fn keys(&self) -> Vec<&str> {
        self.0.keys().map(|name| name.as_str()).collect()
    }
}
