//! `POST /query`: selects one tool, calls it, and answers from its result.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use throughline_engine::events::Events;
use throughline_engine::id::{AgentName, SessionId};
use throughline_engine::notice::mentions;
use throughline_engine::request::TurnInput;
use throughline_engine::session::pending::AwaitedCall;
use throughline_engine::session::record::{EntityMention, TurnStatus};
use throughline_engine::turn::{TurnOutcome, TurnRequest};
use utoipa::ToSchema;

use super::reply::status;
use super::run;
use crate::http::App;
use crate::http::body::Body;
use crate::http::caller::Authenticated;
use crate::http::idempotency::IdempotencyKey;
use crate::http::problem::Problem;
use crate::http::shapes;

/// A query.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct QueryBody {
    /// What the user asks for, at most `limits.message_bytes_max` (256 KiB).
    query: String,
    /// Id of the session; created if it does not exist, generated if absent.
    #[serde(default)]
    session_id: Option<String>,
    /// Name of the agent for a new session; default: the default agent.
    #[serde(default)]
    agent: Option<String>,
}

/// Result of a query.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct QueryReply {
    /// The answer; may be partial while a call waits for approval.
    pub response: String,
    /// Whether the query was answered.
    pub success: bool,
    /// Id of the session.
    pub session_id: String,
    /// Name of the tool that was called or waits for approval; null if there is none.
    pub tool_name: Option<String>,
    /// Why the query was not answered; null if it was.
    pub error: Option<String>,
    /// MCP server of that tool; null if there is none.
    pub tool_server: Option<String>,
    /// Entities recognised in the query; `confidence` below 0.7 should be confirmed.
    #[schema(value_type = Vec<shapes::MentionView>)]
    pub entities: Vec<EntityMention>,
    /// Number of the turn; null while a call waits for approval.
    pub turn: Option<u64>,
    /// Tool calls that wait for approval.
    #[schema(value_type = Vec<shapes::AwaitedCallView>)]
    pub awaiting_approval: Vec<AwaitedCall>,
}

/// Selects one tool using the history, calls it, and answers from its result. The exchange is stored even if it
/// fails.
#[utoipa::path(post, path = "/query", tag = "chat", request_body = QueryBody,
    params(("idempotency-key" = Option<String>, Header, description = "Key of this request, 1–255 visible ASCII characters; a repetition returns the first result")),
    responses((status = 200, body = QueryReply), (status = 202, body = QueryReply),
        (status = 422, body = Problem)))]
pub(super) async fn query(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    key: IdempotencyKey,
    body: Body<QueryBody>,
) -> Result<(StatusCode, Json<QueryReply>), Problem> {
    let key = key.of("query", &body.bytes);
    let QueryBody { query, session_id, agent } = body.value;
    let request = TurnRequest {
        session: session_id.map(SessionId::new).transpose()?,
        agent: agent.map(AgentName::new).transpose()?,
        input: TurnInput { message: query, is_query: true, ..TurnInput::default() },
        key,
        ..TurnRequest::default()
    };
    let outcome = run::converse(&app, caller, request, Events::nowhere()).outcome().await?;
    Ok((status(&outcome), Json(QueryReply::from(&outcome))))
}

impl From<&TurnOutcome> for QueryReply {
    fn from(outcome: &TurnOutcome) -> Self {
        match outcome {
            TurnOutcome::Finished { session, record, .. } => {
                let call = record.calls.last();
                let error = record.query_error();
                Self {
                    response: record.reply.clone(),
                    success: record.status == TurnStatus::Complete && error.is_none(),
                    session_id: session.head.id.to_string(),
                    tool_name: call.map(|call| call.tool.name.clone()),
                    tool_server: call
                        .map(|call| call.tool.server.clone())
                        .filter(|server| !server.is_empty()),
                    error,
                    entities: record.entities.clone(),
                    turn: Some(record.turn),
                    awaiting_approval: Vec::new(),
                }
            }
            TurnOutcome::Paused { session, pending } => {
                let call = pending.undecided().next();
                Self {
                    response: pending.said.clone(),
                    success: false,
                    session_id: session.head.id.to_string(),
                    tool_name: call.map(|call| call.tool.name.clone()),
                    tool_server: call.map(|call| call.tool.server.clone()),
                    error: Some("the call waits for approval".into()),
                    entities: mentions(&pending.noticed),
                    turn: None,
                    awaiting_approval: pending.undecided().cloned().collect(),
                }
            }
        }
    }
}
