//! Runs the tool calls of turns and of callers outside a turn. Only look-ups ([`crate::resolve`]) call tools
//! otherwise.
//!
//! A call is checked in this order: the tool is in the turn's list, its definition is the pinned one, the
//! arguments match its schema, and it is permitted ([`crate::permission`]). A call of a turn that may change
//! something is noted before it is made; outside a turn, only a call with an idempotency key is. A result is stored
//! whole up to the limit; the model sees as much as fits the rest of the window.
//!
//! Invariant: every call is checked, and in a turn every call that may change something is noted first.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::de::IgnoredAny;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::events::{Events, TurnEvent};
use crate::exact;
use crate::failure::UpstreamFault;
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
use crate::tool_spec::spec_of;
use crate::trace;

use super::notes::CallNotes;

/// The start of the error of a call whose arguments are wrong.
const MISFIT: &str = "the arguments do not fit its schema";

#[derive(Debug, Clone)]
pub struct RequestedCall {
    pub id: String,
    /// The tool, or a name that matches none.
    pub tool: Result<ToolDefinition, String>,
    /// The arguments, or the text if it is not JSON or has a number that cannot be held.
    pub arguments: Result<Value, String>,
    /// The round within the turn, from 1.
    pub round: u32,
    /// What the model said before the call.
    pub said_before: String,
    pub approved: bool,
    /// Why it needs approval if it changes something, besides the rules.
    pub suspicion: Option<String>,
}

/// A call that passed the checks.
#[derive(Debug, Clone)]
pub struct ReadyCall {
    call: RequestedCall,
    effect: Effect,
}

impl ReadyCall {
    pub fn reads(&self) -> bool {
        self.effect == Effect::Reads
    }
}

/// The result of checking a call.
pub enum Verdict {
    Ready(Box<ReadyCall>),
    /// It cannot be made; the record has the reason.
    Refused(Box<CallRecord>),
    /// It needs approval.
    Waits(AwaitedCall),
}

pub struct ToolRunner {
    pub tools: Arc<dyn Tools>,
    pub pins: Arc<Pins>,
    /// Cached look-ups that a change invalidates.
    pub resolver: Arc<Resolver>,
    pub limits: Arc<Limits>,
}

#[derive(Clone, Copy)]
pub struct TurnCalls<'a> {
    pub runner: &'a ToolRunner,
    pub policy: &'a Policy,
    /// What tools and people said.
    pub taint: &'a Mutex<Taint>,
    /// Where calls are noted; `None` outside a session.
    pub notes: Option<&'a CallNotes>,
    pub events: &'a Events,
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
                let shown = || raw.chars().take(200).collect::<String>();
                let reason = match serde_json::from_str::<IgnoredAny>(raw) {
                    Ok(_) => exact::refusal(raw).unwrap_or_else(shown),
                    Err(_) => format!("the arguments are not JSON: {}", shown()),
                };
                return refuse(&call, reason);
            }
        };
        let pin = self.runner.pins.state(&definition);
        // Before its schema, which may be the reason.
        if let Some(reason) = pin.refusal() {
            return refuse(&call, format!("it may not run: {reason}"));
        }
        if let Err(reason) = schema::validate(&definition.input_schema, &arguments).await {
            return refuse(&call, format!("{MISFIT}: {reason}"));
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
        match (
            permission_as_pinned(definition, arguments, pin, self.policy, &taint),
            &call.suspicion,
        ) {
            (Permission::Run(Effect::Changes), Some(reason)) => Permission::Ask(reason.clone()),
            (decided, _) => decided,
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

    /// A call that the engine itself answers.
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
                    format!("it was not made, because it could not be noted first: {error}"),
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
            Err(error) => {
                // It had been begun; nobody can say whether it was carried out.
                let given_up =
                    matches!(error.fault, UpstreamFault::Cancelled | UpstreamFault::TimedOut);
                record.outcome_unknown = effect == Effect::Changes && given_up;
                record.error = Some(error.to_string());
            }
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

/// Whether a call may run, with the state of the tool's pin. What is told of a tool beforehand is decided here, too.
pub fn permission_as_pinned(
    definition: &ToolDefinition,
    arguments: &Value,
    pin: &PinState,
    policy: &Policy,
    taint: &Taint,
) -> Permission {
    if let Some(reason) = pin.refusal() {
        return Permission::Deny(reason);
    }
    match (permission(definition, arguments, policy, taint), pin) {
        (Permission::Run(_), PinState::Twin(other)) if !policy.of(definition).is_vouched_for() => {
            Permission::Ask(format!(
                "it has the same name as {other}, and nobody has approved it yet"
            ))
        }
        (decided, _) => decided,
    }
}

fn refuse(call: &RequestedCall, reason: String) -> Verdict {
    Verdict::Refused(Box::new(refused(call, reason)))
}

/// The record of a call that is not made.
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

/// Adds the definition to the error of a call whose arguments do not match it, for a model that has not seen it.
pub fn tell_definition(record: &mut CallRecord, definition: &ToolDefinition) {
    let Some(error) = record.error.as_mut().filter(|error| error.starts_with(MISFIT)) else {
        return;
    };
    if let Ok(definition) = serde_json::to_string(&spec_of(definition)) {
        error.push_str("\nits definition: ");
        error.push_str(&definition);
    }
}

/// The record of a call that was not approved.
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
