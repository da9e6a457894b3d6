//! `POST /conversations/{id}/turns`: an exchange that the application made with its own model.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use throughline_engine::id::SessionId;
use throughline_engine::session::record::{CallRecord, TurnError};
use throughline_engine::tool::{ToolName, ToolOutput};
use throughline_engine::turn::RecordedTurn;
use utoipa::ToSchema;

use super::view::{Raw, json};
use crate::http::App;
use crate::http::body::Body;
use crate::http::caller::Authenticated;
use crate::http::condition::IfMatch;
use crate::http::idempotency::IdempotencyKey;
use crate::http::part::Path;
use crate::http::problem::Problem;

/// An exchange.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RecordBody {
    /// What the user said.
    message: String,
    /// What the assistant said.
    #[serde(default)]
    reply: String,
    /// When it was said, for a conversation that happened before; now when absent.
    #[serde(default)]
    at: Option<Timestamp>,
    /// What the tools did.
    #[serde(default)]
    tool_executions: Vec<ExecutionBody>,
    /// The failure, for a failed exchange.
    #[serde(default)]
    error: Option<ErrorBody>,
    /// Arbitrary data of the application to keep with it.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    metadata: Option<Value>,
    /// The receipt that `prepare` answered, or its id.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    receipt: Option<Value>,
}

/// What a tool did.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ExecutionBody {
    /// The call's id; numbered here when absent.
    #[serde(default)]
    id: Option<String>,
    /// The server.
    #[serde(default)]
    server: String,
    /// The tool.
    #[serde(alias = "tool", alias = "tool_name")]
    name: String,
    /// The arguments.
    #[serde(default)]
    #[schema(value_type = Value)]
    arguments: Value,
    /// What it answered: text or JSON.
    #[serde(default)]
    #[schema(value_type = Value)]
    result: Option<Value>,
    /// Why it failed.
    #[serde(default)]
    error: Option<String>,
    /// How long it took, in milliseconds.
    #[serde(default)]
    took_ms: u64,
}

/// Why an exchange failed.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ErrorBody {
    /// A stable name.
    #[serde(default = "failed")]
    code: String,
    /// What happened.
    message: String,
}

fn failed() -> String {
    "failed".into()
}

/// Where the exchange stands now.
#[derive(Debug, Serialize, ToSchema)]
pub struct RecordedView {
    /// Its turn.
    pub turn: u64,
    /// The session's version with it.
    pub version: u64,
    /// How long it lasts: `fsync`, `replicated`, `buffered`, `memory`…
    #[schema(value_type = String)]
    pub durability: Raw,
    /// `kept` or `unknown`, where the request named a receipt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receipt: Option<&'static str>,
}

/// Records an exchange. Repeating an `Idempotency-Key` returns 200 with the same body.
#[utoipa::path(post, path = "/conversations/{id}/turns", tag = "turns", request_body = RecordBody,
    params(("id" = String, Path, description = "The session's id"),
        ("idempotency-key" = Option<String>, Header, description = "Names this request"),
        ("if-match" = Option<String>, Header, description = "The version it must be at, in quotes")),
    responses((status = 201, body = RecordedView), (status = 200, body = RecordedView),
        (status = 404, body = Problem), (status = 409, body = Problem),
        (status = 422, body = Problem)))]
pub async fn record(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path(id): Path<SessionId>,
    IfMatch(expected): IfMatch,
    key: IdempotencyKey,
    body: Body<RecordBody>,
) -> Result<(StatusCode, Json<RecordedView>), Problem> {
    let key = key.of("turns", &body.bytes);
    let mut turn = body.value.turn()?;
    (turn.expected, turn.key) = (expected, key);
    let (recorded, kept) = app.engine().record(&caller, &id, turn).await?;
    let view = RecordedView {
        turn: recorded.turn,
        version: recorded.version,
        durability: json(&app.engine().store().facts().durability),
        receipt: kept.map(|kept| if kept { "kept" } else { "unknown" }),
    };
    let status = if recorded.repeated() { StatusCode::OK } else { StatusCode::CREATED };
    Ok((status, Json(view)))
}

fn receipt_id(receipt: &Value) -> Result<String, Problem> {
    let id = receipt.as_str().or_else(|| receipt.get("id")?.as_str());
    id.map(str::to_owned)
        .ok_or_else(|| Problem::invalid("receipt", "it is neither a receipt nor a receipt's id"))
}

impl RecordBody {
    fn turn(self) -> Result<RecordedTurn, Problem> {
        let calls = self.tool_executions.into_iter().enumerate();
        Ok(RecordedTurn {
            message: self.message,
            reply: self.reply,
            at: self.at,
            calls: calls.map(|(at, execution)| execution.call(at + 1)).collect(),
            error: self.error.map(|e| TurnError { code: e.code, message: e.message }),
            metadata: self.metadata,
            receipt: self.receipt.as_ref().map(receipt_id).transpose()?,
            expected: None,
            key: None,
        })
    }
}

impl ExecutionBody {
    fn call(self, number: usize) -> CallRecord {
        let output = self.result.map(|result| match result {
            Value::String(text) => {
                ToolOutput { text, is_error: self.error.is_some(), ..ToolOutput::default() }
            }
            json => ToolOutput {
                text: json.to_string(),
                json: Some(json),
                is_error: self.error.is_some(),
                ..ToolOutput::default()
            },
        });
        CallRecord {
            id: self.id.unwrap_or_else(|| format!("call_{number}")),
            tool: ToolName { server: self.server, name: self.name },
            arguments: self.arguments,
            output,
            error: self.error,
            round: 1,
            took_ms: self.took_ms,
            ..CallRecord::default()
        }
    }
}
