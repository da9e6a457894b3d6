//! The door through which every transport comes in.
//!
//! An [`Engine`] holds the services that the parts outside (store, models, tools, embedder, clock) make up, and
//! asks [`crate::access::authorize`] before it hands a call on. Its methods are grouped by noun in the files
//! beside this one; what a turn does is in [`crate::turn`].
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
use crate::turn::{Pipeline, PreparedRequests};
use crate::worklist::{WorkStatistics, Worklist};

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
pub use proxy::{Called, FoundTool, ToolRequest};
pub use search::{SearchHit, SearchResults};
pub use sessions::SessionPatch;
pub use shares::SharedPage;
pub use statistics::Statistics;
pub use transfer::{EXPORT_FORMAT, Export};
pub use usage::{AgentUsage, SessionUsage};
pub use users::{UserData, UserErasure};

/// What the engine is made of.
pub struct Parts {
    /// Where threads live.
    pub store: Arc<dyn Store>,
    /// Derived values that all copies of the server share; none where the store offers no such thing.
    pub shared: Option<Arc<dyn SharedCache>>,
    /// Full-text search across sessions; none where it is switched off.
    pub index: Option<Arc<dyn Index>>,
    /// Upstream tools.
    pub tools: Arc<dyn Tools>,
    /// Models by name, and which one is used when none is named.
    pub models: ModelBook,
    /// Turns text into vectors.
    pub embedder: Arc<dyn Embedder>,
    /// Time and ids.
    pub clock: Arc<dyn Clock>,
    pub agents: AgentBook,
    /// Domain knowledge.
    pub packs: PackSet,
    /// What the operator says of tools.
    pub rules: OperatorRules,
    /// Bounds.
    pub limits: Limits,
    /// What stays in memory, and other settings.
    pub settings: EngineSettings,
}

/// Settings that are not bounds of a conversation.
#[derive(Debug, Clone, Copy)]
pub struct EngineSettings {
    /// Sessions in memory, in bytes.
    pub cache_bytes: u64,
    /// How long a session stays in memory.
    pub cache_age: Duration,
    /// What recall searches in memory, in bytes: indexes of sessions and of users.
    pub recall_bytes: u64,
    /// Enrichments in memory, in bytes.
    pub enrichment_bytes: u64,
    /// How long the enrichment of a message holds, while its session does not change.
    pub enrichment_age: Duration,
    /// How long what was looked up holds.
    pub look_up_age: Duration,
    /// What becomes of tools that nobody approved yet.
    pub pin_policy: PinPolicy,
    /// How long a session without a persona lives after its last interaction; for ever when absent.
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

/// Texts of last requests that stay in memory, in bytes.
const PREFIX_BYTES: u64 = 32 << 20;

/// What transports call.
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
}

impl Engine {
    /// Puts the parts together: measures the embedder and reads the pins.
    pub async fn start(parts: Parts) -> Result<Self> {
        let Parts { store, shared, index, tools, models, embedder, clock, packs, settings, .. } =
            parts;
        let (packs, limits) = (Arc::new(packs), Arc::new(parts.limits));
        let agents = Arc::new(Agents::new(parts.agents));
        let calibration = measure(embedder.as_ref()).await;
        let pins = Arc::new(Pins::new(store.clone(), clock.clone(), settings.pin_policy));
        pins.load().await?;
        let changes = Changes::new(store.clone(), clock.clone());
        let look_ups = LookUps::new(settings.look_up_age, changes, shared);
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
            packs: packs.clone(),
            clock: clock.clone(),
            limits: limits.clone(),
            work: work.clone(),
            observer: OnceLock::new(),
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

    /// Does what is due after turns, until `stop`.
    pub async fn run_background(&self, stop: CancellationToken) {
        self.background.run_until(stop).await;
    }

    /// What happens after turns.
    pub fn background(&self) -> &Background {
        &self.background
    }

    /// Personas' starting points.
    pub fn presets(&self) -> &Presets {
        &self.presets
    }

    /// What is known about users beyond their sessions.
    pub fn facts(&self) -> &Arc<Facts> {
        &self.facts
    }

    /// Files of applications' memory tools.
    pub fn memory_files(&self) -> &MemoryFiles {
        &self.memory_files
    }

    /// The bounds in force.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Domain knowledge.
    pub fn packs(&self) -> &PackSet {
        &self.packs
    }

    /// Now, by the engine's clock.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub fn new_id(&self) -> uuid::Uuid {
        self.clock.id()
    }

    /// The agents in force.
    pub fn agents(&self) -> Arc<AgentBook> {
        self.agents.current()
    }

    /// Replaces the agents; turns under way keep the ones they started with.
    pub fn replace_agents(&self, book: AgentBook) {
        self.agents.replace(book);
    }

    /// The store beneath.
    pub fn store(&self) -> &Arc<dyn Store> {
        self.sessions.store()
    }

    /// Names of the configured models.
    pub fn model_names(&self) -> Vec<String> {
        self.turns.models.names().map(str::to_owned).collect()
    }

    /// How the session cache is doing.
    pub fn cache_statistics(&self) -> CacheStatistics {
        self.sessions.cache_statistics()
    }

    /// How the background work is doing.
    pub fn work_statistics(&self) -> WorkStatistics {
        self.work.statistics()
    }

    /// How often an enrichment was there already.
    pub fn enrichment_statistics(&self) -> EnrichmentStatistics {
        self.turns.enrichments.statistics()
    }

    /// How look-ups are doing.
    pub fn look_up_statistics(&self) -> LookUpStatistics {
        self.turns.resolver.look_ups.statistics()
    }

    /// Forgets what memory holds of a session beside its cached head.
    fn forget_derived(&self, key: &Key) {
        self.turns.memory.forget(key);
        self.turns.enrichments.forget(key);
        self.turns.prefixes.forget(key);
    }
}

/// How to read the embedder's cosines; the built-in embedder's reading when it cannot be asked.
async fn measure(embedder: &dyn Embedder) -> Calibration {
    match embedder.embed(&Calibration::probes()).await {
        Ok(vectors) => Calibration::measure(&vectors).unwrap_or_default(),
        Err(error) => {
            tracing::warn!(embedder = embedder.name(), %error, "the embedder could not be measured");
            Calibration::default()
        }
    }
}
