//! The MCP proxy: many servers behind the engine's [`Tools`].
//!
//! Connects on first use, in the background, and supports both the current and the legacy protocol. Failures are
//! isolated: an unavailable server is named in the listing and never fails it. The engine decides whether a call may
//! be made; include modes, pins and approvals are not known here.
//!
//! Invariant: `rmcp` is used only in this module and does not show in its public interface.
//!
//! # Layout
//!
//! - [`config`]: settings of a server.
//! - [`server`]: one server: connecting with back-off, its cached tools, its calls.
//! - [`connection`]: one open connection. [`probe`], [`child`], [`http`], [`bounded`], [`handler`]: its parts.
//! - [`convert`], [`fault`]: conversion to the engine's types.

mod bounded;
mod child;
pub mod config;
mod connection;
mod convert;
mod fault;
mod handler;
mod http;
mod probe;
mod raw;
mod server;

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;
use throughline_engine::failure::{UpstreamError, UpstreamFault};
use throughline_engine::tool::{ToolListing, ToolName, ToolOutput, Tools};
use tokio_util::sync::CancellationToken;

pub use config::{InvalidServers, ServerConfig, Transport};
pub use server::{ServerState, ServerStatus};

use server::Server;

pub struct McpProxy {
    servers: Vec<Arc<Server>>,
}

impl McpProxy {
    /// Checks the configuration; does not connect yet.
    pub fn new(configs: Vec<ServerConfig>) -> Result<Self, InvalidServers> {
        config::check(&configs)?;
        Ok(Self {
            servers: configs.into_iter().map(|config| Arc::new(Server::new(config))).collect(),
        })
    }

    /// Starts connecting to every server without waiting, so that the first turn need not. Must be called within a
    /// Tokio runtime.
    pub fn connect_in_background(&self) {
        for server in &self.servers {
            server.refresh_in_background();
        }
    }

    /// The status of each server in configured order, without contacting them.
    pub async fn status(&self) -> Vec<ServerStatus> {
        futures::future::join_all(self.servers.iter().map(|server| server.status())).await
    }

    /// Closes every connection and ends every child process. Later calls fail.
    pub async fn shutdown(&self) {
        futures::future::join_all(self.servers.iter().map(|server| server.shutdown())).await;
    }
}

#[async_trait]
impl Tools for McpProxy {
    async fn list(&self) -> ToolListing {
        let answers = self.servers.iter().map(|server| server.tools());
        let answers = futures::future::join_all(answers).await;
        let mut listing = ToolListing::default();
        for (server, answer) in self.servers.iter().zip(answers) {
            match answer {
                Ok(tools) => listing.tools.extend(tools.iter().cloned()),
                Err(error) => listing.unavailable.push((server.name().to_owned(), error.message)),
            }
        }
        listing
    }

    async fn call(
        &self,
        tool: &ToolName,
        arguments: &Value,
        cancel: CancellationToken,
    ) -> Result<ToolOutput, UpstreamError> {
        let target = || format!("tool {tool}");
        let server = self.servers.iter().find(|server| server.name() == tool.server);
        let server = server.ok_or_else(|| {
            let message = format!("the configuration has no server {:?}", tool.server);
            UpstreamError::new(target(), UpstreamFault::Rejected, message)
        })?;
        let mut outcome = tokio::select! {
            biased;
            () = cancel.cancelled() => {
                Err(UpstreamError::new(target(), UpstreamFault::Cancelled, "the call was cancelled"))
            }
            outcome = server.call(&tool.name, arguments) => outcome,
        };
        if let Err(error) = &mut outcome {
            error.target = target();
        }
        outcome
    }
}
