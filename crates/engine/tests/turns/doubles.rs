//! Doubles of what an engine is made of: a model and tools that do as they are told, an embedder of words.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures::stream::{self, BoxStream, StreamExt};
use serde_json::{Value, json};
use throughline_engine::embed::{Embedder, Vector};
use throughline_engine::failure::{UpstreamError, UpstreamFault};
use throughline_engine::hash::ContentHash;
use throughline_engine::model::{Model, ModelEvent, ModelRequest, StopReason, Usage};
use throughline_engine::tool::{
    ToolDefinition, ToolEffects, ToolListing, ToolName, ToolOutput, Tools,
};
use tokio_util::sync::CancellationToken;

/// What the model does on one call.
#[derive(Clone)]
pub(crate) enum Line {
    Says(&'static str),
    Calls(&'static str, Value),
    /// Something said before the call.
    SaysAndCalls(&'static str, &'static str, Value),
    /// The same call this many times in one message.
    CallsTimes(usize, &'static str, Value),
    Fails,
    Breaks(&'static str),
    /// Says something and ends for another reason than having finished.
    Ends(&'static str, StopReason),
}

/// Plays its lines in order and remembers what it was sent.
pub(crate) struct ScriptedModel {
    name: &'static str,
    lines: Mutex<VecDeque<Line>>,
    pub requests: Mutex<Vec<ModelRequest>>,
}

impl ScriptedModel {
    pub(crate) fn playing(name: &'static str, lines: Vec<Line>) -> Arc<Self> {
        Arc::new(Self { name, lines: Mutex::new(lines.into()), requests: Mutex::default() })
    }
}

#[async_trait]
impl Model for ScriptedModel {
    fn name(&self) -> &str {
        self.name
    }

    async fn stream(
        &self,
        request: &ModelRequest,
        _: CancellationToken,
    ) -> Result<BoxStream<'static, Result<ModelEvent, UpstreamError>>, UpstreamError> {
        self.requests.lock().unwrap().push(request.clone());
        let name = self.name;
        let failed = || UpstreamError::new(name, UpstreamFault::Failed, "it broke");
        let line = self.lines.lock().unwrap().pop_front().expect("a line for every call");
        let usage = Usage { input_tokens: 10, output_tokens: 5, ..Usage::default() };
        let events = match line {
            Line::Says(text) => vec![
                Ok(ModelEvent::Text(text.into())),
                Ok(ModelEvent::Usage(usage)),
                Ok(ModelEvent::Done(StopReason::EndTurn)),
            ],
            Line::Calls(name, input) => called(1, name, &input, usage),
            Line::SaysAndCalls(text, name, input) => {
                let said = Ok(ModelEvent::Text(text.into()));
                [said].into_iter().chain(called(1, name, &input, usage)).collect()
            }
            Line::CallsTimes(times, name, input) => called(times, name, &input, usage),
            Line::Fails => return Err(failed()),
            Line::Breaks(text) => vec![Ok(ModelEvent::Text(text.into())), Err(failed())],
            Line::Ends(text, stop) => {
                vec![Ok(ModelEvent::Text(text.into())), Ok(ModelEvent::Done(stop))]
            }
        };
        Ok(stream::iter(events).boxed())
    }
}

type Events = Vec<Result<ModelEvent, UpstreamError>>;

fn called(times: usize, name: &str, input: &Value, usage: Usage) -> Events {
    let call = |at| {
        let (id, name) = (format!("c{at}"), name.to_owned());
        Ok(ModelEvent::ToolUse { id, name, input: Ok(input.clone()) })
    };
    let end = [Ok(ModelEvent::Usage(usage)), Ok(ModelEvent::Done(StopReason::ToolUse))];
    (1..=times).map(call).chain(end).collect()
}

/// Tools of one server: some read, one changes, one destroys.
#[derive(Default)]
pub(crate) struct ScriptedTools {
    pub called: Mutex<Vec<(String, Value)>>,
    pub description: Mutex<String>,
    /// What tools answer instead of the device that was asked for.
    pub answers: Mutex<HashMap<&'static str, Value>>,
    /// A tool that never answers, and one that fails.
    pub hangs: Mutex<Option<&'static str>>,
    pub fails: Mutex<Option<&'static str>>,
    /// Why the server cannot be asked for its tools.
    pub down: Mutex<Option<&'static str>>,
    /// Tools in place of the usual ones, of whichever servers.
    pub own: Mutex<Vec<ToolDefinition>>,
    /// Servers that cannot be asked beside them.
    pub missing: Mutex<Vec<(String, String)>>,
    /// A tool that answers with an error, and its text.
    pub refuses: Mutex<Option<(&'static str, &'static str)>>,
}

impl ScriptedTools {
    /// The tools that were called, in order.
    pub(crate) fn names(&self) -> Vec<String> {
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
        description: description.into(),
        input_schema: json!({"type": "object", "properties": properties, "required": required}),
        effects,
        ..ToolDefinition::default()
    }
}

#[async_trait]
impl Tools for ScriptedTools {
    async fn list(&self) -> ToolListing {
        if let Some(why) = *self.down.lock().unwrap() {
            let unavailable = vec![("inventory".to_owned(), why.to_owned())];
            return ToolListing { unavailable, ..ToolListing::default() };
        }
        let own = self.own.lock().unwrap().clone();
        if !own.is_empty() {
            return ToolListing { tools: own, unavailable: self.missing.lock().unwrap().clone() };
        }
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
        cancel: CancellationToken,
    ) -> Result<ToolOutput, UpstreamError> {
        self.called.lock().unwrap().push((tool.name.clone(), arguments.clone()));
        let is = |name: &Mutex<Option<&'static str>>| *name.lock().unwrap() == Some(&tool.name);
        if is(&self.fails) {
            return Err(UpstreamError::new("inventory", UpstreamFault::Failed, "it broke"));
        }
        if is(&self.hangs) {
            cancel.cancelled().await;
            let fault = UpstreamFault::Cancelled;
            return Err(UpstreamError::new("inventory", fault, "the call was cancelled"));
        }
        if let Some((_, text)) = self.refuses.lock().unwrap().filter(|(name, _)| *name == tool.name)
        {
            let text = text.to_owned();
            return Ok(ToolOutput { text, is_error: true, ..ToolOutput::default() });
        }
        let scripted = self.answers.lock().unwrap().get(tool.name.as_str()).cloned();
        let json = scripted
            .unwrap_or_else(|| json!({"id": 7, "name": arguments["device"], "status": "active"}));
        Ok(ToolOutput { text: json.to_string(), json: Some(json), ..ToolOutput::default() })
    }
}

/// Words hashed into a small vector: enough to tell texts apart. Counts the texts.
pub(crate) struct WordEmbedder {
    pub name: &'static str,
    pub embedded: AtomicUsize,
}

impl Default for WordEmbedder {
    fn default() -> Self {
        Self { name: "words", embedded: AtomicUsize::new(0) }
    }
}

#[async_trait]
impl Embedder for WordEmbedder {
    fn name(&self) -> &str {
        self.name
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
        self.embedded.fetch_add(texts.len(), Ordering::Relaxed);
        Ok(texts.iter().map(vector).collect())
    }
}
