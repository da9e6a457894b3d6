//! The log, on standard error.

use tracing_subscriber::EnvFilter;

use crate::config::LogSettings;

/// Starts the log. Only the first call in a process has an effect.
pub fn start(settings: &LogSettings) {
    let filter = EnvFilter::try_new(&settings.filter).unwrap_or_else(|_| EnvFilter::new("info"));
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_target(false);
    let started = if settings.json {
        log.json().flatten_event(true).try_init()
    } else {
        log.with_ansi(console::colors_enabled_stderr()).try_init()
    };
    if started.is_err() {
        tracing::debug!("the log was started before");
    }
}
