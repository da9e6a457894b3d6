//! Counters and histograms in Prometheus' form.
//!
//! One recorder a process, made when it is first asked for; the route renders it. Labels hold names from
//! configuration and routes only, so their number is bounded.

use std::sync::OnceLock;
use std::time::Duration;

use metrics::{counter, gauge, histogram};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};

const REQUEST_SECONDS: &str = "throughline_http_request_seconds";
const SHARE: &str = "throughline_context_window_share";

/// Bounds of the latency histogram, in seconds.
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
                .set_buckets_for_metric(Matcher::Full(REQUEST_SECONDS.into()), &SECONDS)
                .and_then(|b| b.set_buckets_for_metric(Matcher::Full(SHARE.into()), &SHARES));
            let recorder = builder.ok()?.build_recorder();
            let handle = recorder.handle();
            metrics::set_global_recorder(recorder).ok()?;
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
pub fn usage(direction: &'static str, tokens: u64) {
    counter!("throughline_model_tokens_total", "direction" => direction).increment(tokens);
}
