//! The log on standard error, and spans for a configured collector.
//!
//! Invariant: whatever the filter, no line contains a prompt, a reply, an argument, a result or a token.

use throughline_engine::sabotage::{self, Switch};
use throughline_engine::trace::TARGET;
use tracing::Level;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, fmt};

use super::traces::Traces;
use crate::config::LogSettings;

/// Libraries that log what they transport: URLs with tokens, arguments, results, bodies. They are never logged;
/// their failures are returned as errors, which are redacted.
const SILENT: [&str; 9] = [
    "rmcp",
    "reqwest",
    "hyper",
    "hyper_util",
    "h2",
    "sse_stream",
    "rustls",
    "redis",
    "object_store",
];
/// Modules that log only the span and status of a request. Other modules of the same library log paths, which
/// may contain tokens of read-only links.
const HARMLESS: [&str; 1] = ["tower_http::trace"];

/// Whether an event may be logged at all. Unreviewed libraries may log warnings.
fn may_be_logged(target: &str, level: Level) -> bool {
    let library = target.split("::").next().unwrap_or_default();
    let is_ours = library.starts_with("throughline") && target != TARGET;
    is_ours
        || sabotage::is(Switch::LogEverything)
        || HARMLESS.iter().any(|module| target.starts_with(module))
        || (level <= Level::WARN && target != TARGET && !SILENT.contains(&library))
}

/// Starts the log. Only the first call in a process has an effect.
pub fn start(settings: &LogSettings, traces: Option<&Traces>) {
    let filter = EnvFilter::try_new(&settings.filter).unwrap_or_else(|_| EnvFilter::new("info"));
    // Spans for the collector would only lengthen the log lines.
    let log = fmt::layer().with_writer(std::io::stderr).with_target(false);
    let log = if settings.json {
        log.json().flatten_event(true).boxed()
    } else {
        log.with_ansi(console::colors_enabled_stderr()).boxed()
    };
    let allowed = filter_fn(|about| may_be_logged(about.target(), *about.level()));
    let log = log.with_filter(filter).with_filter(allowed);
    let spans = traces.map(|traces| {
        let layer = tracing_opentelemetry::layer().with_tracer(traces.tracer());
        let layer = layer.with_location(false).with_threads(false).with_tracked_inactivity(false);
        layer.with_filter(filter_fn(|about| about.is_span() && about.target() == TARGET))
    });
    if tracing_subscriber::registry().with(spans).with(log).try_init().is_err() {
        tracing::debug!("the log is already started");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_that_log_what_they_carry_are_silent() {
        for target in ["rmcp::service", "reqwest::connect", "hyper_util::client", TARGET] {
            assert!(!may_be_logged(target, Level::ERROR), "{target}");
        }
        assert!(!may_be_logged("tower_http::csrf", Level::TRACE));
        assert!(may_be_logged("tower_http::trace::on_response", Level::DEBUG));
        assert!(may_be_logged("throughline_engine::turn", Level::TRACE));
        assert!(may_be_logged("some_library", Level::WARN));
        assert!(!may_be_logged("some_library", Level::INFO));
    }
}
