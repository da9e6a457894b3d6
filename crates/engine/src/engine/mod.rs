//! The facade that every transport calls.
//!
//! An [`Engine`] holds the services built from the ports (store, models, tools, embedder, clock) and calls
//! [`crate::access::authorize`] before it passes a call on. Its methods are grouped by noun in the files next to
//! this one; [`crate::turn`] runs the turns.
//!
//! Invariant: no other module depends on this one.

mod agents;
mod called;
mod contexts;
mod entities;
mod erase;
mod expiry;
mod forget;
mod fork;
mod history;
mod import_chats;
mod import_check;
mod listing;
mod messages;
mod overheard;
mod permissions;
mod proxy;
mod search;
mod sessions;
mod shares;
mod statistics;
mod transfer;
mod turns;
mod usage;
mod users;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use crate::agent::{AgentBook, Agents};
use crate::background::Background;
use crate::catalog::ToolCatalog;
use crate::clock::Clock;
use crate::creation::SessionCreator;
use crate::embed::Embedder;
use crate::enrich::{EnrichmentStatistics, Enrichments};
use crate::error::Result;
use crate::fact::Facts;
use crate::fact::files::MemoryFiles;
use crate::index::Index;
use crate::indexer::Indexer;
use crate::limits::Limits;
use crate::memory::Memory;
use crate::models::ModelBook;
use crate::pack::PackSet;
use crate::permission::Rules;
use crate::permission::decisions::Decisions;
use crate::piece::SentPiece;
use crate::pin::{PinPolicy, Pins};
use crate::preset::Presets;
use crate::reply::{ReplyPorts, ToolRunner};
use crate::request::PrefixCache;
use crate::resolve::{Changes, LookUpStatistics, LookUps, Resolver};
use crate::rule::OperatorRules;
use crate::search::Calibration;
use crate::select::Selector;
use crate::session::record::TurnRecord;
use crate::session::{CacheStatistics, Sessions};
use crate::shared::SharedCache;
use crate::store::{Key, Store};
use crate::tokens::Factors;
use crate::tool::Tools;
use crate::turn::{ClientBodies, CommitTimes, Pipeline, PreparedRequests};
use crate::worklist::{WorkStatistics, Worklist};

use overheard::Overheard;

pub use agents::{AgentItem, SessionItemView};
pub use contexts::{ContextList, ContextPatch, NewContext, StartingPoint};
pub use entities::{EntityList, EntityView, RelatedSession};
pub use erase::{ErasedTurns, ErasureReceipt};
pub use expiry::{BeforePurge, ExpiryState, Sweep, expiry_state, stored_expiry};
pub use forget::{ForgottenFacts, SourceTurns};
pub use history::{HistoryPage, HistoryQuery, Order};
pub use import_chats::{ChatFormat, ImportedChat, ImportedChats};
pub use listing::{SessionList, SessionQuery};
pub use messages::{MessagePage, SaidMessage, Unwanted, messages_of};
pub use permissions::{DecisionScope, RuleInForce, permission_name};
pub use proxy::{Called, FoundTool, NamedCall, ToolRequest};
pub use search::{SearchHit, SearchResults};
pub use sessions::SessionPatch;
pub use shares::SharedPage;
pub use statistics::Statistics;
pub use transfer::{EXPORT_FORMAT, Export};
pub use usage::{AgentUsage, SessionUsage};
pub use users::{UserData, UserErasure};

pub struct Parts {
    pub store: Arc<dyn Store>,
    /// Derived values shared by all servers; `None` if the store does not offer it.
    pub shared: Option<Arc<dyn SharedCache>>,
    /// Full-text search across sessions; `None` if disabled.
    pub index: Option<Arc<dyn Index>>,
    pub tools: Arc<dyn Tools>,
    pub models: ModelBook,
    pub embedder: Arc<dyn Embedder>,
    pub clock: Arc<dyn Clock>,
    pub agents: AgentBook,
    pub packs: PackSet,
    /// The operator's rules about tools.
    pub rules: OperatorRules,
    pub limits: Limits,
    pub settings: EngineSettings,
}

/// Settings other than [`Limits`].
#[derive(Debug, Clone, Copy)]
pub struct EngineSettings {
    /// Size of the session cache.
    pub cache_bytes: u64,
    /// Idle time after which a session leaves the cache.
    pub cache_age: Duration,
    /// Size of the recall indexes of sessions and users.
    pub recall_bytes: u64,
    /// Size of the enrichment cache.
    pub enrichment_bytes: u64,
    /// How long an enrichment is valid while its session does not change.
    pub enrichment_age: Duration,
    /// How long look-up results are valid.
    pub look_up_age: Duration,
    /// What happens to tools that nobody has approved yet.
    pub pin_policy: PinPolicy,
    /// How long a session without a persona lives after its last activity; forever if absent.
    pub session_ttl: Option<Duration>,
}

impl Default for EngineSettings {
    fn default() -> Self {
        Self {
            cache_bytes: 64 * 1024 * 1024,
            cache_age: Duration::from_secs(300),
            recall_bytes: 256 * 1024 * 1024,
            enrichment_bytes: 16 * 1024 * 1024,
            enrichment_age: Duration::from_secs(600),
            look_up_age: Duration::from_secs(3_600),
            pin_policy: PinPolicy::default(),
            session_ttl: None,
        }
    }
}

/// Size of the cached texts of last requests.
const PREFIX_BYTES: u64 = 32 << 20;

pub struct Engine {
    turns: Arc<Pipeline>,
    background: Background,
    presets: Arc<Presets>,
    facts: Arc<Facts>,
    memory_files: MemoryFiles,
    sessions: Arc<Sessions>,
    agents: Arc<Agents>,
    catalog: Arc<ToolCatalog>,
    pins: Arc<Pins>,
    indexer: Arc<Indexer>,
    work: Arc<Worklist>,
    packs: Arc<PackSet>,
    clock: Arc<dyn Clock>,
    limits: Arc<Limits>,
    overheard: Overheard,
}

impl Engine {
    /// Builds the services, calibrates the embedder and reads the pins.
    pub async fn start(parts: Parts) -> Result<Self> {
        let Parts { store, shared, index, tools, models, embedder, clock, packs, settings, .. } =
            parts;
        let (packs, limits) = (Arc::new(packs), Arc::new(parts.limits));
        let agents = Arc::new(Agents::new(parts.agents));
        let calibration = measure(embedder.as_ref()).await;
        let pins = Arc::new(Pins::new(store.clone(), clock.clone(), settings.pin_policy));
        pins.load().await?;
        let changes = Changes::new(store.clone(), clock.clone());
        let look_ups = LookUps::new(settings.look_up_age, changes, shared.clone());
        let resolver =
            Arc::new(Resolver::new(look_ups, tools.clone(), packs.clone(), clock.clone()));
        let decisions = Decisions::new(store.clone(), clock.clone());
        let rules = Arc::new(Rules::new(parts.rules, packs.clone(), decisions));
        let presets = Arc::new(Presets::new(store.clone(), clock.clone()));
        let (cache_bytes, cache_age) = (settings.cache_bytes, settings.cache_age);
        let memory_files = MemoryFiles::new(store.clone(), clock.clone(), limits.clone());
        let facts = Arc::new(Facts::new(
            store.clone(),
            clock.clone(),
            limits.clone(),
            (embedder.clone(), calibration),
            cache_age,
        ));
        let attempts_max = limits.commit_attempts_max;
        let sessions = Sessions::new(store, clock.clone(), cache_bytes, cache_age, attempts_max);
        let session_ttl = settings.session_ttl.and_then(|time| time.try_into().ok());
        let sessions = Arc::new(sessions.with_time_to_live(session_ttl));
        let catalog = Arc::new(ToolCatalog::new(tools.clone(), pins.clone()));
        let selector = Arc::new(Selector::new(embedder.clone(), calibration));
        let work = Arc::new(Worklist::default());
        let indexer = Arc::new(Indexer::new(index, sessions.clone(), work.clone()));
        let memory = Memory::new(
            embedder,
            calibration,
            packs.clone(),
            work.clone(),
            settings.recall_bytes,
            cache_age,
        );
        let turns = Arc::new(Pipeline {
            sessions: sessions.clone(),
            creator: SessionCreator {
                sessions: sessions.clone(),
                agents: agents.clone(),
                catalog: catalog.clone(),
                presets: presets.clone(),
                clock: clock.clone(),
                limits: limits.clone(),
            },
            agents: agents.clone(),
            catalog: catalog.clone(),
            rules,
            instance: clock.id(),
            models: models.clone(),
            factors: Factors::default(),
            commit_times: CommitTimes::default(),
            memory,
            facts: facts.clone(),
            enrichments: Enrichments::new(settings.enrichment_bytes, settings.enrichment_age),
            resolver: resolver.clone(),
            selector: selector.clone(),
            replying: ReplyPorts {
                runner: ToolRunner {
                    tools,
                    pins: pins.clone(),
                    resolver: resolver.clone(),
                    limits: limits.clone(),
                },
                selector,
                packs: packs.clone(),
                clock: clock.clone(),
                limits: limits.clone(),
            },
            prepared: PreparedRequests::default(),
            prefixes: PrefixCache::new(PREFIX_BYTES, cache_age),
            client_bodies: ClientBodies::default(),
            packs: packs.clone(),
            clock: clock.clone(),
            limits: limits.clone(),
            work: work.clone(),
            observer: OnceLock::new(),
            shared,
            stopped: CancellationToken::new(),
        });
        let background = Background {
            sessions: sessions.clone(),
            turns: turns.clone(),
            indexer: indexer.clone(),
            resolver,
            catalog: catalog.clone(),
            agents: agents.clone(),
            models,
            packs: packs.clone(),
            clock: clock.clone(),
            limits: limits.clone(),
            work: work.clone(),
        };
        Ok(Self {
            turns,
            background,
            presets,
            facts,
            memory_files,
            sessions,
            agents,
            catalog,
            pins,
            indexer,
            work,
            packs,
            clock,
            limits,
            overheard: Overheard::default(),
        })
    }

    /// Calls `observer` with every turn and the pieces of its request. Only the first registration takes
    /// effect.
    pub fn observe_turns(
        &self,
        observer: impl Fn(&TurnRecord, &[Arc<SentPiece>]) + Send + Sync + 'static,
    ) {
        let _ = self.turns.observer.set(Box::new(observer));
    }

    /// Runs background work until `stop`.
    pub async fn run_background(&self, stop: CancellationToken) {
        self.background.run_until(stop).await;
    }

    pub fn background(&self) -> &Background {
        &self.background
    }

    pub fn presets(&self) -> &Presets {
        &self.presets
    }

    /// Facts about users, which outlive sessions.
    pub fn facts(&self) -> &Arc<Facts> {
        &self.facts
    }

    pub fn memory_files(&self) -> &MemoryFiles {
        &self.memory_files
    }

    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    pub fn packs(&self) -> &PackSet {
        &self.packs
    }

    /// The current time of the engine's clock.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Records turns that end from now on without a whole reply as interrupted by the server, not as stopped by their user.
    pub fn interrupt_turns(&self) {
        self.turns.stopped.cancel();
    }

    pub fn new_id(&self) -> uuid::Uuid {
        self.clock.id()
    }

    pub fn agents(&self) -> Arc<AgentBook> {
        self.agents.current()
    }

    /// Replaces the agents; running turns keep those they started with.
    pub fn replace_agents(&self, book: AgentBook) {
        self.agents.replace(book);
    }

    pub fn store(&self) -> &Arc<dyn Store> {
        self.sessions.store()
    }

    pub fn model_names(&self) -> Vec<String> {
        self.turns.models.names().map(str::to_owned).collect()
    }

    pub fn cache_statistics(&self) -> CacheStatistics {
        self.sessions.cache_statistics()
    }

    pub fn work_statistics(&self) -> WorkStatistics {
        self.work.statistics()
    }

    pub fn enrichment_statistics(&self) -> EnrichmentStatistics {
        self.turns.enrichments.statistics()
    }

    pub fn look_up_statistics(&self) -> LookUpStatistics {
        self.turns.resolver.look_ups.statistics()
    }

    /// Drops what is cached of a session besides its head.
    fn forget_derived(&self, key: &Key) {
        self.turns.memory.forget(key);
        self.turns.enrichments.forget(key);
        self.turns.prefixes.forget(key);
        self.turns.client_bodies.forget(key);
    }
}

/// Calibrates the embedder's cosines; uses the built-in embedder's calibration if it fails.
async fn measure(embedder: &dyn Embedder) -> Calibration {
    match embedder.embed(&Calibration::probes()).await {
        Ok(vectors) => Calibration::measure(&vectors).unwrap_or_default(),
        Err(error) => {
            tracing::warn!(embedder = embedder.name(), %error, "cannot calibrate the embedder; using the built-in calibration");
            Calibration::default()
        }
    }
}
