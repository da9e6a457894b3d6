//! The trace that a request is part of, as its `traceparent` header says (W3C Trace Context).
//!
//! Spans that begin while the request is answered join it: they become children of the caller's span, and
//! where the caller does not sample its trace, none of ours are sent. A header that is none is passed over,
//! and the spans begin a trace of their own.
//!
//! Invariant: a task of its own is given the context with it (`with_current_context`), or it is lost.

use axum::extract::Request;
use axum::http::HeaderMap;
use axum::middleware::Next;
use axum::response::Response;
use opentelemetry::Context;
use opentelemetry::context::FutureExt as _;
use opentelemetry::propagation::{Extractor, TextMapPropagator as _};
use opentelemetry_sdk::propagation::TraceContextPropagator;

/// The header that names the trace and the caller's span.
const TRACEPARENT: &str = "traceparent";

/// Answers a request as part of the trace that it names.
pub async fn joined(mut request: Request, next: Next) -> Response {
    if !request.headers().contains_key(TRACEPARENT) {
        return next.run(request).await;
    }
    let context = TraceContextPropagator::new().extract(&Headers(request.headers()));
    // Over MCP the request is answered by a task that only sees its parts.
    request.extensions_mut().insert(Trace(context.clone()));
    next.run(request).with_context(context).await
}

/// The trace that a request named, for whoever answers it elsewhere.
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
