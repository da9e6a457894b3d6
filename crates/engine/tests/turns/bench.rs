//! What the tests of this folder stand on: an engine with a scripted model and tools.
//!
//! The model and the tools are doubles because a paid model cannot be had here and faults must be made
//! on purpose; the real ones are tested in `throughline-upstream` and `throughline`.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures::stream::{self, BoxStream, StreamExt};
use jiff::Timestamp;
use serde_json::{Value, json};
use throughline_engine::access::Caller;
use throughline_engine::agent::{Agent, AgentBook, AgentServer, Document};
use throughline_engine::context::Brought;
use throughline_engine::embed::{Embedder, Vector};
use throughline_engine::engine::{Engine, EngineSettings, ModelBook, Parts};
use throughline_engine::failure::{UpstreamError, UpstreamFault};
use throughline_engine::hash::ContentHash;
use throughline_engine::id::{AgentName, SessionId};
use throughline_engine::limits::Limits;
use throughline_engine::model::{Model, ModelEvent, ModelRequest, StopReason, Usage};
use throughline_engine::pack::PackSet;
use throughline_engine::piece::IncludeMode;
use throughline_engine::session::apply::RequestKey;
use throughline_engine::session::record::TurnRecord;
use throughline_engine::store::Store;
use throughline_engine::tool::{
    ToolDefinition, ToolEffects, ToolListing, ToolName, ToolOutput, Tools,
};
use throughline_engine::turn::{Events, TurnOutcome, TurnRequest, Way};
use throughline_store::memory::Memory;
use throughline_testkit::fixed_clock::FixedClock;
use tokio_util::sync::CancellationToken;

/// What the model does on one call.
#[derive(Clone)]
pub enum Line {
    Says(&'static str),
    Calls(&'static str, Value),
    Fails,
    Breaks(&'static str),
}

/// Plays its lines in order and remembers what it was sent.
#[derive(Default)]
pub struct ScriptedModel {
    lines: Mutex<VecDeque<Line>>,
    pub requests: Mutex<Vec<ModelRequest>>,
}

#[async_trait]
impl Model for ScriptedModel {
    fn name(&self) -> &str {
        "scripted/model"
    }

    async fn stream(
        &self,
        request: &ModelRequest,
        _: CancellationToken,
    ) -> Result<BoxStream<'static, Result<ModelEvent, UpstreamError>>, UpstreamError> {
        self.requests.lock().unwrap().push(request.clone());
        let failed = || UpstreamError::new("scripted/model", UpstreamFault::Failed, "it broke");
        let line = self.lines.lock().unwrap().pop_front().expect("a line for every call");
        let usage = Usage { input_tokens: 10, output_tokens: 5, ..Usage::default() };
        let events = match line {
            Line::Says(text) => vec![
                Ok(ModelEvent::Text(text.into())),
                Ok(ModelEvent::Usage(usage)),
                Ok(ModelEvent::Done(StopReason::EndTurn)),
            ],
            Line::Calls(name, input) => vec![
                Ok(ModelEvent::ToolUse { id: "c1".into(), name: name.into(), input: Ok(input) }),
                Ok(ModelEvent::Usage(usage)),
                Ok(ModelEvent::Done(StopReason::ToolUse)),
            ],
            Line::Fails => return Err(failed()),
            Line::Breaks(text) => vec![Ok(ModelEvent::Text(text.into())), Err(failed())],
        };
        Ok(stream::iter(events).boxed())
    }
}

/// Tools of one server: some read, one changes, one destroys.
#[derive(Default)]
pub struct ScriptedTools {
    pub called: Mutex<Vec<(String, Value)>>,
    pub description: Mutex<String>,
    /// What tools answer instead of the device that was asked for.
    pub answers: Mutex<HashMap<&'static str, Value>>,
    /// A tool that never answers, and one that fails.
    pub hangs: Mutex<Option<&'static str>>,
    pub fails: Mutex<Option<&'static str>>,
    /// A tool that answers with an error, and its text.
    pub refuses: Mutex<Option<(&'static str, &'static str)>>,
}

impl ScriptedTools {
    /// The tools that were called, in order.
    pub fn names(&self) -> Vec<String> {
        self.called.lock().unwrap().iter().map(|(name, _)| name.clone()).collect()
    }
}

fn definition(name: &str, description: &str, effects: ToolEffects) -> ToolDefinition {
    let properties = match name {
        "list_projects" => json!({"q": {"type": "string"}}),
        "get_project" => json!({"project_id": {"type": "integer"}}),
        "get_site" => json!({"site": {"type": "string"}}),
        "update_device" => json!({"device": {"type": "string"}, "status": {"type": "string"}}),
        _ => json!({"device": {"type": "string"}}),
    };
    let required: Vec<&String> = match name {
        "list_projects" => Vec::new(),
        _ => properties.as_object().unwrap().keys().take(1).collect(),
    };
    ToolDefinition {
        tool: ToolName { server: "inventory".into(), name: name.into() },
        title: None,
        description: description.into(),
        input_schema: json!({"type": "object", "properties": properties, "required": required}),
        effects,
    }
}

#[async_trait]
impl Tools for ScriptedTools {
    async fn list(&self) -> ToolListing {
        let reads = ToolEffects { read_only: Some(true), ..ToolEffects::default() };
        let changes = ToolEffects { read_only: Some(false), ..ToolEffects::default() };
        let destroys = ToolEffects { destructive: Some(true), ..ToolEffects::default() };
        let said = self.description.lock().unwrap().clone();
        let said = if said.is_empty() { "Shows one device.".to_owned() } else { said };
        ToolListing {
            tools: vec![
                definition("get_device", &said, reads),
                definition("delete_device", "Deletes a device.", destroys),
                definition("update_device", "Updates the status of a device.", changes),
                definition("list_projects", "Lists projects.", reads),
                definition("get_project", "Shows one project.", reads),
                definition("get_site", "Shows one site.", reads),
            ],
            unavailable: Vec::new(),
        }
    }

    async fn call(
        &self,
        tool: &ToolName,
        arguments: &Value,
        _: CancellationToken,
    ) -> Result<ToolOutput, UpstreamError> {
        self.called.lock().unwrap().push((tool.name.clone(), arguments.clone()));
        let is = |name: &Mutex<Option<&'static str>>| *name.lock().unwrap() == Some(&tool.name);
        if is(&self.fails) {
            return Err(UpstreamError::new("inventory", UpstreamFault::Failed, "it broke"));
        }
        if is(&self.hangs) {
            std::future::pending::<()>().await;
        }
        if let Some((_, text)) = self.refuses.lock().unwrap().filter(|(name, _)| *name == tool.name)
        {
            let text = text.to_owned();
            return Ok(ToolOutput { text, json: None, is_error: true, truncated: false });
        }
        let scripted = self.answers.lock().unwrap().get(tool.name.as_str()).cloned();
        let json = scripted
            .unwrap_or_else(|| json!({"id": 7, "name": arguments["device"], "status": "active"}));
        Ok(ToolOutput {
            text: json.to_string(),
            json: Some(json),
            is_error: false,
            truncated: false,
        })
    }
}

/// Words hashed into a small vector: enough to tell texts apart.
struct WordEmbedder;

#[async_trait]
impl Embedder for WordEmbedder {
    fn name(&self) -> &str {
        "words"
    }

    fn dimensions(&self) -> usize {
        64
    }

    async fn embed(&self, texts: &[&str]) -> Result<Vec<Vector>, UpstreamError> {
        let vector = |text: &&str| {
            let mut vector = vec![0.0_f32; 64];
            for word in text.to_lowercase().split(|c: char| !c.is_alphanumeric()) {
                let hash = ContentHash::of(word);
                let place = usize::from_str_radix(&hash.as_str()[..2], 16).unwrap() % 64;
                vector[place] += 1.0;
            }
            let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt().max(1e-6);
            vector.iter().map(|x| x / length).collect()
        };
        Ok(texts.iter().map(vector).collect())
    }
}

/// An engine with everything scripted in reach.
pub struct Bench {
    pub engine: Engine,
    pub model: Arc<ScriptedModel>,
    pub tools: Arc<ScriptedTools>,
    pub clock: Arc<FixedClock>,
    pub caller: Caller,
    pub store: Arc<dyn Store>,
}

pub struct BenchBuilder {
    lines: Option<Vec<Line>>,
    limits: Limits,
    rules: Vec<Document>,
    with_tools: bool,
    store: Arc<dyn Store>,
}

pub fn bench() -> BenchBuilder {
    BenchBuilder {
        lines: None,
        limits: Limits::default(),
        rules: Vec::new(),
        with_tools: false,
        store: Arc::new(Memory::new()),
    }
}

pub fn rule(name: &str, include: IncludeMode, text: &str) -> Document {
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
    pub fn model(mut self, lines: impl Into<Vec<Line>>) -> Self {
        self.lines = Some(lines.into());
        self
    }

    pub fn limits(mut self, change: impl FnOnce(&mut Limits)) -> Self {
        change(&mut self.limits);
        self
    }

    pub fn rule(mut self, rule: Document) -> Self {
        self.rules.push(rule);
        self
    }

    pub fn tools(mut self) -> Self {
        self.with_tools = true;
        self
    }

    /// On this store instead of one of its own.
    pub fn on(mut self, store: Arc<dyn Store>) -> Self {
        self.store = store;
        self
    }

    pub async fn start(self) -> Bench {
        let model = Arc::new(ScriptedModel::default());
        let models = match self.lines {
            Some(lines) => {
                model.lines.lock().unwrap().extend(lines);
                ModelBook::new(vec![("scripted".into(), model.clone())], Some("scripted".into()))
            }
            None => ModelBook::default(),
        };
        let tools = Arc::new(ScriptedTools::default());
        let start = Timestamp::UNIX_EPOCH + jiff::SignedDuration::from_hours(24 * 365);
        let clock = Arc::new(FixedClock::at(start));
        let store = self.store;
        let parts = Parts {
            store: store.clone(),
            index: None,
            tools: tools.clone(),
            models,
            embedder: Arc::new(WordEmbedder),
            clock: clock.clone(),
            agents: agent(self.rules, self.with_tools),
            packs: PackSet::builtin(),
            limits: self.limits,
            settings: EngineSettings::default(),
        };
        let engine = Engine::start(parts).await.unwrap();
        Bench { engine, model, tools, clock, caller: Caller::local(), store }
    }
}

impl Bench {
    /// Replaces the agent's rules, as a reload does.
    pub fn reload(&self, rules: Vec<Document>, with_tools: bool) {
        self.engine.replace_agents(agent(rules, with_tools));
    }

    pub async fn ask(&self, message: &str) -> TurnOutcome {
        self.ask_with(message, None).await.unwrap()
    }

    pub async fn ask_in(&self, session: SessionId, message: &str) -> TurnOutcome {
        self.ask_all(session, message, None).await.unwrap()
    }

    pub async fn ask_with(
        &self,
        message: &str,
        key: Option<RequestKey>,
    ) -> Result<TurnOutcome, throughline_engine::error::Error> {
        self.ask_all(session(), message, key).await
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
            way: Way::Chat,
            brought: Brought { message: message.into(), ..Brought::default() },
            key,
            ..TurnRequest::default()
        };
        let cancel = CancellationToken::new();
        self.engine.converse(&self.caller, request, Events::nowhere(), cancel).await
    }

    /// The turn that a message made.
    pub async fn turn(&self, message: &str) -> Arc<TurnRecord> {
        match self.ask(message).await {
            TurnOutcome::Finished { record, .. } => record,
            TurnOutcome::Paused { .. } => panic!("the turn waits for approval"),
        }
    }
}

pub fn session() -> SessionId {
    SessionId::new("s").unwrap()
}
