//! What the server says about itself: its log.
//!
//! Invariant: no prompt, reply, argument value or key is ever logged.

use tracing_subscriber::EnvFilter;

/// Starts the log on standard error.
pub fn start() {
    let filter =
        EnvFilter::try_from_env("THROUGHLINE_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_target(false)
        .try_init();
}
