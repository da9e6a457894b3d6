//! Calling a tool on behalf of a turn: the only way there is.
//!
//! A call is checked in this order: the tool is known to the agent, its definition is the pinned one, the
//! arguments fit its schema, and nobody has to approve it first. What a tool answers is kept whole up to
//! the limit; what the model is shown of it fits what is left of the window.
//!
//! Invariant: no check, no call.

use std::time::{Duration, Instant};

use serde_json::Value;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::agent::Agent;
use crate::engine::Engine;
use crate::session::pending::AwaitedCall;
use crate::session::record::CallRecord;
use crate::tool::{ToolDefinition, ToolName, ToolOutput};
use crate::trace;
use crate::turn::{Events, TurnEvent};

/// A call that is wanted.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// The call's id.
    pub id: String,
    /// The tool, or the name that names none.
    pub tool: Result<ToolDefinition, String>,
    /// The arguments, or the text that was no JSON.
    pub arguments: Result<Value, String>,
    /// Which round of the turn, from 1.
    pub round: u32,
    /// What was said before the call.
    pub said_before: String,
    /// Whether somebody has approved it.
    pub approved: bool,
    /// Why it needs approval, beyond what the agent says.
    pub suspicion: Option<String>,
}

/// What became of a wanted call.
pub enum Checked {
    /// It may be made.
    Ready(Wanted),
    /// It cannot be made; the record says why.
    Refused(Box<CallRecord>),
    /// Somebody has to approve it.
    Waits(AwaitedCall),
}

/// Makes the calls of one turn.
pub struct Caller<'a> {
    /// The engine.
    pub engine: &'a Engine,
    /// The agent.
    pub agent: &'a Agent,
    /// Who is told.
    pub events: &'a Events,
    /// Stops the calls.
    pub cancel: &'a CancellationToken,
}

impl Caller<'_> {
    /// Checks a call without making it.
    pub fn check(&self, wanted: Wanted) -> Checked {
        let definition = match &wanted.tool {
            Ok(definition) => definition.clone(),
            Err(name) => return refuse(&wanted, format!("there is no tool {name}")),
        };
        let arguments = match &wanted.arguments {
            Ok(arguments) => arguments.clone(),
            Err(raw) => {
                let shown: String = raw.chars().take(200).collect();
                let reason = format!("the arguments are not JSON: {shown}");
                return refuse(&wanted, reason);
            }
        };
        if let Some(reason) = self.engine.pins.state(&definition).refusal() {
            return refuse(&wanted, format!("it may not run: {reason}"));
        }
        if let Err(reason) = validate(&definition.input_schema, &arguments) {
            let reason = format!("the arguments do not fit its schema: {reason}");
            return refuse(&wanted, reason);
        }
        let reason = self.agent.approval_reason(&definition).or_else(|| wanted.suspicion.clone());
        match reason {
            Some(reason) if !wanted.approved => {
                let id = wanted.id.clone();
                let tool = definition.tool;
                let (round, said_before) = (wanted.round, wanted.said_before);
                Checked::Waits(AwaitedCall {
                    id,
                    tool,
                    arguments,
                    reason,
                    round,
                    said_before,
                    approved: None,
                })
            }
            _ => Checked::Ready(wanted),
        }
    }

    /// Makes a call that was approved, or records that it was not.
    pub async fn make_decided(
        &self,
        awaited: &AwaitedCall,
        tools: &[ToolDefinition],
    ) -> CallRecord {
        if awaited.approved != Some(true) {
            return not_approved(awaited);
        }
        let tool = tools.iter().find(|definition| definition.tool == awaited.tool).cloned();
        let wanted = Wanted {
            id: awaited.id.clone(),
            tool: tool.ok_or_else(|| awaited.tool.to_string()),
            arguments: Ok(awaited.arguments.clone()),
            round: awaited.round,
            said_before: awaited.said_before.clone(),
            approved: true,
            suspicion: None,
        };
        match self.check(wanted) {
            Checked::Ready(wanted) => self.make(wanted).await,
            Checked::Refused(record) => *record,
            Checked::Waits(awaited) => not_approved(&awaited),
        }
    }

    /// Makes a call that was checked.
    pub async fn make(&self, wanted: Wanted) -> CallRecord {
        let (Ok(definition), Ok(arguments)) = (&wanted.tool, &wanted.arguments) else {
            unreachable!("an unchecked call is never made");
        };
        let tool = definition.tool.clone();
        self.events.tell(TurnEvent::ToolCall {
            id: wanted.id.clone(),
            tool: tool.clone(),
            arguments: arguments.clone(),
        });
        let changing = match definition.changes_something() {
            true => Some(self.engine.look_ups.changes.begin().await),
            false => None,
        };
        let started = Instant::now();
        let span = trace::tool_call(&tool, &wanted.id);
        let calling = self.engine.tools.call(&tool, arguments, self.cancel.child_token());
        let answered = calling.instrument(span.clone()).await;
        let took = started.elapsed();
        if let Some(changing) = changing {
            changing.end().await;
        }
        let mut record = record_of(&wanted, tool.clone(), arguments.clone());
        record.took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        match answered {
            Ok(output) => {
                let most = self.engine.limits().tool_result_bytes_max;
                record.output = Some(bounded(output, most));
            }
            Err(error) => record.error = Some(error.to_string()),
        }
        trace::tool_ended(&span, &record);
        observe(&record, took);
        self.events.tell(TurnEvent::ToolResult {
            id: wanted.id,
            tool,
            ok: record.ok(),
            text: record.result_text(),
        });
        record
    }
}

fn refuse(wanted: &Wanted, reason: String) -> Checked {
    Checked::Refused(Box::new(refused(wanted, reason)))
}

/// A record for a call that is not made.
pub fn refused(wanted: &Wanted, reason: String) -> CallRecord {
    let tool = match &wanted.tool {
        Ok(definition) => definition.tool.clone(),
        Err(name) => ToolName { server: String::new(), name: name.clone() },
    };
    let arguments = wanted.arguments.clone().unwrap_or(Value::Null);
    let mut record = record_of(wanted, tool, arguments);
    record.error = Some(reason);
    record
}

/// A record for a call that nobody approved.
fn not_approved(awaited: &AwaitedCall) -> CallRecord {
    CallRecord {
        id: awaited.id.clone(),
        tool: awaited.tool.clone(),
        arguments: awaited.arguments.clone(),
        output: None,
        error: Some("the user did not approve this call".into()),
        round: awaited.round,
        said_before: awaited.said_before.clone(),
        shown_bytes: None,
        took_ms: 0,
    }
}

fn record_of(wanted: &Wanted, tool: ToolName, arguments: Value) -> CallRecord {
    CallRecord {
        id: wanted.id.clone(),
        tool,
        arguments,
        output: None,
        error: None,
        round: wanted.round,
        said_before: wanted.said_before.clone(),
        shown_bytes: None,
        took_ms: 0,
    }
}

/// The first few reasons why `arguments` do not fit `schema`.
pub fn validate(schema: &Value, arguments: &Value) -> Result<(), String> {
    let validator = match jsonschema::validator_for(schema) {
        Ok(validator) => validator,
        Err(error) => return Err(format!("its schema is not valid: {error}")),
    };
    let reasons: Vec<String> = validator
        .iter_errors(arguments)
        .take(3)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    if reasons.is_empty() { Ok(()) } else { Err(reasons.join("; ")) }
}

/// Cuts an answer at the limit, and says so.
fn bounded(output: ToolOutput, most: usize) -> ToolOutput {
    let json_size = output.json.as_ref().map_or(0, |json| json.to_string().len());
    if output.text.len() <= most && json_size <= most {
        return output;
    }
    let mut cut = most.min(output.text.len());
    while !output.text.is_char_boundary(cut) {
        cut -= 1;
    }
    ToolOutput {
        text: output.text[..cut].to_owned(),
        json: output.json.filter(|_| json_size <= most),
        truncated: true,
        ..output
    }
}

fn observe(record: &CallRecord, took: Duration) {
    let outcome = if record.ok() { "ok" } else { "failed" };
    let tool = record.tool.to_string();
    metrics::counter!("throughline_tool_calls_total", "tool" => tool.clone(), "outcome" => outcome)
        .increment(1);
    metrics::histogram!("throughline_tool_seconds", "tool" => tool).record(took.as_secs_f64());
}
