//! Where the server listens, and how much it takes.

use std::net::SocketAddr;

use serde::Deserialize;

use crate::json_limits::ShapeLimits;

/// The deepest JSON that the parser itself takes.
const JSON_DEPTH_PARSED: usize = 127;

/// The section `server`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerSettings {
    /// Address and port.
    pub bind: SocketAddr,
    /// Host names beside the loopback ones.
    pub hosts: Vec<String>,
    /// The largest body, in bytes.
    pub body_bytes_max: usize,
    /// The largest body of a model client's request, in bytes.
    pub client_body_bytes_max: usize,
    /// Bytes of the bodies of all requests under way.
    pub bodies_bytes_max: usize,
    /// Time for a body to arrive, in seconds.
    pub body_seconds_max: u64,
    /// What a larger body must bring in every further second, in bytes.
    pub body_bytes_per_second_min: u64,
    /// Time for a request's head, from the moment that the connection is free for one, in seconds.
    pub head_seconds_max: u64,
    /// How long a client may leave a response unread, in seconds.
    pub unread_seconds_max: u64,
    /// Connections that are open at once.
    pub connections_max: usize,
    /// Connections that are open at once from one address.
    pub connections_per_address_max: usize,
    /// The deepest JSON.
    pub json_depth_max: usize,
    /// Values in one JSON body.
    pub json_elements_max: usize,
    /// Time for one request that makes no turn, in seconds.
    pub request_seconds_max: u64,
    /// Time for the store to answer a health check, in seconds.
    pub health_seconds_max: u64,
    /// Requests served at once.
    pub requests_at_once_max: usize,
    /// Time to finish when stopping, in seconds.
    pub shutdown_seconds_max: u64,
    /// Whether MCP clients of the older era keep a session with this process.
    pub mcp_sessions: bool,
}

impl ServerSettings {
    /// How deep and how large JSON may be.
    pub fn shape(&self) -> ShapeLimits {
        ShapeLimits {
            depth_max: self.json_depth_max.min(JSON_DEPTH_PARSED),
            elements_max: self.json_elements_max,
        }
    }
}
