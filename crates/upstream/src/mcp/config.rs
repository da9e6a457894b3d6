//! Settings of an MCP server.
//!
//! Only how to reach a server, and its limits; include modes and approvals belong to the engine. Commands come from
//! configuration, never from a request.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use secrecy::SecretString;

#[derive(Debug, Clone)]
pub struct ServerConfig {
    /// Unique name.
    pub name: String,
    pub transport: Transport,
    /// Timeout from starting the server to its first response.
    pub connect_timeout: Duration,
    /// How long to wait for the reply to the first request of the current protocol before falling back to the
    /// legacy handshake on the same connection. Some legacy stdio servers do not reply at all; a current server that
    /// starts more slowly is used with the legacy protocol, if it supports it. Capped at ten seconds.
    pub probe_timeout: Duration,
    /// Timeout of a tool call.
    pub call_timeout: Duration,
    /// How long a listing waits for a server that is still connecting.
    pub list_timeout: Duration,
    /// How long a tool list stays fresh, unless the server states a shorter time.
    pub tools_fresh_for: Duration,
    /// Maximum size of a tool's text output; longer output is cut.
    pub output_bytes_max: usize,
    /// Maximum size of a message from the server; a larger one closes the connection.
    pub message_bytes_max: usize,
    /// Maximum number of tools per server; the rest is ignored.
    pub tools_max: usize,
    /// Whether to log what a child process writes to standard error, which may hold arguments and results.
    pub log_stderr: bool,
}

/// How a server is reached.
#[derive(Debug, Clone)]
pub enum Transport {
    /// A child process, over standard input and output.
    Stdio {
        command: String,
        args: Vec<String>,
        /// Environment variables, besides the few that every child inherits (`PATH`, `HOME`…).
        env: BTreeMap<String, SecretString>,
        /// The working directory.
        cwd: Option<PathBuf>,
    },
    /// Streamable HTTP.
    Http {
        url: String,
        /// Headers of every request; never sent across a redirect.
        headers: BTreeMap<String, SecretString>,
    },
}

impl ServerConfig {
    /// A server with default limits.
    pub fn new(name: impl Into<String>, transport: Transport) -> Self {
        Self {
            name: name.into(),
            transport,
            connect_timeout: Duration::from_secs(30),
            probe_timeout: Duration::from_secs(5),
            call_timeout: Duration::from_secs(60),
            list_timeout: Duration::from_secs(5),
            tools_fresh_for: Duration::from_secs(300),
            output_bytes_max: 256 * 1024,
            message_bytes_max: 16 * 1024 * 1024,
            tools_max: 1_000,
            log_stderr: false,
        }
    }

    /// A child process with default limits.
    pub fn stdio<A: Into<String>>(
        name: impl Into<String>,
        command: impl Into<String>,
        args: impl IntoIterator<Item = A>,
    ) -> Self {
        let args = args.into_iter().map(Into::into).collect();
        let (command, env, cwd) = (command.into(), BTreeMap::new(), None);
        Self::new(name, Transport::Stdio { command, args, env, cwd })
    }

    /// A server at a URL with default limits.
    pub fn http(name: impl Into<String>, url: impl Into<String>) -> Self {
        Self::new(name, Transport::Http { url: url.into(), headers: BTreeMap::new() })
    }
}

/// An invalid configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidServers {
    /// Two servers share a name.
    #[error("there are two MCP servers named {0:?}")]
    SameName(String),
    /// An empty name, or one that cannot be part of a tool name.
    #[error("the MCP server name {0:?} is not valid: use 1 to 40 of A-Z a-z 0-9 _ -")]
    Name(String),
    /// An invalid URL.
    #[error("the address of the MCP server {name} is not valid: {reason}")]
    Address { name: String, reason: String },
    /// An invalid header. Its value is not shown.
    #[error("the header {header:?} of the MCP server {name} is not valid")]
    Header { name: String, header: String },
}

/// Maximum length of a server name; models see a tool as `server__tool`, in at most 64 characters.
const NAME_CHARACTERS_MAX: usize = 40;

pub(super) fn check(configs: &[ServerConfig]) -> Result<(), InvalidServers> {
    for (place, config) in configs.iter().enumerate() {
        let name = &config.name;
        let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
        if name.is_empty() || name.len() > NAME_CHARACTERS_MAX || !name.bytes().all(plain) {
            return Err(InvalidServers::Name(name.clone()));
        }
        if configs[..place].iter().any(|other| other.name == *name) {
            return Err(InvalidServers::SameName(name.clone()));
        }
        if let Transport::Http { url, headers } = &config.transport {
            super::http::check_address(url)
                .map_err(|reason| InvalidServers::Address { name: name.clone(), reason })?;
            super::http::header_map(headers)
                .map_err(|header| InvalidServers::Header { name: name.clone(), header })?;
        }
    }
    Ok(())
}
