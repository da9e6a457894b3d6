//! What the tests of this folder stand on: an engine with a scripted model and tools.
//!
//! The model and the tools are doubles because a paid model cannot be had here and faults must be made
//! on purpose; the real ones are tested in `throughline-upstream` and `throughline`.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use throughline_engine::access::Caller;
use throughline_engine::agent::{Agent, AgentBook, AgentServer, Document};
use throughline_engine::embed::Embedder;
use throughline_engine::engine::{Engine, EngineSettings, Parts};
use throughline_engine::events::Events;
use throughline_engine::hash::ContentHash;
use throughline_engine::id::{AgentName, SessionId};
use throughline_engine::index::Index;
use throughline_engine::limits::Limits;
use throughline_engine::model::Model;
use throughline_engine::models::ModelBook;
use throughline_engine::pack::PackSet;
use throughline_engine::piece::IncludeMode;
use throughline_engine::request::TurnInput;
use throughline_engine::rule::{OperatorRules, Rule, ServerRules};
use throughline_engine::session::apply::RequestKey;
use throughline_engine::session::record::TurnRecord;
use throughline_engine::shared::SharedCache;
use throughline_engine::store::Store;
use throughline_engine::turn::{TurnOutcome, TurnRequest};
use throughline_store::OpenOptions;
use throughline_store::index::SqliteIndex;
use throughline_store::memory::Memory;
use throughline_testkit::fixed_clock::FixedClock;
use tokio_util::sync::CancellationToken;

use crate::doubles::WordEmbedder;
pub(crate) use crate::doubles::{Line, ScriptedModel, ScriptedTools};

/// An engine with everything scripted in reach.
pub(crate) struct Bench {
    pub engine: Engine,
    pub model: Arc<ScriptedModel>,
    pub formatter: Arc<ScriptedModel>,
    pub tools: Arc<ScriptedTools>,
    pub clock: Arc<FixedClock>,
    pub caller: Caller,
    pub store: Arc<dyn Store>,
}

pub(crate) struct BenchBuilder {
    lines: Option<Vec<Line>>,
    formatter: Option<Vec<Line>>,
    limits: Limits,
    rules: Vec<Document>,
    with_tools: bool,
    allowed: Vec<&'static str>,
    after: Duration,
    store: Arc<dyn Store>,
    shared: Option<Arc<dyn SharedCache>>,
    index: Option<Arc<dyn Index>>,
    embedder: Arc<dyn Embedder>,
}

pub(crate) fn bench() -> BenchBuilder {
    BenchBuilder {
        lines: None,
        formatter: None,
        limits: Limits::default(),
        rules: Vec::new(),
        with_tools: false,
        allowed: Vec::new(),
        after: Duration::ZERO,
        store: Arc::new(Memory::new()),
        shared: None,
        index: None,
        embedder: Arc::new(WordEmbedder::default()),
    }
}

pub(crate) fn rule(name: &str, include: IncludeMode, text: &str) -> Document {
    Document {
        name: name.into(),
        description: String::new(),
        include,
        priority: 0,
        text: text.into(),
        hash: ContentHash::of(text),
    }
}

fn agent(rules: Vec<Document>, with_tools: bool) -> AgentBook {
    let name = AgentName::new("default").unwrap();
    let mut agent = Agent::plain(name.clone());
    agent.rules = rules;
    if with_tools {
        let server = "inventory".into();
        agent.servers = vec![AgentServer { server, include: None, tools: [].into() }];
    }
    AgentBook::new(name, [agent])
}

impl BenchBuilder {
    /// A model with these lines; without this there is none.
    pub(crate) fn model(mut self, lines: impl Into<Vec<Line>>) -> Self {
        self.lines = Some(lines.into());
        self
    }

    /// A second model that words the results of queries.
    pub(crate) fn formatter(mut self, lines: impl Into<Vec<Line>>) -> Self {
        self.formatter = Some(lines.into());
        self
    }

    pub(crate) fn limits(mut self, change: impl FnOnce(&mut Limits)) -> Self {
        change(&mut self.limits);
        self
    }

    pub(crate) fn rule(mut self, rule: Document) -> Self {
        self.rules.push(rule);
        self
    }

    pub(crate) fn tools(mut self) -> Self {
        self.with_tools = true;
        self
    }

    /// The operator allows this tool.
    pub(crate) fn allow(mut self, tool: &'static str) -> Self {
        self.allowed.push(tool);
        self
    }

    /// Started so much later than the others: a server that was started again.
    pub(crate) fn later(mut self, after: Duration) -> Self {
        self.after = after;
        self
    }

    /// On this store instead of one of its own.
    pub(crate) fn on(mut self, store: Arc<dyn Store>) -> Self {
        self.store = store;
        self
    }

    /// With a cache that other copies share.
    pub(crate) fn sharing(mut self, shared: Arc<dyn SharedCache>) -> Self {
        self.shared = Some(shared);
        self
    }

    /// With this embedder instead of one of its own.
    pub(crate) fn embedder(mut self, embedder: Arc<dyn Embedder>) -> Self {
        self.embedder = embedder;
        self
    }

    /// With a search index of its own, in memory.
    pub(crate) async fn indexed(mut self) -> Self {
        let index = SqliteIndex::open(None, &OpenOptions::default()).await.unwrap();
        self.index = Some(Arc::new(index));
        self
    }

    pub(crate) async fn start(self) -> Bench {
        let (with_model, with_formatter) = (self.lines.is_some(), self.formatter.is_some());
        let model = ScriptedModel::playing("scripted/model", self.lines.unwrap_or_default());
        let formatter =
            ScriptedModel::playing("scripted/formatter", self.formatter.unwrap_or_default());
        let models = if with_model {
            let both: Vec<(String, Arc<dyn Model>)> =
                vec![("scripted".into(), model.clone()), ("formatter".into(), formatter.clone())];
            ModelBook::new(both, Some("scripted".into()))
        } else {
            ModelBook::default()
        };
        let mut agents = agent(self.rules, self.with_tools);
        if with_formatter {
            let mut agent = agents.get(None).unwrap().as_ref().clone();
            agent.models.formatter = Some("formatter".into());
            agents = AgentBook::new(agent.name.clone(), [agent]);
        }
        let tools = Arc::new(ScriptedTools::default());
        let start = Timestamp::UNIX_EPOCH + jiff::SignedDuration::from_hours(24 * 365);
        let clock = Arc::new(FixedClock::at(start + self.after));
        let allowed = self.allowed.into_iter().map(|tool| (tool.to_owned(), Rule::Allow));
        let rules = ServerRules { reads_only: false, tools: allowed.collect() };
        let store = self.store;
        let parts = Parts {
            store: store.clone(),
            shared: self.shared,
            index: self.index,
            tools: tools.clone(),
            models,
            embedder: self.embedder,
            clock: clock.clone(),
            agents,
            packs: PackSet::builtin(),
            rules: OperatorRules::from([("inventory".to_owned(), rules)]),
            limits: self.limits,
            settings: EngineSettings::default(),
        };
        let engine = Engine::start(parts).await.unwrap();
        Bench { engine, model, formatter, tools, clock, caller: Caller::local(), store }
    }
}

impl Bench {
    /// Replaces the agent's rules, as a reload does.
    pub(crate) fn reload(&self, rules: Vec<Document>, with_tools: bool) {
        self.engine.replace_agents(agent(rules, with_tools));
    }

    pub(crate) async fn ask(&self, message: &str) -> TurnOutcome {
        self.ask_with(message, None).await.unwrap()
    }

    pub(crate) async fn ask_in(&self, session: SessionId, message: &str) -> TurnOutcome {
        self.ask_all(session, message, None).await.unwrap()
    }

    pub(crate) async fn ask_with(
        &self,
        message: &str,
        key: Option<RequestKey>,
    ) -> Result<TurnOutcome, throughline_engine::error::Error> {
        self.ask_all(session(), message, key).await
    }

    /// The turn that a query made.
    pub(crate) async fn query(&self, query: &str) -> Arc<TurnRecord> {
        self.say(TurnInput { message: query.into(), is_query: true, ..TurnInput::default() }).await
    }

    /// The turn of a message with all that came with it.
    pub(crate) async fn say(&self, input: TurnInput) -> Arc<TurnRecord> {
        let request = TurnRequest { session: Some(session()), input, ..TurnRequest::default() };
        let cancel = CancellationToken::new();
        let asked = self.engine.converse(&self.caller, request, Events::nowhere(), cancel);
        match asked.await.unwrap() {
            TurnOutcome::Finished { record, .. } => record,
            TurnOutcome::Paused { pending, .. } => {
                panic!("the turn waits for approval: {:?}", pending.awaited)
            }
        }
    }

    async fn ask_all(
        &self,
        session: SessionId,
        message: &str,
        key: Option<RequestKey>,
    ) -> Result<TurnOutcome, throughline_engine::error::Error> {
        let request = TurnRequest {
            session: Some(session),
            agent: None,
            input: TurnInput { message: message.into(), ..TurnInput::default() },
            key,
            ..TurnRequest::default()
        };
        let cancel = CancellationToken::new();
        self.engine.converse(&self.caller, request, Events::nowhere(), cancel).await
    }

    /// The turn that a message made.
    pub(crate) async fn turn(&self, message: &str) -> Arc<TurnRecord> {
        match self.ask(message).await {
            TurnOutcome::Finished { record, .. } => record,
            TurnOutcome::Paused { .. } => panic!("the turn waits for approval"),
        }
    }
}

pub(crate) fn session() -> SessionId {
    SessionId::new("s").unwrap()
}
