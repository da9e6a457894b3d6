//! MCP servers: `[servers.NAME]` entries.

use std::collections::BTreeMap;
use std::time::Duration;

use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use throughline_engine::rule::{OperatorRules, Rule, ServerRules};
use throughline_upstream::mcp::{ServerConfig, Transport};

use super::{Config, Environment};
use crate::failure::Failure;

/// A `[servers.NAME]` entry.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServerEntry {
    /// Program of a child process.
    pub command: String,
    /// Arguments of the program.
    pub args: Vec<String>,
    /// Environment of the program; values may contain `${VARIABLE}`.
    pub env: BTreeMap<String, String>,
    /// Working directory of the program.
    pub cwd: String,
    /// URL, for Streamable HTTP.
    pub url: String,
    /// Headers of every request; values may contain `${VARIABLE}`.
    pub headers: BTreeMap<String, String>,
    /// Whether it is used.
    pub enabled: bool,
    /// Time to connect, in seconds.
    pub connect_seconds: u64,
    /// How long a listing waits for a server that is still connecting, in seconds.
    pub list_seconds: u64,
    /// Time limit of a call, in seconds.
    pub call_seconds: u64,
    /// Largest result of a tool, in bytes.
    pub output_bytes_max: usize,
    /// Whether to log what the program writes to standard error, at level `debug`.
    pub log_stderr: bool,
    /// Whether all its tools only read, whatever the server declares.
    pub reads_only: bool,
    /// Rules of single tools: `ask`, `allow`, `deny`, or `reads` for one that only reads.
    pub tools: BTreeMap<String, Rule>,
}

impl Default for ServerEntry {
    fn default() -> Self {
        Self {
            command: String::new(),
            args: Vec::new(),
            env: BTreeMap::new(),
            cwd: String::new(),
            url: String::new(),
            headers: BTreeMap::new(),
            enabled: true,
            connect_seconds: 30,
            list_seconds: 5,
            call_seconds: 60,
            output_bytes_max: 256 * 1024,
            log_stderr: false,
            reads_only: false,
            tools: BTreeMap::new(),
        }
    }
}

impl std::fmt::Debug for ServerEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerEntry").field("command", &self.command).finish_non_exhaustive()
    }
}

impl Config {
    /// The operator's rules for tools, by server.
    pub fn tool_rules(&self) -> OperatorRules {
        let rules = self.servers.iter().map(|(name, entry)| {
            let ServerEntry { reads_only, tools, .. } = entry;
            (name.clone(), ServerRules { reads_only: *reads_only, tools: tools.clone() })
        });
        rules.collect()
    }

    /// All enabled servers, by name.
    pub fn server_configs(&self) -> Result<Vec<ServerConfig>, Failure> {
        let enabled = self.servers.iter().filter(|(_, entry)| entry.enabled);
        enabled.map(|(name, entry)| server(name, entry, &self.environment)).collect()
    }
}

fn server(
    name: &str,
    entry: &ServerEntry,
    environment: &Environment,
) -> Result<ServerConfig, Failure> {
    let filled = |values: &BTreeMap<String, String>| -> Result<_, Failure> {
        let mut filled = BTreeMap::new();
        for (key, value) in values {
            filled.insert(key.clone(), SecretString::from(fill(name, key, value, environment)?));
        }
        Ok(filled)
    };
    let transport = if entry.url.is_empty() {
        Transport::Stdio {
            command: entry.command.clone(),
            args: entry.args.clone(),
            env: filled(&entry.env)?,
            cwd: Some(entry.cwd.clone()).filter(|cwd| !cwd.is_empty()).map(Into::into),
        }
    } else {
        Transport::Http { url: entry.url.clone(), headers: filled(&entry.headers)? }
    };
    Ok(ServerConfig {
        connect_timeout: Duration::from_secs(entry.connect_seconds),
        list_timeout: Duration::from_secs(entry.list_seconds),
        call_timeout: Duration::from_secs(entry.call_seconds),
        output_bytes_max: entry.output_bytes_max,
        log_stderr: entry.log_stderr,
        ..ServerConfig::new(name, transport)
    })
}

/// Replaces `${VARIABLE}` in a value.
fn fill(
    server: &str,
    key: &str,
    value: &str,
    environment: &Environment,
) -> Result<String, Failure> {
    let mut text = String::new();
    let mut rest = value;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((name, after)) = after.split_once('}') else { break };
        let found = environment.get(name).ok_or_else(|| {
            Failure::new(
                format!("servers.{server}: {key} needs the variable {name}, which is not set"),
                "set it, or disable the server with enabled = false",
            )
        })?;
        text.push_str(before);
        text.push_str(found);
        rest = after;
    }
    text.push_str(rest);
    Ok(text)
}

/// Checks that each server has either a command or a URL.
pub(super) fn check(servers: &BTreeMap<String, ServerEntry>) -> Result<(), Failure> {
    for (name, entry) in servers {
        if entry.command.is_empty() == entry.url.is_empty() {
            return Err(Failure::wrong_use(
                format!("servers.{name} needs either a command or a url"),
                "a command starts a child process, a url is Streamable HTTP",
            ));
        }
    }
    Ok(())
}
