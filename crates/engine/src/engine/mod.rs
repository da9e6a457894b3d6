//! The door through which every transport comes in.
//!
//! An [`Engine`] holds the outside (store, models, tools, embedder, clock) and what is derived from it in
//! memory. Its methods are grouped by noun in the files beside this one; each starts by asking
//! [`crate::access::authorize`].
//!
//! Invariant: a transport calls the engine once per request and does nothing else with its parts.

mod agents;
mod called;
mod contexts;
mod dropin;
mod entities;
mod erase;
mod expiry;
mod fork;
mod history;
mod import_chats;
mod listing;
mod messages;
mod presets;
mod proxy;
mod record;
mod search;
mod sessions;
mod statistics;
mod transfer;
mod usage;

use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use jiff::Timestamp;

use crate::agent::{Agent, AgentBook};
use crate::budget::Budget;
use crate::clock::Clock;
use crate::embed::Embedder;
use crate::enrich::{EnrichmentStatistics, Enrichments};
use crate::error::Result;
use crate::index::Index;
use crate::limits::Limits;
use crate::memory::Memory;
use crate::model::Model;
use crate::pack::PackSet;
use crate::pin::{PinPolicy, Pins};
use crate::receipt::Parameters;
use crate::resolve::{Changes, LookUpStatistics, LookUps};
use crate::search::Calibration;
use crate::select::{KnownTool, Selector};
use crate::session::head::SessionHead;
use crate::session::record::TurnRecord;
use crate::session::{CacheStatistics, Sessions};
use crate::shared::SharedCache;
use crate::store::{Key, Scope, Store};
use crate::tend::{WorkStatistics, Worklist};
use crate::tokens::Factors;
use crate::tool::Tools;

pub use agents::{AgentItem, SessionItemView};
pub use contexts::{ContextList, ContextPatch, NewContext, StartingPoint};
pub use dropin::{Addition, ClientRequest, Exchange, HandedOn};
pub use entities::{AboutIt, EntityList, EntityView};
pub use erase::{ErasureReceipt, Tombstone, tombstone_of};
pub use expiry::{BeforePurge, ExpiryState, Sweep, expiry_state, stored_expiry};
pub use history::{HistoryPage, HistoryQuery, Order};
pub use import_chats::{ChatFormat, ImportedChat, ImportedChats};
pub use listing::{SessionList, SessionQuery};
pub use messages::{MessagePage, SaidMessage, Unwanted, messages_of};
pub use presets::{PresetGone, PresetList};
pub use proxy::{Called, FoundTool, ToolRequest};
pub(crate) use record::{FinishedTurn, answered};
pub use record::{Recorded, RecordedTurn};
pub use search::{SearchHit, SearchResults};
pub(crate) use sessions::id_for_key;
pub use sessions::{NewSession, SessionPatch};
pub use statistics::Statistics;
pub use transfer::{EXPORT_FORMAT, Export};
pub use usage::{AgentUsage, SessionUsage};

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
    /// Agents.
    pub agents: AgentBook,
    /// Domain knowledge.
    pub packs: PackSet,
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
    /// Enrichments in memory, in bytes.
    pub enrichment_bytes: u64,
    /// How long the enrichment of a message holds, while its session does not change.
    pub enrichment_age: Duration,
    /// How long what was looked up holds.
    pub look_up_age: Duration,
    /// What becomes of tools that nobody approved yet.
    pub pin_policy: PinPolicy,
}

impl Default for EngineSettings {
    fn default() -> Self {
        Self {
            cache_bytes: 64 * 1024 * 1024,
            cache_age: Duration::from_secs(300),
            enrichment_bytes: 16 * 1024 * 1024,
            enrichment_age: Duration::from_secs(600),
            look_up_age: Duration::from_secs(3_600),
            pin_policy: PinPolicy::default(),
        }
    }
}

/// Configured models.
#[derive(Default, Clone)]
pub struct ModelBook {
    models: Vec<(String, Arc<dyn Model>)>,
    default: Option<String>,
}

impl ModelBook {
    /// Models by their configured names; `default` serves where none is named.
    pub fn new(models: Vec<(String, Arc<dyn Model>)>, default: Option<String>) -> Self {
        Self { models, default }
    }

    /// The model of that name, or the default one; `None` when there is none.
    pub fn get(&self, name: Option<&str>) -> Option<Arc<dyn Model>> {
        let name = name.or(self.default.as_deref())?;
        self.models.iter().find(|(known, _)| known == name).map(|(_, model)| model.clone())
    }

    /// The configured names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.models.iter().map(|(name, _)| name.as_str())
    }
}

/// What a window holds beside the history: instructions, the message, the reply.
const WINDOW_OVERHEAD_TOKENS: u32 = 1_000;

/// Most sessions whose older turns are searchable in memory at a time.
const MEMORY_SESSIONS_MAX: u64 = 1_000;

/// Users of whom it is remembered how far the index has come.
const SCOPES_MAX: u64 = 10_000;

/// The engine.
pub struct Engine {
    pub(crate) sessions: Sessions,
    pub(crate) selector: Selector,
    pub(crate) memory: Memory,
    pub(crate) enrichments: Enrichments,
    pub(crate) look_ups: LookUps,
    packs: Arc<PackSet>,
    pub(crate) pins: Pins,
    pub(crate) index: Option<Arc<dyn Index>>,
    /// Every session of the scope that was last changed before that is in the index.
    pub(crate) indexed_until: moka::sync::Cache<Scope, Timestamp>,
    pub(crate) work: Worklist,
    pub(crate) factors: Factors,
    pub(crate) models: ModelBook,
    pub(crate) tools: Arc<dyn Tools>,
    clock: Arc<dyn Clock>,
    agents: RwLock<(u64, Arc<AgentBook>)>,
    limits: Limits,
    watcher: OnceLock<Watcher>,
}

/// Is told of every turn that was put into a log, whichever way it came.
type Watcher = Box<dyn Fn(&TurnRecord) + Send + Sync>;

impl Engine {
    /// Puts the parts together: measures the embedder and reads the pins.
    pub async fn start(parts: Parts) -> Result<Self> {
        let Parts {
            store,
            shared,
            index,
            tools,
            models,
            embedder,
            clock,
            agents,
            packs,
            limits,
            settings,
        } = parts;
        let packs = Arc::new(packs);
        let calibration = measure(embedder.as_ref()).await;
        let pins = Pins::new(store.clone(), clock.clone(), settings.pin_policy);
        pins.load().await?;
        let changes = Changes::new(store.clone(), clock.clone());
        let sessions = Sessions::new(
            store,
            clock.clone(),
            settings.cache_bytes,
            settings.cache_age,
            limits.commit_attempts_max,
        );
        Ok(Self {
            sessions,
            selector: Selector::new(embedder.clone(), calibration),
            memory: Memory::new(
                embedder,
                calibration,
                packs.clone(),
                MEMORY_SESSIONS_MAX,
                settings.cache_age,
            ),
            enrichments: Enrichments::new(settings.enrichment_bytes, settings.enrichment_age),
            look_ups: LookUps::new(settings.look_up_age, changes, shared),
            packs,
            pins,
            index,
            indexed_until: moka::sync::Cache::new(SCOPES_MAX),
            work: Worklist::default(),
            factors: Factors::default(),
            models,
            tools,
            clock,
            agents: RwLock::new((0, Arc::new(agents))),
            limits,
            watcher: OnceLock::new(),
        })
    }

    /// Has `tell` told of every turn from now on that is put into a log; its number is not known yet. The
    /// first one stays.
    pub fn watch(&self, tell: impl Fn(&TurnRecord) + Send + Sync + 'static) {
        let _ = self.watcher.set(Box::new(tell));
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

    /// A new id.
    pub fn new_id(&self) -> uuid::Uuid {
        self.clock.id()
    }

    /// The agents in force.
    pub fn agents(&self) -> Arc<AgentBook> {
        self.agents.read().unwrap_or_else(PoisonError::into_inner).1.clone()
    }

    /// How often the agents were replaced.
    pub(crate) fn agents_generation(&self) -> u64 {
        self.agents.read().unwrap_or_else(PoisonError::into_inner).0
    }

    /// Replaces the agents; turns under way keep the ones they started with.
    pub fn replace_agents(&self, book: AgentBook) {
        let mut agents = self.agents.write().unwrap_or_else(PoisonError::into_inner);
        *agents = (agents.0 + 1, Arc::new(book));
    }

    /// The store beneath.
    pub fn store(&self) -> &Arc<dyn Store> {
        self.sessions.store()
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
        self.enrichments.statistics()
    }

    /// How look-ups are doing.
    pub fn look_up_statistics(&self) -> LookUpStatistics {
        self.look_ups.statistics()
    }

    /// Forgets what memory holds of a session beside its cached head.
    pub(crate) fn forget_derived(&self, key: &Key) {
        self.memory.forget(key);
        self.enrichments.forget(key);
    }

    /// Names of the configured models.
    pub fn model_names(&self) -> Vec<String> {
        self.models.names().map(str::to_owned).collect()
    }

    /// The tools of an agent's servers, each with how it stands.
    pub(crate) async fn tools_of(&self, agent: &Agent) -> Result<Vec<KnownTool>> {
        if agent.servers.is_empty() {
            return Ok(Vec::new());
        }
        let listing = self.tools.list().await;
        let definitions: Vec<_> =
            listing.tools.into_iter().filter(|d| agent.tool_mode(&d.tool).is_some()).collect();
        let states = self.pins.admit(&definitions).await?;
        Ok(definitions
            .into_iter()
            .zip(states)
            .map(|(definition, pin)| KnownTool { definition, pin })
            .collect())
    }

    /// What a request of this session may spend.
    pub(crate) fn budget(
        &self,
        head: &SessionHead,
        agent: &Agent,
        wanted: Option<u32>,
        parameters: Parameters,
    ) -> Budget {
        // A persona that wants more history than the window holds says that its model has a larger one.
        let persona_window = head
            .persona
            .as_ref()
            .map_or(0, |persona| persona.history_tokens_max.saturating_add(WINDOW_OVERHEAD_TOKENS));
        let window = head
            .settings
            .context_tokens
            .unwrap_or_else(|| self.limits.context_tokens.max(persona_window));
        let total = wanted.unwrap_or_else(|| window.saturating_sub(parameters.reply_tokens_max));
        let model =
            self.models.get(head.settings.model.as_deref().or(agent.models.chat.as_deref()));
        let factor = model.map_or(1.0, |model| self.factors.of(model.name()));
        let history = head
            .persona
            .as_ref()
            .map_or(self.limits.history_tokens, |persona| persona.history_tokens_max);
        Budget {
            total_tokens: scaled(total, factor),
            history_tokens: scaled(history, factor),
            enrichment_tokens: scaled(self.limits.enrichment_tokens, factor),
            warning_share: self.limits.warning_share,
            factor,
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a budget is a small positive number"
)]
fn scaled(tokens: u32, factor: f32) -> u32 {
    (tokens as f32 / factor.max(0.25)) as u32
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
