//! An engine without a model whose tools answer as they were recorded.
//!
//! Invariant: a call that was not recorded fails; nothing is made up for it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use throughline_engine::access::Caller;
use throughline_engine::engine::Engine;
use throughline_engine::events::Events;
use throughline_engine::failure::UpstreamError;
use throughline_engine::id::SessionId;
use throughline_engine::request::TurnInput;
use throughline_engine::rule::{OperatorRules, Rule, ServerRules};
use throughline_engine::session::pending::PendingTurn;
use throughline_engine::tool::{ToolDefinition, ToolListing, ToolName, ToolOutput, Tools};
use throughline_engine::turn::{TurnOutcome, TurnRequest};
use throughline_store::memory::Memory;
use throughline_testkit::offline_engine::{self, definition};
use tokio_util::sync::CancellationToken;

/// Reads a file beside this one; `{DATA}` is where the servers' data were.
pub(crate) fn read<T: DeserializeOwned>(name: &str) -> T {
    let path = format!("{}/tests/conversations/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let text = text.replace("{DATA}", "/data").replace("{WEB}", "http://pier.example");
    serde_json::from_str(&text).unwrap()
}

#[derive(Deserialize)]
struct Server {
    reads_only: bool,
    reads: Vec<String>,
    tools: Vec<Value>,
}

#[derive(Clone, Deserialize)]
struct Recorded {
    tool: String,
    arguments: Value,
    text: String,
    json: Option<Value>,
    #[serde(default)]
    is_error: bool,
}

/// Tools that answer what they answered when they were recorded.
pub(crate) struct RecordedTools {
    tools: Vec<ToolDefinition>,
    answers: Vec<Recorded>,
    unrecorded: Mutex<Vec<String>>,
}

impl RecordedTools {
    /// The calls that nothing was recorded for.
    pub(crate) fn unrecorded(&self) -> Vec<String> {
        self.unrecorded.lock().unwrap().clone()
    }
}

#[async_trait]
impl Tools for RecordedTools {
    async fn list(&self) -> ToolListing {
        ToolListing { tools: self.tools.clone(), unavailable: Vec::new() }
    }

    async fn call(
        &self,
        tool: &ToolName,
        arguments: &Value,
        _: CancellationToken,
    ) -> Result<ToolOutput, UpstreamError> {
        let same = |one: &&Recorded| one.tool == tool.name && alike(&one.arguments, arguments);
        let Some(found) = self.answers.iter().find(same).cloned() else {
            let call = json!({"tool": tool.name, "arguments": arguments}).to_string();
            self.unrecorded.lock().unwrap().push(call);
            let text = "this call was not recorded".to_owned();
            return Ok(ToolOutput { text, is_error: true, ..ToolOutput::default() });
        };
        let Recorded { text, json, is_error, .. } = found;
        let json = json.or_else(|| {
            serde_json::from_str(&text).ok().filter(|v: &Value| v.is_object() || v.is_array())
        });
        Ok(ToolOutput { text, json, is_error, ..ToolOutput::default() })
    }
}

/// Whether two values are the same, where 4 and 4.0 are.
fn alike(one: &Value, two: &Value) -> bool {
    match (one, two) {
        (Value::Object(one), Value::Object(two)) => {
            let fits =
                |(key, value): (&String, &Value)| two.get(key).is_some_and(|v| alike(value, v));
            one.len() == two.len() && one.iter().all(fits)
        }
        (Value::Array(one), Value::Array(two)) => {
            one.len() == two.len() && one.iter().zip(two).all(|(one, two)| alike(one, two))
        }
        (Value::Number(one), Value::Number(two)) => one.as_f64() == two.as_f64(),
        (one, two) => one == two,
    }
}

pub(crate) struct Bench {
    engine: Engine,
    pub tools: Arc<RecordedTools>,
}

impl Bench {
    pub(crate) async fn start(set: &str, conversation: &str, names: &[String]) -> Self {
        let mut servers: BTreeMap<String, Server> = read("servers.json");
        let mut answers: BTreeMap<String, Vec<Recorded>> = read(&format!("{set}-answers.json"));
        let (mut tools, mut rules) = (Vec::new(), OperatorRules::new());
        for name in names {
            let server = servers.remove(name).unwrap();
            tools.extend(server.tools.iter().map(|tool| definition(name, tool)));
            let reads = server.reads.into_iter().map(|tool| (tool, Rule::Reads)).collect();
            rules.insert(name.clone(), ServerRules { reads_only: server.reads_only, tools: reads });
        }
        let answers = answers.remove(conversation).unwrap();
        let tools = Arc::new(RecordedTools { tools, answers, unrecorded: Mutex::default() });
        let engine = offline_engine::start(Arc::new(Memory::new()), tools.clone(), rules).await;
        Self { engine, tools }
    }

    pub(crate) async fn query(&self, message: &str) -> TurnOutcome {
        let request = TurnRequest {
            session: Some(SessionId::new("s").unwrap()),
            input: TurnInput { message: message.into(), is_query: true, ..TurnInput::default() },
            ..TurnRequest::default()
        };
        let (caller, cancel) = (Caller::local(), CancellationToken::new());
        self.engine.converse(&caller, request, Events::nowhere(), cancel).await.unwrap()
    }

    pub(crate) async fn approve(&self, pending: &PendingTurn) {
        let session = SessionId::new("s").unwrap();
        for awaited in &pending.awaited {
            let (events, cancel) = (Events::nowhere(), CancellationToken::new());
            let call = (&session, awaited.id.as_str());
            self.engine.decide(&Caller::local(), call, true, events, cancel).await.unwrap();
        }
    }
}
