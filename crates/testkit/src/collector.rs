//! An OpenTelemetry collector that records received spans, over OTLP/HTTP with protobuf.
//!
//! It accepts exactly what the specification requires: another path or content type, or bytes that do not decode, are
//! rejected, and the exporter under test sees it.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::routing::post;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Wire;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use prost::Message;
use serde_json::{Value, json};
use tokio::sync::watch;

/// Maximum size of a batch.
const BATCH_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Far above what a loaded machine needs; only a failing test waits so long.
const WAIT_MAX: Duration = Duration::from_secs(30);

/// A received span.
#[derive(Debug, Clone)]
pub struct Span {
    pub name: String,
    /// The id of its trace.
    pub trace: Vec<u8>,
    /// Its own id.
    pub id: Vec<u8>,
    /// The id of its parent; empty if it has none.
    pub parent: Vec<u8>,
    /// 1 internal, 3 client.
    pub kind: i32,
    /// Whether its status is an error.
    pub failed: bool,
    pub attributes: BTreeMap<String, Value>,
    /// The service that sent it.
    pub service: String,
}

/// A running collector, stopped on drop.
pub struct Collector {
    address: SocketAddr,
    spans: Arc<Mutex<Vec<Span>>>,
    count: watch::Sender<usize>,
    bytes: Arc<Mutex<Vec<u8>>>,
    task: tokio::task::JoinHandle<()>,
}

#[derive(Clone)]
struct Shared {
    spans: Arc<Mutex<Vec<Span>>>,
    count: watch::Sender<usize>,
    bytes: Arc<Mutex<Vec<u8>>>,
}

impl Collector {
    /// Starts a collector on a free loopback port.
    pub async fn start() -> Self {
        let shared =
            Shared { spans: Arc::default(), count: watch::Sender::new(0), bytes: Arc::default() };
        let router = Router::new().route("/v1/traces", post(take)).with_state(shared.clone());
        let listener =
            tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("loopback is free");
        let address = listener.local_addr().expect("a bound socket has an address");
        let task = tokio::spawn(async move {
            axum::serve(listener, router).await.expect("the server runs until it is dropped");
        });
        let Shared { spans, count, bytes } = shared;
        Self { address, spans, count, bytes, task }
    }

    /// The value for `OTEL_EXPORTER_OTLP_ENDPOINT`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Waits for this many spans, and returns all received so far.
    pub async fn spans(&self, wanted: usize) -> Vec<Span> {
        let mut count = self.count.subscribe();
        let come = count.wait_for(|count| *count >= wanted);
        let come = tokio::time::timeout(WAIT_MAX, come).await.map(|waited| waited.is_ok());
        let spans = self.spans.lock().expect("no panic under the lock").clone();
        let names: Vec<&str> = spans.iter().map(|span| span.name.as_str()).collect();
        assert!(come == Ok(true), "{wanted} spans were awaited, these came: {names:?}");
        spans
    }

    /// All bytes received.
    pub fn bytes(&self) -> Vec<u8> {
        self.bytes.lock().expect("no panic under the lock").clone()
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn take(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> StatusCode {
    let kind = headers.get(header::CONTENT_TYPE).map(|kind| kind.as_bytes());
    if kind != Some(b"application/x-protobuf") || body.len() > BATCH_BYTES_MAX {
        return StatusCode::UNSUPPORTED_MEDIA_TYPE;
    }
    shared.bytes.lock().expect("no panic under the lock").extend_from_slice(&body);
    let Ok(batch) = ExportTraceServiceRequest::decode(body) else {
        return StatusCode::BAD_REQUEST;
    };
    let mut spans = shared.spans.lock().expect("no panic under the lock");
    for resource in batch.resource_spans {
        let about = resource.resource.map(|resource| attributes(resource.attributes));
        let service = about.and_then(|about| about.get("service.name").cloned());
        let service = service.and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default();
        for span in resource.scope_spans.into_iter().flat_map(|scope| scope.spans) {
            spans.push(Span {
                name: span.name,
                trace: span.trace_id,
                id: span.span_id,
                parent: span.parent_span_id,
                kind: span.kind,
                failed: span.status.is_some_and(|status| status.code == 2),
                attributes: attributes(span.attributes),
                service: service.clone(),
            });
        }
    }
    shared.count.send_replace(spans.len());
    StatusCode::OK
}

fn attributes(pairs: Vec<KeyValue>) -> BTreeMap<String, Value> {
    pairs.into_iter().map(|pair| (pair.key, value(pair.value))).collect()
}

fn value(any: Option<AnyValue>) -> Value {
    match any.and_then(|any| any.value) {
        Some(Wire::StringValue(text)) => json!(text),
        Some(Wire::BoolValue(truth)) => json!(truth),
        Some(Wire::IntValue(number)) => json!(number),
        Some(Wire::DoubleValue(number)) => json!(number),
        Some(Wire::ArrayValue(list)) => {
            list.values.into_iter().map(|item| value(Some(item))).collect()
        }
        _ => Value::Null,
    }
}
