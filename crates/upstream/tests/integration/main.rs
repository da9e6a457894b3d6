//! Tests of the upstream clients, against doubles and, if set up, against real servers.
//!
//! Real servers are named by environment variables that `scripts/setup/mcp-peers.sh` and `scripts/real-model` print;
//! without them the tests say what they skipped.

#![expect(clippy::unwrap_used, reason = "the whole crate is a test")]

mod mcp_faults;
mod mcp_http;
mod mcp_restart;
mod model;
mod model_faults;
mod real_mcp;
mod real_model;
mod secrets;
mod temperature;

use std::path::Path;

use throughline_testkit::scripted_mcp::stdio;

/// Not a check: the program that other tests start as a server.
#[test]
fn scripted_mcp_entry() {
    stdio::serve_if_asked();
}

/// Whether the process is still running. A zombie is not.
fn is_running(pid: u64) -> bool {
    let status = std::fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat"));
    status.is_ok_and(|status| !status.contains(") Z "))
}
