//! Configuration becomes an engine: the store, the embedder, the tools, the models, the agents.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use throughline_engine::agent::{Agent, AgentServer};
use throughline_engine::clock::Clock;
use throughline_engine::embed::Embedder;
use throughline_engine::engine::{Engine, EngineSettings, Parts};
use throughline_engine::models::ModelBook;
use throughline_engine::pack::PackSet;
use throughline_engine::store::Store;
use throughline_store::{OpenOptions, StoreUrl};
use throughline_upstream::embed::{Cached, Embedded, OpenAiEmbedder, OpenAiEmbedderSettings};
use throughline_upstream::mcp::McpProxy;
use throughline_upstream::model;

use crate::agents::watch::{self, Fixed};
use crate::agents::{AgentFolder, demo};
use crate::backup::erasures::ErasureLog;
use crate::backup::watched::Watched;
use crate::clock::SystemClock;
use crate::config::{Config, EmbedderKind, PacksSettings};
use crate::failure::Failure;

/// The most pack files that are read.
const PACK_FILES_MAX: usize = 64;

/// An engine and what runs beside it.
pub struct Assembled {
    /// The engine.
    pub engine: Arc<Engine>,
    /// MCP servers.
    pub servers: Arc<McpProxy>,
    /// The agents' folder, as read for the first time.
    pub folder: AgentFolder,
    /// Agents beside those of the folder.
    pub fixed: Fixed,
}

/// The clock of everything.
pub fn clock() -> Arc<dyn Clock> {
    Arc::new(SystemClock)
}

/// The store's URL and how to open it.
pub fn store_options(config: &Config) -> Result<(StoreUrl, OpenOptions), Failure> {
    let url = config.store.url.parse()?;
    let index = Some(config.store.index.as_str()).filter(|path| !path.is_empty());
    let mut options = OpenOptions {
        index_path: index.map(Into::into),
        search_time_max: Duration::from_secs(config.store.search_seconds_max.max(1)),
        ..OpenOptions::default()
    };
    options.variables.0 = config.environment.pairs();
    #[cfg(feature = "sabotage")]
    {
        options.sabotage = crate::sabotage::chosen(&config.environment)?;
    }
    Ok((url, options))
}

/// Refuses a local store that is not there, where making an empty one would mislead.
pub fn must_exist(url: &StoreUrl) -> Result<(), Failure> {
    let (StoreUrl::Sqlite(path) | StoreUrl::Files(path)) = url else { return Ok(()) };
    if path.exists() {
        return Ok(());
    }
    Err(Failure::new(format!("there is no store {url}"), "check the path"))
}

/// Opens the configured store. Its erasures are noted beside the backups.
pub async fn store(config: &Config) -> Result<Arc<dyn Store>, Failure> {
    let (url, options) = store_options(config)?;
    let store = throughline_store::open(&url, &options).await?;
    if url == StoreUrl::Memory {
        return Ok(store);
    }
    Ok(Arc::new(Watched::new(store, ErasureLog::new(&config.backups.folder))))
}

/// Refuses to serve where erasing would fail later: a folder for backups that cannot be written to.
pub fn can_note_erasures(config: &Config) -> Result<(), Failure> {
    let (url, _) = store_options(config)?;
    if url == StoreUrl::Memory {
        return Ok(());
    }
    let log = ErasureLog::new(&config.backups.folder);
    log.prepare().map_err(|error| {
        let what = format!("erasures cannot be noted in {}: {error}", log.path().display());
        Failure::new(what, "name a folder that can be written to in backups.folder")
    })
}

/// Whether the demo's agent is part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Demo {
    /// Yes, and it is the default agent.
    With,
    /// No.
    Without,
}

impl Demo {
    /// By a flag of the command line.
    pub fn by(flag: bool) -> Self {
        if flag { Self::With } else { Self::Without }
    }
}

/// The engine over `store`.
pub async fn engine(
    config: &Config,
    store: Arc<dyn Store>,
    demo: Demo,
) -> Result<Assembled, Failure> {
    let agent = match demo {
        Demo::With => demo::agent(),
        Demo::Without => everything(config),
    };
    let fixed = Fixed { default: agent.name.clone(), agents: vec![agent] };
    let mut folder = AgentFolder::new(&config.agents.folder);
    let (agents, _) = watch::look(&mut folder, &fixed);
    let servers = McpProxy::new(config.server_configs()?).map_err(|error| {
        Failure::wrong_use(error.to_string(), "correct it under [servers] in the configuration")
    })?;
    let servers = Arc::new(servers);
    let (url, options) = store_options(config)?;
    let parts = Parts {
        store,
        shared: throughline_store::open_shared(&url).await?,
        index: Some(throughline_store::index::open_index(&url, &options).await?),
        tools: servers.clone(),
        models: models(config)?,
        embedder: embedder(config).await?,
        clock: clock(),
        agents,
        packs: packs(&config.packs),
        rules: config.tool_rules(),
        limits: config.limits.clone(),
        settings: EngineSettings {
            cache_bytes: config.cache.sessions_bytes,
            cache_age: Duration::from_secs(config.cache.seconds),
            enrichment_bytes: config.cache.enrichment_bytes,
            enrichment_age: Duration::from_secs(config.cache.enrichment_seconds),
            look_up_age: Duration::from_secs(config.cache.look_up_seconds),
            pin_policy: config.tools.pin,
        },
    };
    let engine = Arc::new(Engine::start(parts).await?);
    Ok(Assembled { engine, servers, folder, fixed })
}

/// The default agent for want of a folder of that name: whoever configures a server wants to use it.
fn everything(config: &Config) -> Agent {
    let enabled = config.servers.iter().filter(|(_, server)| server.enabled);
    let servers: Vec<AgentServer> = enabled
        .map(|(name, _)| AgentServer {
            server: name.clone(),
            include: None,
            tools: BTreeMap::new(),
        })
        .collect();
    let plain = Agent::plain(config.agents.default.clone());
    if servers.is_empty() {
        return plain;
    }
    Agent { description: "Every configured server, without rules.".into(), servers, ..plain }
}

/// The configured models.
pub fn models(config: &Config) -> Result<ModelBook, Failure> {
    let (configs, default) = config.model_configs()?;
    let mut models = Vec::new();
    for (name, model_config) in configs {
        let model = model::connect(model_config).map_err(|error| {
            Failure::new(error.to_string(), "see the [[model]] of that name in the configuration")
        })?;
        models.push((name, model));
    }
    Ok(ModelBook::new(models, default))
}

async fn embedder(config: &Config) -> Result<Arc<dyn Embedder>, Failure> {
    let settings = &config.embedder;
    let inner: Arc<dyn Embedder> = match settings.kind {
        EmbedderKind::Embedded => Arc::new(Embedded::load()),
        EmbedderKind::OpenAi => {
            let key = config.environment.secret(&settings.api_key_env);
            let settings = OpenAiEmbedderSettings {
                base_url: settings.base_url.clone(),
                model: settings.model.clone(),
                key,
                timeout: Duration::from_secs(settings.seconds_max),
            };
            let connected = OpenAiEmbedder::connect(settings).await.map_err(|error| {
                Failure::new(error.to_string(), "see [embedder] in the configuration")
            })?;
            Arc::new(connected)
        }
    };
    Ok(Arc::new(Cached::new(inner, config.cache.vectors_bytes)))
}

/// The shipped packs and those of the folder; a wrong one is named in the log and left out.
fn packs(settings: &PacksSettings) -> PackSet {
    let mut files = Vec::new();
    let mut paths: Vec<_> = std::fs::read_dir(&settings.folder)
        .map(|found| found.filter_map(|entry| Some(entry.ok()?.path())).collect())
        .unwrap_or_default();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "toml"));
    paths.sort();
    paths.truncate(PACK_FILES_MAX);
    for path in paths {
        match std::fs::read_to_string(&path) {
            Ok(text) => files.push((path.display().to_string(), text)),
            Err(error) => tracing::warn!(pack.file = %path.display(), %error, "a pack is left out"),
        }
    }
    let (packs, problems) = PackSet::load(files);
    for problem in problems {
        tracing::warn!(pack.problem = %problem, "a pack is left out");
    }
    packs
}
