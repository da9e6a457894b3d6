//! Spans of a turn, named by the OpenTelemetry conventions for generative AI.
//!
//! The server decides where they go; without a subscriber a span costs a comparison. What a subscriber may see is
//! decided here.
//!
//! Invariant: names, counts and outcomes only; never a prompt, a reply, an argument or a result.

use tracing::Span;
use tracing::field::Empty;

use crate::model::{ModelRequest, StopReason, Usage};
use crate::session::LoadedSession;
use crate::session::record::{CallRecord, TurnKind, TurnRecord};
use crate::store::Store;
use crate::tool::ToolName;

/// The target of all spans here, for filtering.
pub const TARGET: &str = "throughline::trace";

pub fn turn(session: &LoadedSession, agent: &str, kind: TurnKind) -> Span {
    tracing::info_span!(
        target: TARGET,
        "turn",
        "otel.name" = format!("invoke_agent {agent}"),
        "otel.kind" = "internal",
        "otel.status_code" = Empty,
        "gen_ai.operation.name" = "invoke_agent",
        "gen_ai.agent.name" = agent,
        "gen_ai.conversation.id" = %session.head.id,
        "throughline.turn.kind" = kind.as_str(),
        "throughline.turn.number" = Empty,
        "throughline.turn.status" = Empty,
        "error.type" = Empty,
    )
}

/// Marks a turn that waits for approval.
pub fn turn_paused(span: &Span) {
    span.record("throughline.turn.status", "waiting_for_approval");
}

/// Marks a turn that is in the log.
pub fn turn_kept(span: &Span, turn: u64, record: &TurnRecord) {
    span.record("throughline.turn.number", number(turn));
    span.record("throughline.turn.status", record.status.as_str());
    if let Some(error) = &record.error {
        failed(span, &error.code);
    }
}

/// Marks a turn whose client has to run tools before it continues.
pub fn turn_waits_for_tools(span: &Span) {
    span.record("throughline.turn.status", "waiting_for_tools");
}

/// Parameters of a model call, as far as known.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ModelParameters {
    /// Maximum reply.
    pub reply_tokens_max: Option<u32>,
    pub temperature: Option<f64>,
}

impl From<&ModelRequest> for ModelParameters {
    fn from(request: &ModelRequest) -> Self {
        let ModelRequest { reply_tokens_max, temperature, .. } = request;
        Self { reply_tokens_max: Some(*reply_tokens_max), temperature: plain(*temperature) }
    }
}

/// Converts a number without changing its decimal digits: widening 0.31 would give 0.3100000023841858.
pub fn plain(number: f32) -> Option<f64> {
    number.to_string().parse().ok()
}

/// A call of a model; `name` is `provider/model`.
pub fn model_call(name: &str, asked: ModelParameters) -> Span {
    let (provider, model) = name.split_once('/').unwrap_or(("", name));
    tracing::info_span!(
        target: TARGET,
        "model_call",
        "otel.name" = format!("chat {model}"),
        "otel.kind" = "client",
        "otel.status_code" = Empty,
        "gen_ai.operation.name" = "chat",
        "gen_ai.provider.name" = provider,
        "gen_ai.request.model" = model,
        "gen_ai.request.max_tokens" = asked.reply_tokens_max.map(i64::from),
        "gen_ai.request.temperature" = asked.temperature,
        "gen_ai.response.finish_reasons" = Empty,
        "gen_ai.usage.input_tokens" = Empty,
        "gen_ai.usage.output_tokens" = Empty,
        "gen_ai.usage.cache_read.input_tokens" = Empty,
        "gen_ai.usage.cache_creation.input_tokens" = Empty,
        "error.type" = Empty,
    )
}

/// Records the result of a model call; an error by its kind.
pub fn model_ended(span: &Span, usage: Option<Usage>, ended: Result<Option<StopReason>, &str>) {
    if let Some(usage) = usage {
        used(span, usage);
    }
    match ended {
        Ok(reason) => {
            let reason = match reason {
                Some(StopReason::EndTurn) => "stop",
                Some(StopReason::ToolUse) => "tool_calls",
                Some(StopReason::MaxTokens) => "length",
                Some(StopReason::Refusal) => "content_filter",
                None => "unknown",
            };
            span.record("gen_ai.response.finish_reasons", reason);
        }
        Err(kind) => failed(span, kind),
    }
}

fn used(span: &Span, usage: Usage) {
    span.record("gen_ai.usage.input_tokens", number(usage.input_tokens));
    span.record("gen_ai.usage.output_tokens", number(usage.output_tokens));
    span.record("gen_ai.usage.cache_read.input_tokens", number(usage.cache_read_tokens));
    span.record("gen_ai.usage.cache_creation.input_tokens", number(usage.cache_write_tokens));
}

pub fn tool_call(tool: &ToolName, id: &str) -> Span {
    tracing::info_span!(
        target: TARGET,
        "tool_call",
        "otel.name" = format!("execute_tool {}", tool.name),
        "otel.kind" = "client",
        "otel.status_code" = Empty,
        "gen_ai.operation.name" = "execute_tool",
        "gen_ai.tool.name" = tool.name.as_str(),
        "gen_ai.tool.call.id" = id,
        "gen_ai.tool.type" = "extension",
        "throughline.mcp.server" = tool.server.as_str(),
        "error.type" = Empty,
    )
}

/// Records the result of a tool call.
pub fn tool_ended(span: &Span, record: &CallRecord) {
    if !record.ok() {
        let kind = if record.output.is_some() { "tool_error" } else { "call_failed" };
        failed(span, kind);
    }
}

/// The commit of a turn.
pub fn commit(store: &dyn Store) -> Span {
    tracing::info_span!(
        target: TARGET,
        "commit",
        "otel.name" = format!("commit {}", store.facts().backend),
        "otel.kind" = "client",
        "otel.status_code" = Empty,
        "db.operation.name" = "commit",
        "throughline.store.backend" = store.facts().backend,
        "error.type" = Empty,
    )
}

/// A count as an attribute value; an unsigned one would be exported as text.
fn number(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

pub fn failed(span: &Span, kind: &str) {
    span.record("otel.status_code", "error");
    span.record("error.type", kind);
}
