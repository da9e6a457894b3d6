//! A command that works on the store as the person at this machine.
//!
//! It opens what the server would open and calls the same engine; `--tenant` and `--user` say for whom.

use std::sync::Arc;

use clap::Args;
use throughline_engine::access::{Caller, Grants};
use throughline_engine::engine::Engine;
use throughline_engine::id::{SessionId, TenantId, UserId};
use throughline_engine::store::Scope;
use throughline_upstream::mcp::McpProxy;

use super::Settings;
use super::serve::demo_server;
use crate::agents::demo;
use crate::assemble::{self, Demo, IfAbsent};
use crate::config::Config;
use crate::failure::Failure;

/// For whom a command works, and how it answers.
#[derive(Debug, Args)]
pub struct Who {
    /// The organisation whose data is meant.
    #[arg(long, global = true, default_value = "local")]
    tenant: String,
    /// The person or program whose data is meant.
    #[arg(long, global = true, default_value = "local")]
    user: String,
    /// Answer in JSON.
    #[arg(long, global = true)]
    pub json: bool,
}

impl Who {
    /// The caller that the engine is asked as.
    pub fn caller(&self) -> Result<Caller, Failure> {
        let tenant = TenantId::new(&self.tenant).map_err(invalid)?;
        let user = UserId::new(&self.user).map_err(invalid)?;
        Ok(Caller { scope: Scope { tenant, user }, grants: Grants::Admin })
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
    /// Opens the configured store, or does `then` where there is none, and puts the engine over it.
    pub async fn open(settings: &Settings, who: &Who, then: IfAbsent) -> Result<Self, Failure> {
        Self::with(settings.load_for(then)?, who, Demo::Without).await
    }

    /// The same, with or without the demo inventory and its agent.
    pub async fn with(mut config: Config, who: &Who, demo: Demo) -> Result<Self, Failure> {
        let caller = who.caller()?;
        if demo == Demo::With {
            config.servers.insert(demo::SERVER.into(), demo_server()?);
        }
        let store = assemble::store(&config).await?;
        let assembled = assemble::engine(&config, store, demo).await?;
        Ok(Self { engine: assembled.engine, servers: assembled.servers, caller })
    }

    /// Opens it, does `act` and ends it again.
    pub async fn during(
        settings: &Settings,
        who: &Who,
        demo: Demo,
        then: IfAbsent,
        act: impl AsyncFnOnce(&Self) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut config = settings.load_for(then)?;
        for server in config.servers.values_mut() {
            // Nothing else is done meanwhile, and a package may be fetched first.
            server.list_seconds = server.list_seconds.max(server.connect_seconds);
        }
        let local = Self::with(config, who, demo).await?;
        let done = act(&local).await;
        local.close().await;
        done
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
