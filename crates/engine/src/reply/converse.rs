//! The reply of a model: it answers, calls tools, sees their results, and answers again.
//!
//! Rounds, calls, bytes and time are limited. Results that exceed the rest of the window, by our count of tokens,
//! are cut for the model; the log has all of them.
//!
//! Invariant: each round's request is the assembled one plus the previous rounds, nothing else.

use std::time::{Duration, Instant};

use futures::StreamExt;
use futures::future::join_all;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::events::TurnEvent;
use crate::failure::{UpstreamError, UpstreamFault};
use crate::model::{Model, ModelEvent, ModelRequest, StopReason, Usage};
use crate::models::ModelChoice;
use crate::rebuild;
use crate::session::pending::AwaitedCall;
use crate::session::record::{CallRecord, MODEL_STAGE, TurnError, TurnStatus};
use crate::tokens;
use crate::tool::ToolDefinition;
use crate::tool_search;
use crate::tool_spec::{spec_name, spec_of};
use crate::trace;

use super::call::{self, RequestedCall, Verdict};
use super::fall_back::fall_back;
use super::search::{has_acted, search, search_call};
use super::{Answer, ReplyOutcome, ReplyRequest, Span, offline};

/// Time for a cancelled model or tool to end.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(2);
/// The error of a model that said nothing.
const EMPTY: &str = "the reply is empty";
/// Rounds of a query: two searches for a tool, the call, its wording.
const QUERY_ROUNDS_MAX: usize = 4;
/// What a query writes if no tool matches.
const NO_TOOL: &str = "NO_TOOL:";

/// Replies with a model.
pub(super) async fn answer(mut asked: ReplyRequest<'_>, choice: &ModelChoice) -> ReplyOutcome {
    let mut answer = std::mem::take(&mut asked.before);
    answer.form = choice.form(choice.model.as_ref());
    if !asked.decided.is_empty() {
        go_on(&asked, &mut answer).await;
    }
    if asked.agent.look_up_first && !asked.is_query() && answer.calls.is_empty() {
        offline::look_up(&asked, &mut answer).await;
        show_what_fits(&asked, &mut answer);
    }
    let limit = Duration::from_secs(asked.ports.limits.turn_seconds_max);
    let outer = asked.cancel.clone();
    asked.cancel = outer.child_token();
    let talked = within(limit, &asked.cancel, talk(&asked, choice, &mut answer)).await;
    asked.cancel = outer;
    let model = speaker(choice, &asked, &answer);
    // A lent model reports its name with its reply.
    answer.form = choice.form(model);
    let failure = match talked {
        Some(Ok(Some(awaited))) => return ReplyOutcome::Paused(answer, awaited),
        Some(Ok(None)) => return ReplyOutcome::Finished(finish(&asked, answer)),
        Some(Err(failure)) => failure,
        None => UpstreamError::new(
            model.name(),
            UpstreamFault::TimedOut,
            format!("the turn took longer than {} seconds", limit.as_secs()),
        ),
    };
    if failure.fault != UpstreamFault::Cancelled {
        tracing::warn!(model = model.name(), fault = ?failure.fault, "the model failed");
        metrics::counter!("throughline_model_failures_total", "model" => model.name().to_owned())
            .increment(1);
    }
    fall_back(asked, answer, failure).await
}

/// Runs `talk` within `limit`. After that, running calls are cancelled instead of dropped, so that the record
/// includes them.
async fn within<T>(
    limit: Duration,
    cancel: &CancellationToken,
    talk: impl Future<Output = T>,
) -> Option<T> {
    tokio::pin!(talk);
    if let Ok(talked) = tokio::time::timeout(limit, &mut talk).await {
        return Some(talked);
    }
    cancel.cancel();
    if tokio::time::timeout(CANCEL_TIMEOUT, talk).await.is_err() {
        tracing::warn!("a turn that timed out did not end when cancelled");
    }
    None
}

/// The model of the next round: in a query one model chooses the tool and the formatter words its result.
fn speaker<'a>(
    choice: &'a ModelChoice,
    asked: &ReplyRequest<'_>,
    answer: &Answer,
) -> &'a dyn Model {
    let words_result = asked.is_query() && has_acted(answer);
    if words_result { choice.formatter.as_ref() } else { choice.model.as_ref() }
}

/// A query without a matching tool has failed; the reason is the reply.
fn finish(asked: &ReplyRequest<'_>, mut answer: Answer) -> Answer {
    if asked.is_query()
        && let Some(reason) = answer.text.trim().strip_prefix(NO_TOOL)
    {
        let reason = reason.trim().to_owned();
        answer.status = TurnStatus::Failed;
        answer.error = Some(TurnError::new("no_tool", &reason));
        answer.text = reason;
    }
    answer
}

/// Runs rounds until the model has finished; calls that need approval end it early.
async fn talk(
    asked: &ReplyRequest<'_>,
    choice: &ModelChoice,
    answer: &mut Answer,
) -> Result<Option<Vec<AwaitedCall>>, UpstreamError> {
    let limits = &asked.ports.limits;
    // A query makes one call, and may search for its tool before.
    let rounds_max = if asked.is_query() { QUERY_ROUNDS_MAX } else { limits.tool_rounds_max };
    let first = answer.calls.iter().map(|call| call.round).max().unwrap_or(0) + 1;
    for round in first..=u32::try_from(rounds_max).unwrap_or(u32::MAX) + 1 {
        let last = usize::try_from(round).unwrap_or(usize::MAX) > rounds_max
            || answer.calls.len() >= limits.tool_calls_max
            || (asked.is_query() && has_acted(answer));
        let request = rebuild::with_rounds(&asked.assembled.request, &answer.calls);
        let model = speaker(choice, asked, answer);
        let begun = Instant::now();
        let heard = listen(asked, model, &request, answer).await;
        let name = format!("{MODEL_STAGE}{}", model.name());
        answer.spans.push(Span { name, begun, took: begun.elapsed() });
        let parsed = heard?;
        if parsed.calls.is_empty() || last {
            if last && !parsed.calls.is_empty() {
                answer.status = TurnStatus::Partial;
                let message = if asked.is_query() {
                    "a query makes one tool call".to_owned()
                } else if answer.calls.len() >= limits.tool_calls_max {
                    format!("the limit of {} tool calls is reached", limits.tool_calls_max)
                } else {
                    format!("the limit of {rounds_max} rounds of tool calls is reached")
                };
                answer.error = Some(TurnError::new("too_many_tool_calls", message));
            } else if answer.text.trim().is_empty() {
                answer.text.clear();
                if answer.calls.iter().any(CallRecord::ok) {
                    return Err(UpstreamError::new(model.name(), UpstreamFault::Failed, EMPTY));
                }
                answer.status = TurnStatus::Failed;
                answer.error = Some(TurnError::new("reply_empty", EMPTY));
            } else if let Some(error) = parsed.stop.and_then(cut_short) {
                (answer.status, answer.error) = (TurnStatus::Partial, Some(error));
            }
            return Ok(None);
        }
        let (begun, before) = (Instant::now(), answer.calls.len());
        let waiting = act(asked, parsed, round, answer).await;
        let made = answer.calls.iter().skip(before);
        answer.spans.extend(made.map(|call| Span {
            name: format!("tool {}", call.tool),
            begun,
            took: Duration::from_millis(call.took_ms),
        }));
        if !waiting.is_empty() {
            return Ok(Some(waiting));
        }
        if asked.cancel.is_cancelled() {
            return Err(stopped(model));
        }
    }
    Ok(None)
}

/// Why a reply ends before it is whole, if it does.
fn cut_short(stop: StopReason) -> Option<TurnError> {
    match stop {
        StopReason::EndTurn | StopReason::ToolUse => None,
        StopReason::MaxTokens => {
            Some(TurnError::new("reply_cut", "the model stopped at its maximum length"))
        }
        StopReason::Refusal => {
            Some(TurnError::new("reply_refused", "the provider refused to continue the reply"))
        }
    }
}

fn stopped(model: &dyn Model) -> UpstreamError {
    UpstreamError::new(model.name(), UpstreamFault::Cancelled, "it was stopped")
}

/// What the model said in one round.
struct ParsedReply {
    text: String,
    calls: Vec<(String, String, Result<serde_json::Value, String>)>,
    stop: Option<StopReason>,
}

async fn listen(
    asked: &ReplyRequest<'_>,
    model: &dyn Model,
    request: &ModelRequest,
    answer: &mut Answer,
) -> Result<ParsedReply, UpstreamError> {
    let span = trace::model_call(model.name(), request.into());
    let (mut usage, mut stop) = (Usage::default(), None);
    let hearing = hear(asked, model, request, answer, (&mut usage, &mut stop));
    let parsed = hearing.instrument(span.clone()).await;
    let ended = parsed.as_ref().map(|_| stop).map_err(|error| error.fault.as_str());
    trace::model_ended(&span, Some(usage), ended);
    let parsed = parsed?;
    let total = answer.usage.get_or_insert_default();
    *total += usage;
    asked.events.tell(TurnEvent::Usage(*total));
    Ok(parsed)
}

/// Reads one reply to its end; usage and stop reason are recorded even if it breaks off.
async fn hear(
    asked: &ReplyRequest<'_>,
    model: &dyn Model,
    request: &ModelRequest,
    answer: &mut Answer,
    (usage, stop): (&mut Usage, &mut Option<StopReason>),
) -> Result<ParsedReply, UpstreamError> {
    let mut parsed = ParsedReply { text: String::new(), calls: Vec::new(), stop: None };
    let mut stream = model.stream(request, asked.cancel.clone()).await?;
    while let Some(event) = stream.next().await {
        match event? {
            ModelEvent::Text(text) => {
                if answer.text.len() + text.len() > asked.ports.limits.reply_bytes_max {
                    return Err(UpstreamError::new(
                        model.name(),
                        UpstreamFault::TooLarge,
                        "the reply is longer than limits.reply_bytes_max",
                    ));
                }
                parsed.text.push_str(&text);
                answer.text.push_str(&text);
                asked.events.tell(TurnEvent::Delta(text));
            }
            ModelEvent::ToolUse { id, name, input } => parsed.calls.push((id, name, input)),
            ModelEvent::Usage(now) => *usage = now,
            ModelEvent::Done(reason) => {
                (*stop, parsed.stop) = (Some(reason), Some(reason));
                if reason == StopReason::Refusal && parsed.text.is_empty() {
                    return Err(UpstreamError::new(
                        model.name(),
                        UpstreamFault::Rejected,
                        "the provider refused to answer",
                    ));
                }
            }
        }
    }
    if asked.cancel.is_cancelled() && stop.is_none() {
        return Err(stopped(model));
    }
    Ok(parsed)
}

/// Makes the calls of a round concurrently; returns those that need approval.
async fn act(
    asked: &ReplyRequest<'_>,
    parsed: ParsedReply,
    round: u32,
    answer: &mut Answer,
) -> Vec<AwaitedCall> {
    let calls = asked.calls();
    let limits = &asked.ports.limits;
    let room = limits.tool_calls_max.saturating_sub(answer.calls.len()).max(1);
    // Calls beyond the limit get a result too, so that the model knows; as many as a turn records.
    let (room, heard_max) = if asked.is_query() {
        (1, 1)
    } else {
        (room, room.max(limits.tool_executions_max.saturating_sub(answer.calls.len())))
    };
    let mut said_before = parsed.text;
    let (mut ready, mut waiting) = (Vec::new(), Vec::new());
    for (at, (id, name, input)) in parsed.calls.into_iter().take(heard_max).enumerate() {
        let mut call = RequestedCall {
            id,
            tool: find(&asked.assembled.tools, &name).ok_or(name.clone()),
            arguments: input,
            round,
            said_before: std::mem::take(&mut said_before),
            approved: false,
            suspicion: None,
        };
        match search_call(asked, &name, &call) {
            Some(tool_search::SearchRequest::Find(query)) if at < room => {
                answer.calls.push(search(asked, &call, &query).await);
                continue;
            }
            Some(tool_search::SearchRequest::Call(tool, arguments)) => {
                let meant = tool_search::meant(&asked.assembled.tools, &tool).cloned();
                call.tool = meant.ok_or(tool);
                call.arguments = Ok(arguments);
            }
            Some(tool_search::SearchRequest::Wrong(reason)) => {
                answer.calls.push(call::refused(&call, reason));
                continue;
            }
            Some(tool_search::SearchRequest::Find(_)) | None => {}
        }
        if at >= room {
            let reason = format!("the limit of {} tool calls is reached", limits.tool_calls_max);
            answer.calls.push(call::refused(&call, reason));
            continue;
        }
        let definition = call.tool.clone().ok();
        match calls.check(call).await {
            Verdict::Ready(call) => ready.push(call),
            Verdict::Refused(mut record) => {
                if let Some(definition) = definition.filter(|tool| !is_shown_whole(asked, tool)) {
                    call::tell_definition(&mut record, &definition);
                }
                answer.calls.push(*record);
            }
            Verdict::Waits(awaited) => waiting.push(awaited),
        }
    }
    let made = join_all(ready.into_iter().map(|call| calls.make(call))).await;
    answer.calls.extend(made);
    show_what_fits(asked, answer);
    waiting
}

/// Makes or refuses the decided calls of a pause, in the round they were requested in.
async fn go_on(asked: &ReplyRequest<'_>, answer: &mut Answer) {
    let calls = asked.calls();
    for awaited in &asked.decided {
        let begun = Instant::now();
        let call = calls.make_decided(awaited, &asked.assembled.tools).await;
        let name = format!("tool {}", call.tool);
        answer.spans.push(Span { name, begun, took: Duration::from_millis(call.took_ms) });
        answer.calls.push(call);
    }
    show_what_fits(asked, answer);
}

fn find(tools: &[ToolDefinition], name: &str) -> Option<ToolDefinition> {
    tools.iter().find(|definition| spec_name(&definition.tool) == name).cloned()
}

/// Whether the request declares the tool, and not in a shortened form.
fn is_shown_whole(asked: &ReplyRequest<'_>, definition: &ToolDefinition) -> bool {
    asked.assembled.request.tools.contains(&spec_of(definition))
}

/// Cuts, for the model, results that exceed the rest of the window.
fn show_what_fits(asked: &ReplyRequest<'_>, answer: &mut Answer) {
    let budget = &asked.assembled.receipt.budget;
    let mut left = budget.limit_tokens.saturating_sub(budget.used_tokens);
    for call in &mut answer.calls {
        let text = call.result_text();
        let needed = tokens::count(&text) + tokens::count(&call.arguments.to_string()) + 16;
        if needed <= left {
            left -= needed;
            continue;
        }
        let share = usize::try_from(left).unwrap_or(0) * 3;
        let mut bytes = share.min(text.len());
        while !text.is_char_boundary(bytes) {
            bytes -= 1;
        }
        call.shown_bytes = Some(bytes);
        left = 0;
    }
}
