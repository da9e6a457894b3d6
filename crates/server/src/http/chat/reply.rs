//! `POST /chat`, and the view of a turn's outcome.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use throughline_engine::events::Events;
use throughline_engine::model::Usage;
use throughline_engine::notice::mentions;
use throughline_engine::session::pending::AwaitedCall;
use throughline_engine::session::record::{EntityMention, ReplyForm, TurnError};
use throughline_engine::store::Durability;
use throughline_engine::turn::TurnOutcome;
use utoipa::ToSchema;

use super::body::ChatBody;
use super::event::ContextBrief;
use super::run;
use crate::http::App;
use crate::http::body::Body;
use crate::http::caller::Authenticated;
use crate::http::conversations::turn::ToolExecution;
use crate::http::idempotency::IdempotencyKey;
use crate::http::problem::Problem;
use crate::http::shapes;

/// Outcome of a turn.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ChatReply {
    /// Id of the session.
    pub conversation_id: String,
    /// Version of the session after the turn.
    pub version: u64,
    /// Number of the turn; null while a call waits for approval.
    pub turn: Option<u64>,
    /// The assistant's reply, or the part of it so far.
    pub reply: String,
    /// `complete`, `partial`, `failed`, `refused` or `awaiting_approval`.
    pub status: &'static str,
    /// Why it failed; null if it did not.
    #[schema(value_type = Option<shapes::TurnFailure>)]
    pub error: Option<TurnError>,
    /// Who wrote the reply; null while a call waits for approval.
    #[schema(value_type = Option<shapes::ReplyForm>)]
    pub form: Option<ReplyForm>,
    /// Entities recognised in the message; `confidence` below 0.7 should be confirmed.
    #[schema(value_type = Vec<shapes::MentionView>)]
    pub entities: Vec<EntityMention>,
    /// Tools that were called, as `server:tool`, in order.
    pub tools_used: Vec<String>,
    /// Tool calls with their results, in order.
    pub tool_executions: Vec<ToolExecution>,
    /// Tool calls that wait for approval.
    #[schema(value_type = Vec<shapes::AwaitedCallView>)]
    pub awaiting_approval: Vec<AwaitedCall>,
    /// Tokens as counted by the provider; null if no model was asked.
    #[schema(value_type = Option<shapes::TokenUsage>)]
    pub usage: Option<Usage>,
    /// What the model saw, in brief; null without a receipt.
    pub context: Option<ContextBrief>,
    /// Durability of the turn: `memory`, `buffered`, `buffered 1s`, `fsync` or `replicated`.
    #[schema(value_type = String)]
    pub durability: Durability,
}

impl ChatReply {
    /// The view of an outcome.
    pub(super) fn of(app: &App, outcome: &TurnOutcome) -> Self {
        let durability = app.engine().store().facts().durability;
        match outcome {
            TurnOutcome::Finished { session, record, .. } => Self {
                conversation_id: session.head.id.to_string(),
                version: session.version.number,
                turn: Some(record.turn),
                reply: record.reply.clone(),
                status: record.status.as_str(),
                error: record.error.clone(),
                form: Some(record.form.clone()),
                entities: record.entities.clone(),
                tools_used: record.calls.iter().map(|call| call.tool.to_string()).collect(),
                tool_executions: record.calls.iter().map(Into::into).collect(),
                awaiting_approval: Vec::new(),
                usage: record.usage,
                context: record.receipt.as_ref().map(Into::into),
                durability,
            },
            TurnOutcome::Paused { session, pending } => Self {
                conversation_id: session.head.id.to_string(),
                version: session.version.number,
                turn: None,
                reply: pending.said.clone(),
                status: "awaiting_approval",
                error: None,
                form: None,
                entities: mentions(&pending.noticed),
                tools_used: pending.calls.iter().map(|call| call.tool.to_string()).collect(),
                tool_executions: pending.calls.iter().map(Into::into).collect(),
                awaiting_approval: pending.undecided().cloned().collect(),
                usage: None,
                context: Some((&pending.receipt).into()),
                durability,
            },
        }
    }
}

/// 200, or 202 while a call waits for approval.
pub(super) fn status(outcome: &TurnOutcome) -> StatusCode {
    match outcome {
        TurnOutcome::Finished { .. } => StatusCode::OK,
        TurnOutcome::Paused { .. } => StatusCode::ACCEPTED,
    }
}

/// Answers a message.
#[utoipa::path(post, path = "/chat", tag = "chat", request_body = ChatBody,
    params(("idempotency-key" = Option<String>, Header, description = "Key of this request, 1–255 visible ASCII characters; a repetition returns the first result")),
    responses((status = 200, body = ChatReply), (status = 202, body = ChatReply),
        (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(super) async fn chat(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    key: IdempotencyKey,
    body: Body<ChatBody>,
) -> Result<(StatusCode, Json<ChatReply>), Problem> {
    let request = body.value.request(key.of("chat", &body.bytes))?;
    let running = run::converse(&app, caller, request, Events::nowhere());
    let outcome = running.outcome().await?;
    Ok((status(&outcome), Json(ChatReply::of(&app, &outcome))))
}
