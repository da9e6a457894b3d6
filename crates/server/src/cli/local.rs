//! The engine of this machine, opened for one command as the person at it.
//!
//! It opens what the server would open; `--tenant` and `--user` say for whom.

use std::sync::Arc;

use clap::Args;
use throughline_engine::access::{Caller, Grants};
use throughline_engine::engine::Engine;
use throughline_engine::id::{SessionId, TenantId, UserId};
use throughline_engine::store::Scope;
use throughline_upstream::mcp::McpProxy;

use super::serve::demo_server;
use crate::agents::demo;
use crate::assemble::{self, Demo};
use crate::config::Config;
use crate::failure::Failure;

/// Whose data is meant where nobody is named.
const LOCAL: &str = "local";

/// For whom a command works.
#[derive(Debug, Default, Args)]
pub struct Identity {
    /// The organisation whose data to use [default: local]. A server takes it from the key.
    #[arg(long, global = true)]
    tenant: Option<String>,
    /// The person or program whose data to use [default: local; on a server, the user of the key].
    #[arg(long, global = true)]
    user: Option<String>,
}

impl Identity {
    /// The caller that the engine of this machine is asked as.
    pub fn caller(&self) -> Result<Caller, Failure> {
        let tenant = TenantId::new(self.tenant.as_deref().unwrap_or(LOCAL)).map_err(invalid)?;
        let user = UserId::new(self.user.as_deref().unwrap_or(LOCAL)).map_err(invalid)?;
        Ok(Caller { scope: Scope { tenant, user }, grants: Grants::Admin })
    }

    /// The user that was named.
    pub fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }

    /// The user that was named, who is then not acted for.
    pub fn take_user(&mut self) -> Option<String> {
        self.user.take()
    }

    /// A server knows the organisation from the key.
    pub fn refuse_tenant(&self) -> Result<(), Failure> {
        match &self.tenant {
            None => Ok(()),
            Some(tenant) => Err(Failure::wrong_use(
                format!("--tenant {tenant} was given, but a server takes it from the key"),
                "leave --tenant out, or use a key of that tenant",
            )),
        }
    }
}

/// An engine that was opened for one command.
pub struct Local {
    /// The engine.
    pub engine: Arc<Engine>,
    /// MCP servers.
    pub servers: Arc<McpProxy>,
    /// Who is asking.
    pub caller: Caller,
}

impl Local {
    /// Opens the configured store and puts the engine over it, with or without the demo inventory and its agent.
    pub async fn with(mut config: Config, who: &Identity, demo: Demo) -> Result<Self, Failure> {
        let caller = who.caller()?;
        if demo == Demo::With {
            config.servers.insert(demo::SERVER.into(), demo_server()?);
        }
        let store = assemble::store(&config).await?;
        let assembled = assemble::engine(&config, store, demo).await?;
        Ok(Self { engine: assembled.engine, servers: assembled.servers, caller })
    }

    /// Ends what was started: MCP servers that run as our children.
    pub async fn close(self) {
        self.servers.shutdown().await;
    }
}

/// A session's id as it was typed.
pub fn session_id(text: &str) -> Result<SessionId, Failure> {
    SessionId::new(text).map_err(invalid)
}

/// A name that was typed wrongly.
pub fn invalid(error: throughline_engine::id::InvalidName) -> Failure {
    let error = throughline_engine::error::Error::from(error);
    Failure::wrong_use(error.to_string(), error.hint())
}
