//! The tools of an agent's servers, and whether each may run.
//!
//! Listing queries every server, so a turn does it once and passes the result on.

use std::sync::Arc;

use crate::agent::Agent;
use crate::error::Result;
use crate::pin::{PinState, Pins};
use crate::tool::{ToolDefinition, ToolListing, Tools};

/// A tool and whether it may run.
#[derive(Debug, Clone)]
pub struct KnownTool {
    pub definition: ToolDefinition,
    /// Whether it may run.
    pub pin: PinState,
}

/// Lists tools with the state of their pins.
pub struct ToolCatalog {
    tools: Arc<dyn Tools>,
    pins: Arc<Pins>,
}

impl ToolCatalog {
    pub fn new(tools: Arc<dyn Tools>, pins: Arc<Pins>) -> Self {
        Self { tools, pins }
    }

    /// The tools of an agent's servers.
    pub async fn of(&self, agent: &Agent) -> Result<Vec<KnownTool>> {
        Ok(self.with_unavailable(agent).await?.0)
    }

    /// The tools of an agent's servers, and its servers without tools, with the reason.
    pub async fn with_unavailable(
        &self,
        agent: &Agent,
    ) -> Result<(Vec<KnownTool>, Vec<(String, String)>)> {
        if agent.servers.is_empty() {
            return Ok((Vec::new(), Vec::new()));
        }
        let ToolListing { mut tools, mut unavailable } = self.tools.list().await;
        tools.retain(|definition| agent.tool_mode(&definition.tool).is_some());
        unavailable.retain(|(name, _)| agent.servers.iter().any(|server| server.server == *name));
        for server in &agent.servers {
            let named = |(name, _): &(String, String)| *name == server.server;
            let has = tools.iter().any(|definition| definition.tool.server == server.server);
            if !has && !unavailable.iter().any(named) {
                unavailable.push((server.server.clone(), "it offers no tools".into()));
            }
        }
        Ok((self.with_pins(tools).await?, unavailable))
    }

    /// All tools, and the servers that could not be listed, with the reason.
    pub async fn all(&self) -> Result<(Vec<KnownTool>, Vec<(String, String)>)> {
        let ToolListing { tools, unavailable } = self.tools.list().await;
        Ok((self.with_pins(tools).await?, unavailable))
    }

    async fn with_pins(&self, definitions: Vec<ToolDefinition>) -> Result<Vec<KnownTool>> {
        let states = self.pins.admit(&definitions).await?;
        let known = definitions.into_iter().zip(states);
        Ok(known.map(|(definition, pin)| KnownTool { definition, pin }).collect())
    }
}
