//! Calling a tool on behalf of a turn: the only way there is.
//!
//! A call is checked in this order: the tool is in the turn's own list, its definition is the pinned one, the
//! arguments fit its schema, and it has what it needs to run ([`crate::permission`]). One that may change
//! something is noted before it is made. What a tool answers is kept whole up to the limit; what the model is
//! shown of it fits what is left of the window.
//!
//! Invariant: no check, no call; and no call that may change something without a note.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::events::{Events, TurnEvent};
use crate::labels;
use crate::limits::Limits;
use crate::permission::{Effect, Permission, Policy, Taint, permission};
use crate::pin::{PinState, Pins};
use crate::resolve::Resolver;
use crate::schema;
use crate::session::pending::AwaitedCall;
use crate::session::record::CallRecord;
use crate::session::unsettled::UnsettledCall;
use crate::tool::{ToolDefinition, ToolName, ToolOutput, Tools};
use crate::trace;

use super::notes::CallNotes;

/// A call that is wanted.
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
    /// Why it needs approval if it changes something, beyond what the rules say.
    pub suspicion: Option<String>,
}

/// A call that was checked.
#[derive(Debug, Clone)]
pub struct ReadyCall {
    call: RequestedCall,
    effect: Effect,
}

impl ReadyCall {
    /// Whether it changes nothing.
    pub fn reads(&self) -> bool {
        self.effect == Effect::Reads
    }
}

/// What became of a call that is wanted.
pub enum Verdict {
    /// It may be made.
    Ready(Box<ReadyCall>),
    /// It cannot be made; the record says why.
    Refused(Box<CallRecord>),
    /// Somebody has to approve it.
    Waits(AwaitedCall),
}

/// Makes calls; the only way there is.
pub struct ToolRunner {
    pub tools: Arc<dyn Tools>,
    /// Which of them may run.
    pub pins: Arc<Pins>,
    /// Looked-up values that a change makes stale.
    pub resolver: Arc<Resolver>,
    /// Bounds.
    pub limits: Arc<Limits>,
}

#[derive(Clone, Copy)]
pub struct TurnCalls<'a> {
    /// Makes them.
    pub runner: &'a ToolRunner,
    /// The rules that hold.
    pub policy: &'a Policy,
    /// What tools and people said.
    pub taint: &'a Mutex<Taint>,
    /// Where calls are noted; nowhere outside a session.
    pub notes: Option<&'a CallNotes>,
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
        let pin = self.runner.pins.state(&definition);
        if let Some(reason) = pin.refusal() {
            return refuse(&call, format!("it may not run: {reason}"));
        }
        if let Err(reason) = schema::validate(&definition.input_schema, &arguments).await {
            let reason = format!("the arguments do not fit its schema: {reason}");
            return refuse(&call, reason);
        }
        let effect = match self.permission(&definition, &arguments, &pin, &call) {
            Permission::Deny(reason) => return refuse(&call, format!("it may not run: {reason}")),
            Permission::Run(effect) => effect,
            Permission::Ask(_) if call.approved => Effect::Changes,
            Permission::Ask(reason) => {
                return Verdict::Waits(AwaitedCall {
                    id: call.id,
                    session_scope: self.policy.of(&definition).ask.is_none(),
                    tool: definition.tool,
                    arguments,
                    reason,
                    round: call.round,
                    said_before: call.said_before,
                    approved: None,
                });
            }
        };
        Verdict::Ready(Box::new(ReadyCall { call, effect }))
    }

    fn permission(
        &self,
        definition: &ToolDefinition,
        arguments: &Value,
        pin: &PinState,
        call: &RequestedCall,
    ) -> Permission {
        let taint = self.taint.lock().unwrap_or_else(PoisonError::into_inner);
        let decided = permission(definition, arguments, self.policy, &taint);
        match (decided, pin, &call.suspicion) {
            (Permission::Run(_), PinState::Twin(other), _)
                if !self.policy.of(definition).is_vouched_for() =>
            {
                Permission::Ask(format!(
                    "it has the same name as {other}, and nobody has vouched for it yet"
                ))
            }
            (Permission::Run(Effect::Changes), _, Some(reason)) => Permission::Ask(reason.clone()),
            (decided, _, _) => decided,
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

    /// A call that the engine answers itself.
    pub fn answered(&self, call: &RequestedCall, tool: ToolName, output: ToolOutput) -> CallRecord {
        let arguments = call.arguments.clone().unwrap_or(Value::Null);
        self.events.tell(TurnEvent::ToolCall {
            id: call.id.clone(),
            tool: tool.clone(),
            arguments: arguments.clone(),
        });
        let mut record = record_of(call, tool.clone(), arguments);
        record.output = Some(output.cut(self.runner.limits.tool_result_bytes_max));
        let (ok, text) = (record.ok(), record.result_text());
        self.events.tell(TurnEvent::ToolResult { id: call.id.clone(), tool, ok, text });
        record
    }

    /// Makes a call that was checked.
    pub async fn make(&self, ready: Box<ReadyCall>) -> CallRecord {
        let ReadyCall { call, effect } = *ready;
        let (Ok(definition), Ok(arguments)) = (&call.tool, &call.arguments) else {
            unreachable!("an unchecked call is never made");
        };
        let tool = definition.tool.clone();
        if let (Effect::Changes, Some(notes)) = (effect, self.notes) {
            let note = UnsettledCall {
                id: call.id.clone(),
                tool: tool.clone(),
                arguments: arguments.clone(),
                idempotent: definition.effects.idempotent == Some(true),
                round: call.round,
            };
            if let Err(error) = notes.begin(&note).await {
                return refused(
                    &call,
                    format!("it was not made, since it could not be noted: {error}"),
                );
            }
        }
        self.events.tell(TurnEvent::ToolCall {
            id: call.id.clone(),
            tool: tool.clone(),
            arguments: arguments.clone(),
        });
        let changing = match effect {
            Effect::Changes => Some(self.runner.resolver.look_ups.changes.begin().await),
            Effect::Reads => None,
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
        record.closed_world = definition.effects.open_world == Some(false);
        record.took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        match answered {
            Ok(output) => {
                let most = self.runner.limits.tool_result_bytes_max;
                record.output = Some(output.cut(most));
            }
            Err(error) => record.error = Some(error.to_string()),
        }
        self.taint.lock().unwrap_or_else(PoisonError::into_inner).answer(&record);
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
        error: Some("the user did not approve this call".into()),
        round: awaited.round,
        said_before: awaited.said_before.clone(),
        ..CallRecord::default()
    }
}

fn record_of(call: &RequestedCall, tool: ToolName, arguments: Value) -> CallRecord {
    CallRecord {
        id: call.id.clone(),
        tool,
        arguments,
        round: call.round,
        said_before: call.said_before.clone(),
        ..CallRecord::default()
    }
}

fn observe(record: &CallRecord, took: Duration) {
    let outcome = if record.ok() { "ok" } else { "failed" };
    let tool = labels::bounded("tool", &record.tool.to_string());
    metrics::counter!("throughline_tool_calls_total", "tool" => tool.clone(), "outcome" => outcome)
        .increment(1);
    metrics::histogram!("throughline_tool_seconds", "tool" => tool).record(took.as_secs_f64());
}
