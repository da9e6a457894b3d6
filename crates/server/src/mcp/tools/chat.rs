//! `context-chat`: talks to a context.
//!
//! The configured model replies; without one, the client's own model by sampling, if offered; with neither, the
//! engine replies without a model.

use std::sync::Arc;

use rmcp::model::{
    CallToolResponse, InputRequest, InputRequests, InputRequiredResult, ProtocolVersion, Tool,
    ToolAnnotations,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use throughline_engine::engine::{expiry_state, messages_of};
use throughline_engine::error::{Error, Result};
use throughline_engine::events::Events;
use throughline_engine::hash::ContentHash;
use throughline_engine::model::LentModel;
use throughline_engine::request::TurnInput;
use throughline_engine::session::LoadedSession;
use throughline_engine::session::record::{ReplyForm, TurnRecord};
use throughline_engine::turn::{TurnOutcome, TurnRequest};

use super::{Call, answered, define};
use crate::mcp::sampling::{AnsweredClient, AskedClient, input_request, input_response};
use crate::persona_view::{ConversationView, expiry_warning};

/// How often a client is asked again because the conversation continued meanwhile.
const ROUNDS_MAX: u32 = 3;
/// Name of the requested input.
const INPUT: &str = "reply";
/// Share of the history budget at which a notice is given, in percent.
const NOTICE_PERCENT: u64 = 80;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Arguments {
    #[serde(alias = "sessionId", alias = "session_id")]
    context_id: String,
    message: String,
    /// Stay calm when the message is heated.
    #[schemars(extend("default" = true))]
    maintain_personality: Option<bool>,
    idempotency_key: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Answer {
    /// The context's reply.
    response: String,
    /// Name of the context.
    context_name: String,
    /// Character of the context.
    personality: String,
    /// The message as stored.
    user_message: ConversationView,
    /// The reply as stored.
    assistant_response: ConversationView,
    /// Details of this exchange.
    metadata: Metadata,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    /// Tokens of request and reply.
    tokens_used: u64,
    /// Tokens of the history in the request.
    history_tokens: u64,
    /// Whether older history is condensed.
    history_truncated: bool,
    /// When the context expires.
    context_expiry: String,
    /// Whether it has expired.
    is_expired: bool,
    /// `model`, `sampling` or `offline`.
    answered_by: String,
    /// The model that replied.
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    /// Number of the turn, for its receipt.
    turn: u64,
    /// Notices: a nearly full history, a near expiry, a failed model.
    notices: Vec<String>,
}

/// State that the client holds while its model replies.
#[derive(Debug, Serialize, Deserialize)]
struct Carried {
    asked: ContentHash,
    round: u32,
}

pub(super) fn tool() -> Tool {
    define::<Arguments, Answer>(
        "context-chat",
        "Talk to a context",
        "Sends the user's message to a context; returns its reply, in character and with its history.",
        ToolAnnotations::new().read_only(false).destructive(false).open_world(true),
    )
}

pub(super) async fn run(call: &Call<'_>) -> Result<CallToolResponse> {
    let arguments: Arguments = call.arguments()?;
    let engine = &call.mcp.engine;
    let loaded = engine.context(&call.caller, &arguments.context_id).await?;
    let key = call.key(arguments.idempotency_key.as_ref())?;
    let answered_before = key
        .as_ref()
        .is_some_and(|key| loaded.head.answered.iter().any(|answered| answered.key == key.key));
    let needs_client = engine.model_names().is_empty() && !answered_before;
    let way = match (needs_client, offers_sampling(call)) {
        (true, Some(Era::Newer)) => match carried(call, &loaded, &arguments).await? {
            Carry::Answered(model) => Some(model),
            Carry::Ask { round } => {
                return ask(call, &loaded, &arguments, round).await.map(Into::into);
            }
        },
        (true, Some(Era::Older)) => {
            Some(LentModel(Arc::new(AskedClient::new(call.context.peer.clone()))))
        }
        _ => None,
    };
    let request = TurnRequest {
        session: Some(loaded.head.id.clone()),
        input: turn_input(&arguments, way.is_some()),
        key,
        model: way,
        ..TurnRequest::default()
    };
    let cancel = call.context.ct.clone();
    let outcome = engine.converse(&call.caller, request, Events::nowhere(), cancel).await;
    call.mcp.changes.tell(&call.caller, format!("context/{}", loaded.head.id), false);
    match outcome? {
        TurnOutcome::Finished { session, record, .. } => {
            let answer = Answer::of(call, &session, &record);
            let text = answer.response.clone();
            Ok(answered(&answer, text).into())
        }
        TurnOutcome::Paused { pending, .. } => {
            let tools: Vec<String> =
                pending.awaited.iter().map(|call| call.tool.to_string()).collect();
            let reason = "a person must approve the call in the conversation".to_owned();
            Err(Error::ToolNotApproved { tool: tools.join(", "), reason })
        }
    }
}

fn turn_input(arguments: &Arguments, without_tools: bool) -> TurnInput {
    TurnInput {
        message: arguments.message.clone(),
        keeps_calm: arguments.maintain_personality,
        without_tools,
        ..TurnInput::default()
    }
}

enum Era {
    Older,
    Newer,
}

/// Whether the client's own model can be asked, and how.
fn offers_sampling(call: &Call<'_>) -> Option<Era> {
    call.context.client_capabilities()?.sampling?;
    let version = call.context.protocol_version()?;
    let newer = version.as_str() >= ProtocolVersion::V_2026_07_28.as_str();
    Some(if newer { Era::Newer } else { Era::Older })
}

/// The caller, context and message that a state is for.
fn bound(call: &Call<'_>, loaded: &LoadedSession, arguments: &Arguments) -> String {
    let scope = &call.caller.scope;
    let message = ContentHash::of(&arguments.message);
    format!("context-chat/{}/{}/{}/{message}", scope.tenant, scope.user, loaded.head.id)
}

/// Ends the call with a request for the client's model.
async fn ask(
    call: &Call<'_>,
    loaded: &LoadedSession,
    arguments: &Arguments,
    round: u32,
) -> Result<InputRequiredResult> {
    let input = turn_input(arguments, true);
    let assembled = call.mcp.engine.prepare(&call.caller, &loaded.head.id, &input).await?;
    let carried = Carried { asked: assembled.receipt.request_hash, round };
    let state = call.mcp.seal.seal(&carried, &bound(call, loaded, arguments)).await?;
    let input = InputRequest::CreateMessage(input_request(&assembled.request));
    let inputs = InputRequests::from([(INPUT.to_owned(), input)]);
    Ok(InputRequiredResult::new(Some(inputs), Some(state)))
}

/// Result of a stateless call so far.
enum Carry {
    /// The client's reply.
    Answered(LentModel),
    /// Nothing yet, or a reply to an outdated request.
    Ask { round: u32 },
}

/// The client's reply, if it still fits the conversation.
async fn carried(call: &Call<'_>, loaded: &LoadedSession, arguments: &Arguments) -> Result<Carry> {
    let Some(sealed) = &call.request.request_state else { return Ok(Carry::Ask { round: 1 }) };
    let state: Carried = call.mcp.seal.open(sealed, &bound(call, loaded, arguments)).await?;
    let given = call.request.input_responses.as_ref().and_then(|inputs| inputs.get(INPUT));
    let Some(given) = given else {
        return Err(Error::invalid("inputResponses", format!("{INPUT} is missing")));
    };
    let result = input_response(given).map_err(|error| {
        Error::invalid("inputResponses", format!("{INPUT} is not a sampling result: {error}"))
    })?;
    let input = turn_input(arguments, true);
    let assembled = call.mcp.engine.prepare(&call.caller, &loaded.head.id, &input).await?;
    if assembled.receipt.request_hash == state.asked || state.round >= ROUNDS_MAX {
        let client = AnsweredClient::new(state.asked, result);
        return Ok(Carry::Answered(LentModel(Arc::new(client))));
    }
    Ok(Carry::Ask { round: state.round + 1 })
}

impl Answer {
    fn of(call: &Call<'_>, session: &LoadedSession, record: &TurnRecord) -> Self {
        let persona = session.head.persona.as_ref();
        let [user, assistant] = messages_of(record);
        let id = session.head.id.as_str();
        Self {
            response: assistant.content.clone(),
            context_name: persona.map(|p| p.name.clone()).unwrap_or_default(),
            personality: persona.map(|p| p.personality.clone()).unwrap_or_default(),
            user_message: ConversationView::of(id, user),
            assistant_response: ConversationView::of(id, assistant),
            metadata: Metadata::of(call, session, record),
        }
    }
}

impl Metadata {
    fn of(call: &Call<'_>, session: &LoadedSession, record: &TurnRecord) -> Self {
        let now = call.mcp.engine.now();
        let state = expiry_state(&session.head, now);
        let receipt = record.receipt.as_ref();
        let shown = receipt.map_or(0, |receipt| u64::from(receipt.history_tokens));
        let truncated = receipt.is_some_and(|receipt| receipt.window_from > 1);
        let most = session.head.persona.as_ref().map_or(0, |p| u64::from(p.history_tokens_max));
        let (answered_by, model) = match &record.form {
            ReplyForm::Model { model } => ("model", Some(model.clone())),
            ReplyForm::Sampling { model } => ("sampling", Some(model.clone())),
            ReplyForm::Offline { .. } | ReplyForm::Caller => ("offline", None),
        };
        let mut notices = Vec::new();
        if most > 0 && shown * 100 >= most * NOTICE_PERCENT {
            notices.push(format!(
                "the history takes {shown} of {most} tokens; the oldest exchanges are condensed next"
            ));
        }
        if truncated {
            notices.push("the oldest exchanges are condensed; they are still searched".to_owned());
        }
        notices.extend(expiry_warning(session.head.expires_at, state, now));
        if let ReplyForm::Offline { why, .. } = &record.form {
            notices.push(format!("answered without a model: {why}"));
        }
        notices.extend(record.error.as_ref().map(|error| error.message.clone()));
        Self {
            tokens_used: tokens_used(record),
            history_tokens: shown,
            history_truncated: truncated,
            context_expiry: session.head.expires_at.map(|at| at.to_string()).unwrap_or_default(),
            is_expired: session.head.is_expired(now),
            answered_by: answered_by.to_owned(),
            model,
            turn: record.turn,
            notices,
        }
    }
}

/// As counted by the provider, else by this server.
fn tokens_used(record: &TurnRecord) -> u64 {
    match (&record.usage, &record.receipt) {
        (Some(usage), _) if usage.input_tokens > 0 => usage.input_tokens + usage.output_tokens,
        (_, Some(receipt)) => {
            u64::from(receipt.budget.used_tokens) + u64::from(record.tokens.reply)
        }
        _ => u64::from(record.tokens.message) + u64::from(record.tokens.reply),
    }
}
