//! The log, on standard error; and, where a collector is named, spans on their way to it.

use throughline_engine::trace::TARGET;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, fmt};

use super::traces::Traces;
use crate::config::LogSettings;

/// Starts the log. Only the first call in a process has an effect.
pub fn start(settings: &LogSettings, traces: Option<&Traces>) {
    let filter = EnvFilter::try_new(&settings.filter).unwrap_or_else(|_| EnvFilter::new("info"));
    // Spans for a collector would only lengthen every line of the log.
    let log = fmt::layer().with_writer(std::io::stderr).with_target(false);
    let log = if settings.json {
        log.json().flatten_event(true).boxed()
    } else {
        log.with_ansi(console::colors_enabled_stderr()).boxed()
    };
    let log = log.with_filter(filter).with_filter(filter_fn(|about| about.target() != TARGET));
    let spans = traces.map(|traces| {
        let layer = tracing_opentelemetry::layer().with_tracer(traces.tracer());
        let layer = layer.with_location(false).with_threads(false).with_tracked_inactivity(false);
        layer.with_filter(filter_fn(|about| about.is_span() && about.target() == TARGET))
    });
    if tracing_subscriber::registry().with(spans).with(log).try_init().is_err() {
        tracing::debug!("the log was started before");
    }
}
