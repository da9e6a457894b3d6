//! Counters and histograms in Prometheus' form.
//!
//! One recorder a process, made when it is first asked for; the route renders it. Labels hold names from
//! configuration and routes only, or are bounded in number ([`throughline_engine::labels`]).

use std::sync::OnceLock;
use std::time::Duration;

use metrics::{counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use throughline_engine::labels::bounded;

/// Every metric: its kind, name and meaning. What is recorded under another name is refused by a test.
pub const ALL: [(Kind, &str, &str); 19] = [
    (Kind::Counter, "throughline_http_requests_total", "Requests by method, route and status."),
    (
        Kind::Histogram,
        "throughline_http_request_seconds",
        "Time to answer a request, by method and route.",
    ),
    (Kind::Gauge, "throughline_http_connections", "Connections that are open."),
    (
        Kind::Counter,
        "throughline_http_connections_refused_total",
        "Connections refused because too many were open.",
    ),
    (Kind::Counter, "throughline_turns_total", "Turns by kind and how they ended."),
    (Kind::Histogram, "throughline_turn_seconds", "Time of a turn, by kind."),
    (Kind::Gauge, "throughline_turns_under_way", "Turns under way."),
    (
        Kind::Counter,
        "throughline_context_tokens_total",
        "Tokens that were sent, by part of the request.",
    ),
    (
        Kind::Histogram,
        "throughline_context_window_share",
        "Share of the window that a request took.",
    ),
    (
        Kind::Counter,
        "throughline_context_warnings_total",
        "Requests that came near the end of their window.",
    ),
    (
        Kind::Counter,
        "throughline_model_tokens_total",
        "Tokens as providers counted them, by model and direction.",
    ),
    (Kind::Counter, "throughline_model_failures_total", "Failed calls of models, by model."),
    (Kind::Counter, "throughline_tool_calls_total", "Calls of tools, by tool and outcome."),
    (Kind::Histogram, "throughline_tool_seconds", "Time of a tool's call, by tool."),
    (Kind::Gauge, "throughline_cache_sessions", "Sessions in memory."),
    (Kind::Gauge, "throughline_cache_bytes", "Bytes of sessions in memory."),
    (Kind::Counter, "throughline_cache_hits_total", "Sessions found in memory."),
    (Kind::Counter, "throughline_cache_misses_total", "Sessions read from the store."),
    (Kind::Gauge, "throughline_store_writable", "1 while the store can be written, else 0."),
];

/// What a metric is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Only grows.
    Counter,
    /// Goes up and down.
    Gauge,
    /// Counts by size, in buckets that add up over copies of the server.
    Histogram,
}

const REQUEST_SECONDS: &str = "throughline_http_request_seconds";
const SHARE: &str = "throughline_context_window_share";

/// Bounds of histograms of time, in seconds.
const SECONDS: [f64; 12] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 1.0, 5.0, 30.0, 120.0];
/// Bounds of the histogram of window shares.
const SHARES: [f64; 8] = [0.1, 0.25, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0];

static RECORDER: OnceLock<Option<PrometheusHandle>> = OnceLock::new();

/// Starts recording; the first call in a process has the effect.
pub fn start() -> Option<PrometheusHandle> {
    RECORDER
        .get_or_init(|| {
            let builder = PrometheusBuilder::new()
                .set_buckets(&SECONDS)
                .and_then(|b| b.set_buckets_for_metric(Matcher::Full(SHARE.into()), &SHARES));
            let recorder = builder.ok()?.build_recorder();
            let handle = recorder.handle();
            metrics::set_global_recorder(recorder).ok()?;
            for (kind, name, help) in ALL {
                match kind {
                    Kind::Counter => describe_counter!(name, help),
                    Kind::Gauge => describe_gauge!(name, help),
                    Kind::Histogram => describe_histogram!(name, help),
                }
            }
            Some(handle)
        })
        .clone()
}

/// One answered request.
pub fn request(method: &str, route: &str, status: u16, took: Duration) {
    let (method, route) = (method.to_owned(), route.to_owned());
    counter!("throughline_http_requests_total", "method" => method.clone(),
        "route" => route.clone(), "status" => status.to_string())
    .increment(1);
    histogram!(REQUEST_SECONDS, "method" => method, "route" => route).record(took.as_secs_f64());
}

/// Connections that are open now.
#[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
pub fn connections_open(count: usize) {
    gauge!("throughline_http_connections").set(count as f64);
}

/// A connection that was closed because there were too many.
pub fn connection_refused() {
    counter!("throughline_http_connections_refused_total").increment(1);
}

/// Tokens of one part of a request.
pub fn tokens(part: &'static str, tokens: u64) {
    counter!("throughline_context_tokens_total", "part" => part).increment(tokens);
}

/// The share of the window that a request took, and whether it was over the threshold.
pub fn share(share: f32, warning: bool) {
    histogram!(SHARE).record(f64::from(share));
    if warning {
        counter!("throughline_context_warnings_total").increment(1);
    }
}

/// A turn of a kind that ended in a way.
pub fn turn(kind: &'static str, status: &'static str, took: Option<Duration>) {
    counter!("throughline_turns_total", "kind" => kind, "status" => status).increment(1);
    if let Some(took) = took {
        histogram!("throughline_turn_seconds", "kind" => kind).record(took.as_secs_f64());
    }
}

/// Tokens as a provider counted them.
pub fn usage(model: &str, direction: &'static str, tokens: u64) {
    let model = bounded("model", model);
    counter!("throughline_model_tokens_total", "model" => model, "direction" => direction)
        .increment(tokens);
}
