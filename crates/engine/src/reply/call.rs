//! Calling a tool on behalf of a turn: the only way there is.
//!
//! A call is checked in this order: the tool is known to the agent, its definition is the pinned one, the
//! arguments fit its schema, and nobody has to approve it first. What a tool answers is kept whole up to
//! the limit; what the model is shown of it fits what is left of the window.
//!
//! Invariant: no check, no call.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::agent::Agent;
use crate::events::{Events, TurnEvent};
use crate::labels;
use crate::limits::Limits;
use crate::pin::Pins;
use crate::resolve::Resolver;
use crate::schema;
use crate::session::pending::AwaitedCall;
use crate::session::record::CallRecord;
use crate::tool::{ToolDefinition, ToolName, ToolOutput, Tools};
use crate::trace;

/// A call that is call.
#[derive(Debug, Clone)]
pub struct RequestedCall {
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

/// What became of a call call.
pub enum Verdict {
    /// It may be made.
    Ready(RequestedCall),
    /// It cannot be made; the record says why.
    Refused(Box<CallRecord>),
    /// Somebody has to approve it.
    Waits(AwaitedCall),
}

/// Makes calls; the only way there is.
pub struct ToolRunner {
    /// The tools.
    pub tools: Arc<dyn Tools>,
    /// Which of them may run.
    pub pins: Arc<Pins>,
    /// Looked-up values that a change makes stale.
    pub resolver: Arc<Resolver>,
    /// Bounds.
    pub limits: Arc<Limits>,
}

/// The calls of one turn.
#[derive(Clone, Copy)]
pub struct TurnCalls<'a> {
    /// Makes them.
    pub runner: &'a ToolRunner,
    /// The agent, whose rules of approval hold.
    pub agent: &'a Agent,
    /// Who is told.
    pub events: &'a Events,
    /// Stops the calls.
    pub cancel: &'a CancellationToken,
}

impl TurnCalls<'_> {
    /// Checks a call without making it.
    pub async fn check(&self, call: RequestedCall) -> Verdict {
        let definition = match &call.tool {
            Ok(definition) => definition.clone(),
            Err(name) => return refuse(&call, format!("there is no tool {name}")),
        };
        let arguments = match &call.arguments {
            Ok(arguments) => arguments.clone(),
            Err(raw) => {
                let shown: String = raw.chars().take(200).collect();
                let reason = format!("the arguments are not JSON: {shown}");
                return refuse(&call, reason);
            }
        };
        if let Some(reason) = self.runner.pins.state(&definition).refusal() {
            return refuse(&call, format!("it may not run: {reason}"));
        }
        if let Err(reason) = schema::validate(&definition.input_schema, &arguments).await {
            let reason = format!("the arguments do not fit its schema: {reason}");
            return refuse(&call, reason);
        }
        let reason = self.agent.approval_reason(&definition).or_else(|| call.suspicion.clone());
        match reason {
            Some(reason) if !call.approved => {
                let id = call.id.clone();
                let tool = definition.tool;
                let (round, said_before) = (call.round, call.said_before);
                Verdict::Waits(AwaitedCall {
                    id,
                    tool,
                    arguments,
                    reason,
                    round,
                    said_before,
                    approved: None,
                })
            }
            _ => Verdict::Ready(call),
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
        let call = RequestedCall {
            id: awaited.id.clone(),
            tool: tool.ok_or_else(|| awaited.tool.to_string()),
            arguments: Ok(awaited.arguments.clone()),
            round: awaited.round,
            said_before: awaited.said_before.clone(),
            approved: true,
            suspicion: None,
        };
        match self.check(call).await {
            Verdict::Ready(call) => self.make(call).await,
            Verdict::Refused(record) => *record,
            Verdict::Waits(awaited) => not_approved(&awaited),
        }
    }

    /// Makes a call that was checked.
    pub async fn make(&self, call: RequestedCall) -> CallRecord {
        let (Ok(definition), Ok(arguments)) = (&call.tool, &call.arguments) else {
            unreachable!("an unchecked call is never made");
        };
        let tool = definition.tool.clone();
        self.events.tell(TurnEvent::ToolCall {
            id: call.id.clone(),
            tool: tool.clone(),
            arguments: arguments.clone(),
        });
        let changing = match definition.changes_something() {
            true => Some(self.runner.resolver.look_ups.changes.begin().await),
            false => None,
        };
        let started = Instant::now();
        let span = trace::tool_call(&tool, &call.id);
        let calling = self.runner.tools.call(&tool, arguments, self.cancel.child_token());
        let answered = calling.instrument(span.clone()).await;
        let took = started.elapsed();
        if let Some(changing) = changing {
            changing.end().await;
        }
        let mut record = record_of(&call, tool.clone(), arguments.clone());
        record.took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        match answered {
            Ok(output) => {
                let most = self.runner.limits.tool_result_bytes_max;
                record.output = Some(bounded(output, most));
            }
            Err(error) => record.error = Some(error.to_string()),
        }
        trace::tool_ended(&span, &record);
        observe(&record, took);
        self.events.tell(TurnEvent::ToolResult {
            id: call.id,
            tool,
            ok: record.ok(),
            text: record.result_text(),
        });
        record
    }
}

fn refuse(call: &RequestedCall, reason: String) -> Verdict {
    Verdict::Refused(Box::new(refused(call, reason)))
}

/// A record for a call that is not made.
pub fn refused(call: &RequestedCall, reason: String) -> CallRecord {
    let tool = match &call.tool {
        Ok(definition) => definition.tool.clone(),
        Err(name) => ToolName { server: String::new(), name: name.clone() },
    };
    let arguments = call.arguments.clone().unwrap_or(Value::Null);
    let mut record = record_of(call, tool, arguments);
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

fn record_of(call: &RequestedCall, tool: ToolName, arguments: Value) -> CallRecord {
    CallRecord {
        id: call.id.clone(),
        tool,
        arguments,
        output: None,
        error: None,
        round: call.round,
        said_before: call.said_before.clone(),
        shown_bytes: None,
        took_ms: 0,
    }
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
    let tool = labels::bounded("tool", &record.tool.to_string());
    metrics::counter!("throughline_tool_calls_total", "tool" => tool.clone(), "outcome" => outcome)
        .increment(1);
    metrics::histogram!("throughline_tool_seconds", "tool" => tool).record(took.as_secs_f64());
}
