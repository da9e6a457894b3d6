//! An engine without a model, its tools made of a function, and what a conversation must come to.

use std::fmt::Write;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use serde_json::{Value, json};
use throughline_engine::access::Caller;
use throughline_engine::engine::Engine;
use throughline_engine::events::Events;
use throughline_engine::failure::UpstreamError;
use throughline_engine::id::SessionId;
use throughline_engine::request::TurnInput;
use throughline_engine::rule::{OperatorRules, Rule, ServerRules};
use throughline_engine::session::record::TurnStatus;
use throughline_engine::tool::{ToolDefinition, ToolListing, ToolName, ToolOutput, Tools};
use throughline_engine::turn::{TurnOutcome, TurnRequest};
use throughline_store::memory::Memory;
use throughline_testkit::offline_engine::{self, definition};
use tokio_util::sync::CancellationToken;

/// What a server answers: a value, or why it cannot.
pub(crate) type Answer = Result<Value, String>;

/// What answers a call of a tool with these arguments.
type Answering = fn(&str, &Value) -> Answer;

/// A server: its tools as it lists them, and what they answer.
pub(crate) struct Server {
    pub name: &'static str,
    pub reads_only: bool,
    pub reads: Vec<String>,
    pub tools: Vec<Value>,
    pub answer: Answering,
}

/// A tool of `servers.json`, where the tools of public servers are written down.
pub(crate) fn recorded(name: &str) -> (Vec<Value>, Vec<String>) {
    let path = format!("{}/tests/conversations/servers.json", env!("CARGO_MANIFEST_DIR"));
    let all: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let reads = all[name]["reads"].as_array().unwrap().iter();
    let reads = reads.filter_map(|tool| tool.as_str().map(str::to_owned)).collect();
    (all[name]["tools"].as_array().unwrap().clone(), reads)
}

struct Made {
    tools: Vec<ToolDefinition>,
    answers: Vec<(&'static str, Answering)>,
    calls: Mutex<Vec<String>>,
}

#[async_trait]
impl Tools for Made {
    async fn list(&self) -> ToolListing {
        ToolListing { tools: self.tools.clone(), unavailable: Vec::new() }
    }

    async fn call(
        &self,
        tool: &ToolName,
        arguments: &Value,
        _: CancellationToken,
    ) -> Result<ToolOutput, UpstreamError> {
        self.calls.lock().unwrap().push(format!("{} {arguments}", tool.name));
        let (_, answer) = self.answers.iter().find(|(name, _)| *name == tool.server).unwrap();
        Ok(match answer(&tool.name, arguments) {
            Ok(Value::String(text)) => ToolOutput { text, ..ToolOutput::default() },
            Ok(json) => {
                ToolOutput { text: json.to_string(), json: Some(json), ..ToolOutput::default() }
            }
            Err(text) => ToolOutput { text, is_error: true, ..ToolOutput::default() },
        })
    }
}

/// What a turn must come to.
pub(crate) struct Turn {
    say: &'static str,
    end: End,
    has: Vec<&'static str>,
    not: Vec<&'static str>,
    approves: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Answers,
    /// A question, or a plain "not understood".
    Asks,
    Waits,
}

impl Turn {
    /// What the answer or the call must not hold.
    pub(crate) fn not(mut self, not: &[&'static str]) -> Self {
        self.not = not.to_vec();
        self
    }
}

/// An answer that holds all of these.
pub(crate) fn answers(say: &'static str, has: &[&'static str]) -> Turn {
    Turn { say, end: End::Answers, has: has.to_vec(), not: Vec::new(), approves: true }
}

/// No answer, but a question or an excuse that holds all of these.
pub(crate) fn asks(say: &'static str, has: &[&'static str]) -> Turn {
    Turn { say, end: End::Asks, has: has.to_vec(), not: Vec::new(), approves: true }
}

/// A call that waits for approval, which is given; as text it holds all of these.
pub(crate) fn waits(say: &'static str, has: &[&'static str]) -> Turn {
    Turn { say, end: End::Waits, has: has.to_vec(), not: Vec::new(), approves: true }
}

/// The same, but it is refused.
pub(crate) fn refused(say: &'static str, has: &[&'static str]) -> Turn {
    Turn { approves: false, ..waits(say, has) }
}

/// Plays a conversation; every turn must come to what it says.
pub(crate) async fn check(servers: Vec<Server>, turns: Vec<Turn>) {
    let (engine, made) = start(servers).await;
    let mut wrong = String::new();
    for turn in &turns {
        let (end, text) = play(&engine, turn).await;
        let calls = std::mem::take(&mut *made.calls.lock().unwrap());
        let held = format!("{text}\n{}", calls.join("\n"));
        let lacks = turn.has.iter().filter(|part| !held.contains(**part));
        let has = turn.not.iter().filter(|part| text.contains(**part));
        let (lacks, has): (Vec<_>, Vec<_>) = (lacks.collect(), has.collect());
        if end != turn.end || !lacks.is_empty() || !has.is_empty() {
            let _ = write!(
                wrong,
                "\n> {}\n  {end:?} instead of {:?}, lacks {lacks:?}, has {has:?}\n  {text}\n  {}",
                turn.say,
                turn.end,
                calls.join("\n  ")
            );
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

async fn play(engine: &Engine, turn: &Turn) -> (End, String) {
    let session = SessionId::new("s").unwrap();
    let request = TurnRequest {
        session: Some(session.clone()),
        input: TurnInput { message: turn.say.into(), is_query: true, ..TurnInput::default() },
        ..TurnRequest::default()
    };
    let (caller, cancel) = (Caller::local(), CancellationToken::new());
    match engine.converse(&caller, request, Events::nowhere(), cancel).await.unwrap() {
        TurnOutcome::Finished { record, .. } => {
            let failed = record.status == TurnStatus::Failed;
            (if failed { End::Asks } else { End::Answers }, record.reply.clone())
        }
        TurnOutcome::Paused { pending, .. } => {
            let mut text = String::new();
            for call in &pending.awaited {
                let _ = write!(text, "{} {}", call.tool.name, call.arguments);
                let (events, cancel) = (Events::nowhere(), CancellationToken::new());
                let decided = (&session, call.id.as_str());
                engine.decide(&caller, decided, turn.approves, events, cancel).await.unwrap();
            }
            (End::Waits, text)
        }
    }
}

async fn start(servers: Vec<Server>) -> (Engine, Arc<Made>) {
    let (mut tools, mut answers, mut rules) = (Vec::new(), Vec::new(), OperatorRules::new());
    for server in servers {
        tools.extend(server.tools.iter().map(|tool| definition(server.name, tool)));
        answers.push((server.name, server.answer));
        let reads = server.reads.into_iter().map(|tool| (tool, Rule::Reads)).collect();
        let rule = ServerRules { reads_only: server.reads_only, tools: reads };
        rules.insert(server.name.to_owned(), rule);
    }
    let made = Arc::new(Made { tools, answers, calls: Mutex::default() });
    (offline_engine::start(Arc::new(Memory::new()), made.clone(), rules).await, made)
}

/// A tool with this schema, which says that it only reads.
pub(crate) fn reading(name: &str, description: &str, properties: Value, required: Value) -> Value {
    let mut tool = writing(name, description, properties, required);
    tool["annotations"] = json!({"readOnlyHint": true});
    tool
}

/// A tool with this schema, which says nothing about what it does.
pub(crate) fn writing(name: &str, description: &str, properties: Value, required: Value) -> Value {
    let schema = json!({"type": "object", "properties": properties, "required": required});
    json!({"name": name, "description": description, "inputSchema": schema})
}
