//! An engine opened for one command on this machine.
//!
//! It opens what the server would open; `--tenant` and `--user` select whose data.

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

/// Default tenant and user.
const LOCAL: &str = "local";

/// Whose data a command uses.
#[derive(Debug, Default, Args)]
pub(super) struct Identity {
    /// The organisation whose data to use [default: local]. A server takes it from the key.
    #[arg(long, global = true)]
    tenant: Option<String>,
    /// The person or program whose data to use [default: local; on a server, the user of the key].
    #[arg(long, global = true)]
    user: Option<String>,
}

impl Identity {
    /// The caller for an engine of this machine.
    pub(super) fn caller(&self) -> Result<Caller, Failure> {
        let tenant = TenantId::new(self.tenant.as_deref().unwrap_or(LOCAL)).map_err(invalid)?;
        let user = UserId::new(self.user.as_deref().unwrap_or(LOCAL)).map_err(invalid)?;
        Ok(Caller { scope: Scope { tenant, user }, grants: Grants::Admin })
    }

    /// The named user.
    pub(super) fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }

    /// Takes the named user, so that the command does not act for them.
    pub(super) fn take_user(&mut self) -> Option<String> {
        self.user.take()
    }

    /// Rejects `--tenant`: a server takes it from the key.
    pub(super) fn refuse_tenant(&self) -> Result<(), Failure> {
        match &self.tenant {
            None => Ok(()),
            Some(tenant) => Err(Failure::wrong_use(
                format!("--tenant {tenant} was given, but a server takes it from the key"),
                "omit --tenant, or use a key of that tenant",
            )),
        }
    }
}

/// An engine opened for one command.
pub(super) struct Local {
    pub engine: Arc<Engine>,
    /// MCP servers.
    pub servers: Arc<McpProxy>,
    pub caller: Caller,
}

impl Local {
    /// Opens the configured store and an engine, with or without the demo.
    pub(super) async fn with(
        mut config: Config,
        who: &Identity,
        demo: Demo,
    ) -> Result<Self, Failure> {
        let caller = who.caller()?;
        if demo == Demo::With {
            config.servers.insert(demo::SERVER.into(), demo_server()?);
        }
        let store = assemble::store(&config).await?;
        let assembled = assemble::engine(&config, store, demo).await?;
        Ok(Self { engine: assembled.engine, servers: assembled.servers, caller })
    }

    /// Stops the MCP servers that were started.
    pub(super) async fn close(self) {
        self.servers.shutdown().await;
    }
}

/// Parses a session id.
pub(super) fn session_id(text: &str) -> Result<SessionId, Failure> {
    SessionId::new(text).map_err(invalid)
}

/// The failure for an invalid name.
pub(super) fn invalid(error: throughline_engine::id::InvalidName) -> Failure {
    let error = throughline_engine::error::Error::from(error);
    Failure::wrong_use(error.to_string(), error.hint())
}
