//! Standard input and output, for a client that starts this process.
//!
//! Invariant: only the protocol is written to standard output.

use rmcp::ServiceExt;
use rmcp::transport::stdio;

use super::Mcp;
use crate::failure::Failure;

/// Serves until the client disconnects.
pub async fn run(mcp: Mcp) -> Result<(), Failure> {
    let failed = |error: &dyn std::fmt::Display| {
        Failure::new(format!("the MCP connection failed: {error}"), "start it from an MCP client")
    };
    let service = match mcp.serve(stdio()).await {
        Ok(service) => service,
        // A client that disconnects before its first request is not an error.
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(failed(&error)),
    };
    service.waiting().await.map(|_| ()).map_err(|error| failed(&error))
}
