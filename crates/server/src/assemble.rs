//! Configuration becomes an engine: the store, the embedder, the tools, the models, the agents.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;
use throughline_engine::agent::AgentBook;
use throughline_engine::clock::Clock;
use throughline_engine::engine::{Engine, EngineSettings, ModelBook, Parts};
use throughline_engine::failure::{UpstreamError, UpstreamFault};
use throughline_engine::id::AgentName;
use throughline_engine::pack::PackSet;
use throughline_engine::store::Store;
use throughline_engine::tool::{ToolListing, ToolName, ToolOutput, Tools};
use throughline_store::{OpenOptions, StoreUrl};
use throughline_upstream::embed::{Cached, Embedded};
use tokio_util::sync::CancellationToken;

use crate::clock::SystemClock;
use crate::config::Config;
use crate::failure::Failure;

/// Vectors that are remembered, in bytes.
const VECTOR_BYTES_MAX: u64 = 32 << 20;

/// Opens the configured store.
pub async fn store(config: &Config) -> Result<Arc<dyn Store>, Failure> {
    let url: StoreUrl = config.store.url.parse()?;
    Ok(throughline_store::open(&url, &OpenOptions::default()).await?)
}

/// The clock of everything.
pub fn clock() -> Arc<dyn Clock> {
    Arc::new(SystemClock)
}

/// The engine over `store`.
pub async fn engine(config: &Config, store: Arc<dyn Store>) -> Result<Engine, Failure> {
    let name = AgentName::new("default").expect("a constant name is valid");
    let url: StoreUrl = config.store.url.parse()?;
    let index = throughline_store::index::open_index(&url, &OpenOptions::default()).await?;
    let parts = Parts {
        store,
        index: Some(index),
        tools: Arc::new(NoTools),
        models: ModelBook::default(),
        embedder: Arc::new(Cached::new(Arc::new(Embedded::load()), VECTOR_BYTES_MAX)),
        clock: clock(),
        agents: AgentBook::new(name, []),
        packs: PackSet::builtin(),
        limits: config.limits.clone(),
        settings: EngineSettings::default(),
    };
    Ok(Engine::start(parts).await?)
}

/// The tools of an installation with no MCP servers.
pub struct NoTools;

#[async_trait]
impl Tools for NoTools {
    async fn list(&self) -> ToolListing {
        ToolListing::default()
    }

    async fn call(
        &self,
        tool: &ToolName,
        _: &Value,
        _: CancellationToken,
    ) -> Result<ToolOutput, UpstreamError> {
        let message = "no MCP server of that name is configured";
        Err(UpstreamError::new(tool.to_string(), UpstreamFault::Unreachable, message))
    }
}
