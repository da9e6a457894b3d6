//! Builds an engine from the configuration: store, embedder, tools, models, agents.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use throughline_engine::agent::{Agent, AgentServer};
use throughline_engine::embed::Embedder;
use throughline_engine::engine::{Engine, EngineSettings, Parts};
use throughline_engine::failure::{UpstreamError, UpstreamFault};
use throughline_engine::lexicon;
use throughline_engine::models::ModelBook;
use throughline_engine::pack::PackSet;
use throughline_engine::store::Store;
use throughline_store::redis::RedisOptions;
use throughline_store::{OpenOptions, StoreUrl, disk};
use throughline_upstream::embed::{Cached, Embedded, OpenAiEmbedder, OpenAiEmbedderSettings};
use throughline_upstream::mcp::McpProxy;
use throughline_upstream::model;

use crate::agents::watch::{self, Fixed};
use crate::agents::{AgentFolder, demo};
use crate::backup::erasures::ErasureLog;
use crate::backup::kept::KeptCopies;
use crate::backup::watched::ErasureLoggingStore;
use crate::backup::{self, restore, unfinished};
use crate::clock;
use crate::config::{Config, EmbedderKind, LexiconSettings, PacksSettings};
use crate::failure::Failure;

/// Maximum number of pack files to read.
const TOML_FILES_MAX: usize = 64;

/// An engine and its companions.
pub struct Assembled {
    pub engine: Arc<Engine>,
    /// MCP servers.
    pub servers: Arc<McpProxy>,
    /// The folder of agents, after its first reading.
    pub folder: AgentFolder,
    /// Agents besides those in the folder.
    pub fixed: Fixed,
}

/// URL and options of the store.
pub fn store_options(config: &Config) -> Result<(StoreUrl, OpenOptions), Failure> {
    if config.store.url.is_empty() {
        let what = "there is no data folder: neither XDG_DATA_HOME nor HOME is set";
        return Err(Failure::wrong_use(
            what,
            "name a store with --store or THROUGHLINE_STORE__URL",
        ));
    }
    let url = config.store.url.parse()?;
    let index = Some(config.store.index.as_str()).filter(|path| !path.is_empty());
    let mut options = OpenOptions {
        index_path: index.map(Into::into),
        search_time_max: Duration::from_secs(config.store.search_seconds_max),
        ..OpenOptions::default()
    };
    options.variables.0 = config.environment.pairs();
    options.create = config.store.create;
    options.traces = backup::traces(&config.backups.folder);
    #[cfg(feature = "sabotage")]
    {
        options.sabotage = crate::sabotage::chosen(&config.environment)?;
    }
    Ok((url, options))
}

/// What a command does if its store does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IfAbsent {
    /// Creates it: the command writes.
    Create,
    /// Fails: there is nothing to read or change.
    Refuse,
    /// Continues with an empty store in memory: the command also shows other data.
    Pretend,
}

/// Applies `then` if the configured store does not exist.
pub fn if_absent(config: &mut Config, then: IfAbsent) -> Result<(), Failure> {
    config.store.create = then == IfAbsent::Create;
    let (url, _) = store_options(config)?;
    match then {
        IfAbsent::Refuse if !throughline_store::exists(&url)? => Err(Failure::no_store(&url)),
        IfAbsent::Pretend if !throughline_store::exists(&url)? => {
            config.store.url = StoreUrl::Memory.to_string();
            Ok(())
        }
        IfAbsent::Create | IfAbsent::Refuse | IfAbsent::Pretend => Ok(()),
    }
}

/// Opens the configured store. Erasures are logged beside the backups and applied to kept copies.
pub async fn store(config: &Config) -> Result<Arc<dyn Store>, Failure> {
    Ok(store_and_copies(config).await?.0)
}

/// Opens the store, and returns the kept copies too.
pub async fn store_and_copies(
    config: &Config,
) -> Result<(Arc<dyn Store>, Arc<KeptCopies>), Failure> {
    let (url, options) = store_options(config)?;
    let store = throughline_store::open(&url, &options).await?;
    if let Some(filling) = unfinished::find(&url, store.as_ref()).await? {
        restore::resume(&url, &options, store.as_ref(), &filling).await?;
    }
    refuse_emptied(&url, &options, store.as_ref()).await?;
    let folder = &config.backups.folder;
    let kept = Arc::new(KeptCopies::new(url.clone(), folder));
    if url == StoreUrl::Memory {
        return Ok((store, kept));
    }
    let watched = ErasureLoggingStore::new(store, ErasureLog::new(folder), kept.clone());
    Ok((Arc::new(watched), kept))
}

/// Rejects a store that is completely empty although backups of it exist. In Redis everything may have expired.
async fn refuse_emptied(
    url: &StoreUrl,
    options: &OpenOptions,
    store: &dyn Store,
) -> Result<(), Failure> {
    let Some(trace) = options.traces.first().filter(|_| !matches!(url, StoreUrl::Redis(_))) else {
        return Ok(());
    };
    if !store.scan(None, 1).await?.is_empty() {
        return Ok(());
    }
    let trace = trace.display();
    Err(Failure::new(
        format!("{url} is empty, but {trace} shows that it was not before"),
        format!("restore it with throughline restore; to start anew, move {trace} away"),
    ))
}

/// Fails if erasures could not be logged later: the backup folder must be writable.
pub fn can_note_erasures(config: &Config) -> Result<(), Failure> {
    let (url, _) = store_options(config)?;
    if url == StoreUrl::Memory {
        return Ok(());
    }
    let log = ErasureLog::new(&config.backups.folder);
    let prepared = match log.prepare() {
        // What is stored can be read all the same, and erasures have their own room.
        Err(error) if disk::is_full(&error) => {
            let log = log.path().display().to_string();
            tracing::error!(%log, "the disk is full: nothing can be written until there is room");
            Ok(())
        }
        prepared => prepared,
    };
    let read = prepared.and_then(|()| log.read()).map_err(|error| {
        let what = format!("cannot log erasures in {}: {error}", log.path().display());
        Failure::new(what, "set backups.folder to a writable folder")
    })?;
    for line in read.damaged {
        tracing::warn!(
            log = %log.path().display(), line,
            "a record of the erasure log is damaged; a restore could bring back what it erased"
        );
    }
    tracing::debug!(erasures = read.erasures.len(), "erasure log read");
    Ok(())
}

/// Whether to include the demo agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Demo {
    /// Yes, as the default agent.
    With,
    /// No.
    Without,
}

impl Demo {
    /// From a command-line flag.
    pub fn by(flag: bool) -> Self {
        if flag { Self::With } else { Self::Without }
    }
}

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
    install_languages(&config.lexicon);
    let (url, options) = store_options(config)?;
    let parts = Parts {
        store,
        shared: throughline_store::open_shared(&url).await?,
        index: Some(throughline_store::index::open_index(&url, &options).await?),
        tools: servers.clone(),
        models: models(config)?,
        embedder: embedder(config).await?,
        clock: clock::system(),
        agents,
        packs: packs(&config.packs),
        rules: config.tool_rules(),
        limits: config.limits.clone(),
        settings: EngineSettings {
            cache_bytes: config.cache.sessions_bytes,
            cache_age: Duration::from_secs(config.cache.seconds),
            recall_bytes: config.cache.recall_bytes,
            enrichment_bytes: config.cache.enrichment_bytes,
            enrichment_age: Duration::from_secs(config.cache.enrichment_seconds),
            look_up_age: Duration::from_secs(config.cache.look_up_seconds),
            pin_policy: config.tools.pin,
            session_ttl: session_ttl(config, &url)?,
        },
    };
    let engine = Arc::new(Engine::start(parts).await?);
    Ok(Assembled { engine, servers, folder, fixed })
}

/// Lifetime of sessions: as configured, else from the URL of a Redis store.
fn session_ttl(config: &Config, url: &StoreUrl) -> Result<Option<Duration>, Failure> {
    match (config.store.session_ttl, url) {
        (0, StoreUrl::Redis(url)) => Ok(RedisOptions::from_url(url)?.session_ttl),
        (0, _) => Ok(None),
        (seconds, _) => Ok(Some(Duration::from_secs(seconds))),
    }
}

/// The default agent if there is no folder of that name: it uses every configured server.
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
            let failure = |error: UpstreamError| {
                Failure::new(error.to_string(), "see [embedder] in the configuration")
            };
            let embedder = OpenAiEmbedder::new(settings).map_err(failure)?;
            match embedder.probe().await {
                Ok(()) => {}
                // It answers, but it is no embedder.
                Err(error) if error.fault == UpstreamFault::Malformed => {
                    return Err(failure(error));
                }
                Err(error) => {
                    tracing::error!(%error, "the embedder does not work; until it does, search and recall go by words alone")
                }
            }
            Arc::new(embedder)
        }
    };
    Ok(Arc::new(Cached::new(inner, config.cache.vectors_bytes)))
}

/// The TOML files of a folder; unreadable ones are logged and ignored.
pub fn toml_files(folder: &Path) -> Vec<(String, String)> {
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .map(|found| found.filter_map(|entry| Some(entry.ok()?.path())).collect())
        .unwrap_or_default();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "toml"));
    paths.sort();
    paths.truncate(TOML_FILES_MAX);
    let mut files = Vec::new();
    for path in paths {
        match std::fs::read_to_string(&path) {
            Ok(text) => files.push((path.display().to_string(), text)),
            Err(error) => tracing::warn!(file = %path.display(), %error, "a file is ignored"),
        }
    }
    files
}

/// Installs the languages of the folder beside the built-in ones; invalid ones are logged and ignored.
fn install_languages(settings: &LexiconSettings) {
    for problem in lexicon::install(&toml_files(&settings.folder)) {
        tracing::warn!(lexicon.problem = %problem, "a language is ignored");
    }
}

/// The built-in packs and those of the folder; invalid ones are logged and ignored.
fn packs(settings: &PacksSettings) -> PackSet {
    let (packs, problems) = PackSet::load(toml_files(&settings.folder));
    for problem in problems {
        tracing::warn!(pack.problem = %problem, "a pack is ignored");
    }
    packs
}
