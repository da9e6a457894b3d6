//! `throughline demo-inventory`: the demo MCP server.

use crate::failure::Failure;

/// Serves until the input ends.
pub(super) async fn run() -> Result<(), Failure> {
    Ok(crate::demo::run_stdio().await?)
}
