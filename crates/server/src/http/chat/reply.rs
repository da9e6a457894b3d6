//! `POST /chat`, and how a turn's outcome looks from outside.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use throughline_engine::events::Events;
use throughline_engine::notice::mentions;
use throughline_engine::turn::TurnOutcome;
use utoipa::ToSchema;

use super::body::ChatBody;
use super::event::ContextBrief;
use super::run;
use crate::http::App;
use crate::http::body::Body;
use crate::http::caller::Authenticated;
use crate::http::conversations::turn::ToolExecution;
use crate::http::conversations::view::{Raw, json};
use crate::http::idempotency::IdempotencyKey;
use crate::http::problem::Problem;
use crate::http::shapes;

/// A turn's outcome.
#[derive(Debug, Serialize, ToSchema)]
pub struct ChatReply {
    /// The session.
    pub conversation_id: String,
    /// The session's version now.
    pub version: u64,
    /// The turn; null while it waits for approval.
    pub turn: Option<u64>,
    /// What the assistant said.
    pub reply: String,
    /// `complete`, `partial`, `failed`, `refused` or `awaiting_approval`.
    #[schema(value_type = String)]
    pub status: Raw,
    /// Why it failed.
    #[schema(value_type = Option<shapes::TurnFailure>)]
    pub error: Raw,
    /// How the reply came about: by which model, or offline and why.
    #[schema(value_type = shapes::ReplyForm)]
    pub form: Raw,
    /// Things that the message was understood to mean; `confidence` under 0.7 is unsure.
    #[schema(value_type = Vec<shapes::MentionView>)]
    pub entities: Raw,
    /// Tools that were called, as `server:tool`.
    pub tools_used: Vec<String>,
    /// What they answered.
    pub tool_executions: Vec<ToolExecution>,
    /// Calls that wait for approval.
    #[schema(value_type = Vec<shapes::AwaitedCallView>)]
    pub awaiting_approval: Raw,
    /// Tokens as the provider counted them.
    #[schema(value_type = Option<shapes::TokenUsage>)]
    pub usage: Raw,
    /// What the model saw, in brief.
    pub context: Option<ContextBrief>,
    /// How long the turn lasts in the store.
    #[schema(value_type = String)]
    pub durability: Raw,
}

impl ChatReply {
    /// The outcome as it looks from outside.
    pub fn of(app: &App, outcome: &TurnOutcome) -> Self {
        let durability = json(&app.engine().store().facts().durability);
        match outcome {
            TurnOutcome::Finished { session, record, .. } => Self {
                conversation_id: session.head.id.to_string(),
                version: session.version.number,
                turn: Some(record.turn),
                reply: record.reply.clone(),
                status: json(&record.status),
                error: json(&record.error),
                form: json(&record.form),
                entities: json(&record.entities),
                tools_used: record.calls.iter().map(|call| call.tool.to_string()).collect(),
                tool_executions: record.calls.iter().map(Into::into).collect(),
                awaiting_approval: json(&[(); 0]),
                usage: json(&record.usage),
                context: record.receipt.as_ref().map(Into::into),
                durability,
            },
            TurnOutcome::Paused { session, pending } => Self {
                conversation_id: session.head.id.to_string(),
                version: session.version.number,
                turn: None,
                reply: pending.said.clone(),
                status: json(&"awaiting_approval"),
                error: json(&()),
                form: json(&()),
                entities: json(&mentions(&pending.noticed)),
                tools_used: pending.calls.iter().map(|call| call.tool.to_string()).collect(),
                tool_executions: pending.calls.iter().map(Into::into).collect(),
                awaiting_approval: json(&pending.undecided().collect::<Vec<_>>()),
                usage: json(&()),
                context: Some((&pending.receipt).into()),
                durability,
            },
        }
    }
}

/// The status of an outcome: accepted while it waits for approval.
pub fn status(outcome: &TurnOutcome) -> StatusCode {
    match outcome {
        TurnOutcome::Finished { .. } => StatusCode::OK,
        TurnOutcome::Paused { .. } => StatusCode::ACCEPTED,
    }
}

/// Answers a message.
#[utoipa::path(post, path = "/chat", tag = "chat", request_body = ChatBody,
    params(("idempotency-key" = Option<String>, Header, description = "Names this request")),
    responses((status = 200, body = ChatReply), (status = 202, body = ChatReply),
        (status = 409, body = Problem), (status = 422, body = Problem)))]
pub async fn chat(
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
