//! Address and limits of the server.

use std::net::SocketAddr;

use serde::Deserialize;

use crate::json_limits::ShapeLimits;

/// Deepest JSON that the parser itself supports.
const JSON_DEPTH_PARSED: usize = 127;

/// The section `server`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerSettings {
    /// Address and port.
    pub bind: SocketAddr,
    /// Allowed host names besides the loopback ones.
    pub hosts: Vec<String>,
    /// Largest body, in bytes.
    pub body_bytes_max: usize,
    /// Largest body of a drop-in request, in bytes.
    pub client_body_bytes_max: usize,
    /// Bytes of the bodies of all requests in progress.
    pub bodies_bytes_max: usize,
    /// Time for a body to arrive, in seconds.
    pub body_seconds_max: u64,
    /// Minimum rate of a larger body, in bytes per second.
    pub body_bytes_per_second_min: u64,
    /// Time for a request head once the connection is ready for one, in seconds.
    pub head_seconds_max: u64,
    /// How long a client may leave a response unread, in seconds.
    pub unread_seconds_max: u64,
    /// Maximum number of open connections.
    pub connections_max: usize,
    /// Maximum number of open connections from one address.
    pub connections_per_address_max: usize,
    /// Deepest JSON.
    pub json_depth_max: usize,
    /// Maximum number of values in a JSON body.
    pub json_elements_max: usize,
    /// Time limit of a request that runs no turn, in seconds.
    pub request_seconds_max: u64,
    /// Time limit of a health check of the store, in seconds.
    pub health_seconds_max: u64,
    /// Maximum number of concurrent requests.
    pub requests_at_once_max: usize,
    /// Time to finish at shutdown, in seconds.
    pub shutdown_seconds_max: u64,
    /// Whether MCP clients of protocol versions with sessions get one.
    pub mcp_sessions: bool,
}

impl ServerSettings {
    /// Limits of JSON bodies.
    pub fn shape(&self) -> ShapeLimits {
        ShapeLimits {
            depth_max: self.json_depth_max.min(JSON_DEPTH_PARSED),
            elements_max: self.json_elements_max,
        }
    }
}
