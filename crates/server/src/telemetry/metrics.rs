//! Metrics for Prometheus.
//!
//! There is one recorder per process, created on first use. Labels are names from configuration and routes, or
//! bounded in number ([`throughline_engine::labels`]).

use std::sync::OnceLock;
use std::time::Duration;

use metrics::{counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use throughline_engine::labels::bounded;

/// All metrics: kind, name and help. A test rejects any other name.
pub const ALL: [(Kind, &str, &str); 22] = [
    (Kind::Counter, "throughline_http_requests_total", "Requests by method, route and status."),
    (
        Kind::Histogram,
        "throughline_http_request_seconds",
        "Duration of a request, by method and route.",
    ),
    (Kind::Gauge, "throughline_http_connections", "Open connections."),
    (
        Kind::Counter,
        "throughline_http_connections_refused_total",
        "Connections refused because too many were open.",
    ),
    (Kind::Counter, "throughline_turns_total", "Turns by kind and status."),
    (Kind::Histogram, "throughline_turn_seconds", "Duration of a turn, by kind."),
    (Kind::Gauge, "throughline_turns_under_way", "Turns in progress."),
    (Kind::Counter, "throughline_context_tokens_total", "Tokens sent, by part of the request."),
    (
        Kind::Counter,
        "throughline_stable_tokens_total",
        "Tokens sent that the request before began with, too.",
    ),
    (
        Kind::Counter,
        "throughline_effective_tokens_total",
        "Tokens sent, where a stable one counts as a tenth.",
    ),
    (
        Kind::Counter,
        "throughline_replay_effective_tokens_total",
        "The same if every request had sent the whole session.",
    ),
    (
        Kind::Histogram,
        "throughline_context_window_share",
        "Share of the token budget that a request used.",
    ),
    (
        Kind::Counter,
        "throughline_context_warnings_total",
        "Requests above the warning threshold of the token budget.",
    ),
    (
        Kind::Counter,
        "throughline_model_tokens_total",
        "Tokens as counted by providers, by model and direction.",
    ),
    (Kind::Counter, "throughline_model_failures_total", "Failed model calls, by model."),
    (Kind::Counter, "throughline_tool_calls_total", "Tool calls, by tool and outcome."),
    (Kind::Histogram, "throughline_tool_seconds", "Duration of a tool call, by tool."),
    (Kind::Gauge, "throughline_cache_sessions", "Sessions in the cache."),
    (Kind::Gauge, "throughline_cache_bytes", "Size of the cached sessions, in bytes."),
    (Kind::Counter, "throughline_cache_hits_total", "Sessions loaded from the cache."),
    (Kind::Counter, "throughline_cache_misses_total", "Sessions loaded from the store."),
    (Kind::Gauge, "throughline_store_writable", "1 while the store can be written, else 0."),
];

/// Type of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Only grows.
    Counter,
    /// Goes up and down.
    Gauge,
    /// Counts by size, in buckets that add up over several servers.
    Histogram,
}

const REQUEST_SECONDS: &str = "throughline_http_request_seconds";
const SHARE: &str = "throughline_context_window_share";

/// Buckets of durations, in seconds.
const SECONDS: [f64; 12] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 1.0, 5.0, 30.0, 120.0];
/// Buckets of budget shares.
const SHARES: [f64; 8] = [0.1, 0.25, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0];

static RECORDER: OnceLock<Option<PrometheusHandle>> = OnceLock::new();

/// Starts recording. Only the first call in a process has an effect.
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

/// Records a request.
pub fn request(method: &str, route: &str, status: u16, took: Duration) {
    let (method, route) = (method.to_owned(), route.to_owned());
    counter!("throughline_http_requests_total", "method" => method.clone(),
        "route" => route.clone(), "status" => status.to_string())
    .increment(1);
    histogram!(REQUEST_SECONDS, "method" => method, "route" => route).record(took.as_secs_f64());
}

/// Sets the number of open connections.
#[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
pub fn connections_open(count: usize) {
    gauge!("throughline_http_connections").set(count as f64);
}

/// Counts a connection rejected because too many are open.
pub fn connection_refused() {
    counter!("throughline_http_connections_refused_total").increment(1);
}

/// Adds the tokens of a part of a request.
pub fn tokens(part: &'static str, tokens: u64) {
    counter!("throughline_context_tokens_total", "part" => part).increment(tokens);
}

/// Adds what a request cost, and what sending the whole session would have.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rounded, and never negative"
)]
pub fn cost(stable: u32, effective: f64, replay_effective: f64) {
    counter!("throughline_stable_tokens_total").increment(stable.into());
    counter!("throughline_effective_tokens_total").increment(effective.round() as u64);
    counter!("throughline_replay_effective_tokens_total")
        .increment(replay_effective.round() as u64);
}

/// Records the share of the token budget that a request used, and a warning.
pub fn share(share: f32, warning: bool) {
    histogram!(SHARE).record(f64::from(share));
    if warning {
        counter!("throughline_context_warnings_total").increment(1);
    }
}

/// Records a turn.
pub fn turn(kind: &'static str, status: &'static str, took: Option<Duration>) {
    counter!("throughline_turns_total", "kind" => kind, "status" => status).increment(1);
    if let Some(took) = took {
        histogram!("throughline_turn_seconds", "kind" => kind).record(took.as_secs_f64());
    }
}

/// Adds tokens counted by a provider.
pub fn usage(model: &str, direction: &'static str, tokens: u64) {
    let model = bounded("model", model);
    counter!("throughline_model_tokens_total", "model" => model, "direction" => direction)
        .increment(tokens);
}
