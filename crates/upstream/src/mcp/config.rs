//! What a caller says about an MCP server.
//!
//! Include modes and approvals are the engine's; here is only how to reach a server and how much it may
//! take. Commands come from configuration, never from a request.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use secrecy::SecretString;

/// One MCP server.
#[derive(Debug, Clone)]
pub struct ServerConfig {
    /// Its name in this configuration; unique.
    pub name: String,
    /// How it is reached.
    pub transport: Transport,
    /// The longest time from starting it to its first answer.
    pub connect_timeout: Duration,
    /// How long a server may leave the newer era's first question unanswered before the older era is
    /// tried on the same connection. Some older servers on stdio answer nothing at all; one of the newer
    /// era that takes longer than this to start is spoken to in the older one, if it can. More than ten
    /// seconds count as ten.
    pub probe_timeout: Duration,
    /// The longest time a call may take.
    pub call_timeout: Duration,
    /// How long a listing waits for a server that is still connecting.
    pub list_timeout: Duration,
    /// How long a tool list is fresh when the server does not say less.
    pub tools_fresh_for: Duration,
    /// The longest answer of a tool, in bytes of text; more is cut.
    pub output_bytes_max: usize,
    /// The largest message a server may send, in bytes; more closes the connection.
    pub message_bytes_max: usize,
    /// The most tools a server may list; more are left out.
    pub tools_max: usize,
}

/// How a server is reached.
#[derive(Debug, Clone)]
pub enum Transport {
    /// A child process on its standard input and output.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Variables for it, besides the few that every child is given (`PATH`, `HOME`…).
        env: BTreeMap<String, SecretString>,
        /// The folder it starts in.
        cwd: Option<PathBuf>,
    },
    /// Streamable HTTP.
    Http {
        /// The endpoint.
        url: String,
        /// Headers for every request; never sent across a redirect.
        headers: BTreeMap<String, SecretString>,
    },
}

impl ServerConfig {
    /// A server with the default limits.
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
        }
    }

    /// A server as a child process with the default limits.
    pub fn stdio<A: Into<String>>(
        name: impl Into<String>,
        command: impl Into<String>,
        args: impl IntoIterator<Item = A>,
    ) -> Self {
        let args = args.into_iter().map(Into::into).collect();
        let (command, env, cwd) = (command.into(), BTreeMap::new(), None);
        Self::new(name, Transport::Stdio { command, args, env, cwd })
    }

    /// A server behind an address with the default limits.
    pub fn http(name: impl Into<String>, url: impl Into<String>) -> Self {
        Self::new(name, Transport::Http { url: url.into(), headers: BTreeMap::new() })
    }
}

/// A configuration that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidServers {
    /// Two servers share a name.
    #[error("there are two MCP servers named {0:?}")]
    SameName(String),
    /// A server has no name, or one that a tool's name cannot carry.
    #[error("the MCP server name {0:?} is not valid: use 1 to 40 of A-Z a-z 0-9 _ -")]
    Name(String),
    /// An address that is none.
    #[error("the address of the MCP server {name} is not valid: {reason}")]
    Address {
        /// The server.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// A header that HTTP does not allow. Its value is not shown.
    #[error("the header {header:?} of the MCP server {name} is not valid")]
    Header {
        /// The server.
        name: String,
        /// The header's name.
        header: String,
    },
}

/// The longest server name; a tool is shown to models as `server__tool` in 64 characters.
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
