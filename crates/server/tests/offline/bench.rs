//! An engine without a model, with the demo inventory as a real MCP server.

use std::sync::Arc;

use throughline::clock::SystemClock;
use throughline_engine::access::Caller;
use throughline_engine::agent::{Agent, AgentBook, AgentServer};
use throughline_engine::engine::{Engine, EngineSettings, Parts};
use throughline_engine::events::Events;
use throughline_engine::id::{AgentName, SessionId};
use throughline_engine::limits::Limits;
use throughline_engine::models::ModelBook;
use throughline_engine::pack::PackSet;
use throughline_engine::request::TurnInput;
use throughline_engine::rule::{OperatorRules, Rule, ServerRules};
use throughline_engine::session::pending::PendingTurn;
use throughline_engine::session::record::TurnRecord;
use throughline_engine::turn::{TurnOutcome, TurnRequest};
use throughline_store::memory::Memory;
use throughline_upstream::embed::Embedded;
use throughline_upstream::mcp::{McpProxy, ServerConfig};
use tokio_util::sync::CancellationToken;

pub(crate) struct Bench {
    pub engine: Engine,
    pub caller: Caller,
    proxy: Arc<McpProxy>,
}

/// What a message came to.
#[derive(Debug)]
pub(crate) enum Came {
    Turn(Arc<TurnRecord>),
    Waits(Box<PendingTurn>),
}

pub(crate) async fn bench() -> Bench {
    let binary = env!("CARGO_BIN_EXE_throughline");
    let server = ServerConfig::stdio("inventory", binary, ["demo-inventory"]);
    let proxy = Arc::new(McpProxy::new(vec![server]).expect("a valid server"));
    let name = AgentName::new("demo").expect("a valid name");
    let mut agent = Agent::plain(name.clone());
    let server = "inventory".to_owned();
    agent.servers = vec![AgentServer { server, include: None, tools: [].into() }];
    let parts = Parts {
        store: Arc::new(Memory::new()),
        shared: None,
        index: None,
        tools: proxy.clone(),
        models: ModelBook::default(),
        embedder: Arc::new(Embedded::load()),
        clock: Arc::new(SystemClock),
        agents: AgentBook::new(name, [agent]),
        packs: PackSet::builtin(),
        rules: rules(),
        limits: Limits::default(),
        settings: EngineSettings::default(),
    };
    let engine = Engine::start(parts).await.expect("an engine");
    Bench { engine, caller: Caller::local(), proxy }
}

/// The operator allows what the conversations change.
fn rules() -> OperatorRules {
    let changes = ["add_survey_answers", "update_device", "create_report", "create_workflow"];
    let tools = changes.map(|tool| (tool.to_owned(), Rule::Allow)).into();
    [("inventory".to_owned(), ServerRules { reads_only: false, tools })].into()
}

/// A call without the length of a page, which says nothing about what was understood.
pub(crate) fn shown(tool: &str, arguments: &serde_json::Value) -> String {
    let mut arguments = arguments.clone();
    if let Some(fields) = arguments.as_object_mut() {
        fields.remove("limit");
    }
    format!("{tool} {arguments}")
}

impl Bench {
    pub(crate) async fn say(&self, session: &str, message: &str) -> Came {
        let request = TurnRequest {
            session: Some(SessionId::new(session).expect("a valid id")),
            agent: None,
            input: TurnInput { message: message.into(), ..TurnInput::default() },
            key: None,
            persona: None,
            preset: None,
            model: None,
        };
        let (events, cancel) = (Events::nowhere(), CancellationToken::new());
        match self.engine.converse(&self.caller, request, events, cancel).await.expect("a turn") {
            TurnOutcome::Finished { record, .. } => Came::Turn(record),
            TurnOutcome::Paused { pending, .. } => Came::Waits(pending),
        }
    }

    /// Ends the inventory's process.
    pub(crate) async fn end(self) {
        self.proxy.shutdown().await;
    }
}
