//! `context-query`: selects and calls one upstream tool, and answers from its result.

use rmcp::model::{CallToolResult, Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use throughline_engine::error::Result;
use throughline_engine::events::Events;
use throughline_engine::id::{AgentName, SessionId};
use throughline_engine::request::TurnInput;
use throughline_engine::session::record::TurnStatus;
use throughline_engine::turn::{TurnOutcome, TurnRequest};

use super::{Call, answered, define};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Arguments {
    query: String,
    #[serde(alias = "session_id", alias = "contextId")]
    session_id: Option<String>,
    agent: Option<String>,
    idempotency_key: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Answer {
    /// The answer.
    response: String,
    /// Whether a tool was found and succeeded.
    success: bool,
    /// The conversation, to continue it.
    session_id: String,
    /// The tool that was called.
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_name: Option<String>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

pub(super) fn tool() -> Tool {
    define::<Arguments, Answer>(
        "context-query",
        "Ask the upstream tools",
        "Answers a question by choosing, calling and wording a configured upstream tool. Pass the sessionId of the answer \
         to go on.",
        ToolAnnotations::new().read_only(false).destructive(false).open_world(true),
    )
}

pub(super) async fn run(call: &Call<'_>) -> Result<CallToolResult> {
    let arguments: Arguments = call.arguments()?;
    let request = TurnRequest {
        session: arguments.session_id.clone().map(SessionId::new).transpose()?,
        agent: arguments.agent.clone().map(AgentName::new).transpose()?,
        input: TurnInput {
            message: arguments.query.clone(),
            is_query: true,
            ..TurnInput::default()
        },
        key: call.key(arguments.idempotency_key.as_ref())?,
        persona: None,
        preset: None,
        model: None,
    };
    let cancel = call.context.ct.clone();
    let outcome =
        call.mcp.engine.converse(&call.caller, request, Events::nowhere(), cancel).await?;
    let answer = match outcome {
        TurnOutcome::Finished { session, record, .. } => Answer {
            response: record.reply.clone(),
            success: record.status == TurnStatus::Complete && record.query_error().is_none(),
            session_id: session.head.id.to_string(),
            tool_name: record.calls.last().map(|call| call.tool.to_string()),
            error: record.query_error(),
        },
        TurnOutcome::Paused { session, pending } => Answer {
            response: String::new(),
            success: false,
            session_id: session.head.id.to_string(),
            tool_name: pending.awaited.first().map(|call| call.tool.to_string()),
            error: Some("a person must approve the call first".into()),
        },
    };
    let mut text = match &answer.error {
        Some(error) if answer.response.is_empty() => error.clone(),
        _ => answer.response.clone(),
    };
    if arguments.session_id.is_none() {
        text.push_str(&format!("\n(sessionId: {})", answer.session_id));
    }
    Ok(answered(&answer, text))
}
