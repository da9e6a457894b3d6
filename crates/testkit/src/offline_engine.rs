//! An engine without a model and without meanings, whose tools a test brings.

use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;
use serde_json::Value;
use throughline_engine::agent::{Agent, AgentBook, AgentServer};
use throughline_engine::embed::{Embedder, Vector};
use throughline_engine::engine::{Engine, EngineSettings, Parts};
use throughline_engine::failure::UpstreamError;
use throughline_engine::id::AgentName;
use throughline_engine::limits::Limits;
use throughline_engine::models::ModelBook;
use throughline_engine::pack::PackSet;
use throughline_engine::rule::OperatorRules;
use throughline_engine::store::Store;
use throughline_engine::tool::{ToolDefinition, ToolEffects, ToolName, Tools};

use crate::fixed_clock::FixedClock;

/// Starts an engine whose only agent has the servers that the rules name.
pub async fn start(store: Arc<dyn Store>, tools: Arc<dyn Tools>, rules: OperatorRules) -> Engine {
    let name = AgentName::new("default").expect("the name is valid");
    let mut agent = Agent::plain(name.clone());
    let servers = rules.keys().cloned();
    agent.servers =
        servers.map(|server| AgentServer { server, include: None, tools: [].into() }).collect();
    let parts = Parts {
        store,
        shared: None,
        index: None,
        tools,
        models: ModelBook::default(),
        embedder: Arc::new(NoEmbedder),
        clock: Arc::new(FixedClock::at(Timestamp::UNIX_EPOCH)),
        agents: AgentBook::new(name, [agent]),
        packs: PackSet::builtin(),
        rules,
        limits: Limits::default(),
        settings: EngineSettings::default(),
    };
    Engine::start(parts).await.expect("the engine starts")
}

/// A tool as a server lists it.
pub fn definition(server: &str, tool: &Value) -> ToolDefinition {
    let text = |key: &str| tool[key].as_str().unwrap_or_default().to_owned();
    let hint = |key: &str| tool["annotations"][key].as_bool();
    ToolDefinition {
        tool: ToolName { server: server.to_owned(), name: text("name") },
        title: tool["title"].as_str().map(str::to_owned),
        description: text("description"),
        input_schema: tool["inputSchema"].clone(),
        output_schema: None,
        effects: ToolEffects {
            read_only: hint("readOnlyHint"),
            destructive: hint("destructiveHint"),
            idempotent: hint("idempotentHint"),
            open_world: hint("openWorldHint"),
        },
    }
}

/// Nothing is found by meaning.
struct NoEmbedder;

#[async_trait]
impl Embedder for NoEmbedder {
    fn name(&self) -> &str {
        "none"
    }

    fn dimensions(&self) -> usize {
        1
    }

    async fn embed(&self, texts: &[&str]) -> Result<Vec<Vector>, UpstreamError> {
        Ok(texts.iter().map(|_| vec![0.0]).collect())
    }
}
