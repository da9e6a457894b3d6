//! `POST /conversations/{id}/turns`: records an exchange that the application had with its own model.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use throughline_engine::failure::UpstreamFault;
use throughline_engine::id::SessionId;
use throughline_engine::session::record::{CallRecord, TurnError};
use throughline_engine::store::Durability;
use throughline_engine::tool::{ToolName, ToolOutput};
use throughline_engine::turn::RecordedTurn;
use utoipa::ToSchema;

use crate::http::App;
use crate::http::body::Body;
use crate::http::caller::Authenticated;
use crate::http::condition::IfMatch;
use crate::http::idempotency::IdempotencyKey;
use crate::http::part::Path;
use crate::http::problem::Problem;
use crate::http::shapes;

/// An exchange to record.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordBody {
    /// The user's message, at most `limits.message_bytes_max` (256 KiB).
    message: String,
    /// The assistant's reply, at most `limits.reply_bytes_max` (1 MiB); default: empty.
    #[serde(default)]
    reply: String,
    /// When it was said; default: now. Must not be before the last turn.
    #[serde(default)]
    at: Option<Timestamp>,
    /// Tool calls of the exchange, in order; at most 64.
    #[serde(default)]
    tool_executions: Vec<ExecutionBody>,
    /// Why the exchange failed; absent if it did not.
    #[serde(default)]
    error: Option<ErrorBody>,
    /// Arbitrary data of the application to store with the turn, at most 64 KiB.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    metadata: Option<Value>,
    /// Receipt of the prepared request, or its id; absent if it was not prepared here.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    receipt: Option<Value>,
}

/// A tool call with its result.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ExecutionBody {
    /// Id of the call; default: `call_` and its number.
    #[serde(default)]
    id: Option<String>,
    /// MCP server of the tool; default: empty.
    #[serde(default)]
    server: String,
    /// Name of the tool.
    #[serde(alias = "tool", alias = "tool_name")]
    name: String,
    /// Arguments of the call; default: null.
    #[serde(default)]
    #[schema(value_type = Value)]
    arguments: Value,
    /// Result of the call, text or JSON; absent if it could not be made.
    #[serde(default)]
    #[schema(value_type = Value)]
    result: Option<Value>,
    /// Why the call failed; absent if it succeeded.
    #[serde(default)]
    error: Option<String>,
    /// Duration in milliseconds; default: 0.
    #[serde(default)]
    took_ms: u64,
}

/// Why an exchange failed.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ErrorBody {
    /// Error code of the application; default: `failed`.
    #[serde(default = "failed")]
    code: String,
    /// What failed, for people.
    message: String,
    /// How the model failed, where one did.
    #[serde(default)]
    #[schema(value_type = Option<shapes::FailureCause>)]
    cause: Option<UpstreamFault>,
}

impl From<ErrorBody> for TurnError {
    fn from(ErrorBody { code, message, cause }: ErrorBody) -> Self {
        Self { code, message, cause }
    }
}

fn failed() -> String {
    "failed".into()
}

/// The recorded turn.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct RecordedView {
    /// Number of the turn, from 1.
    pub turn: u64,
    /// Version of the session after this turn.
    pub version: u64,
    /// Durability of the turn: `memory`, `buffered`, `buffered 1s`, `fsync` or `replicated`.
    #[schema(value_type = String)]
    pub durability: Durability,
    /// `kept` if the receipt was stored with the turn; `unknown` if this server does not have the request, and preparing
    /// the message again gives another one, because the session changed meanwhile: the next request then starts a new
    /// prefix. Absent if none was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receipt: Option<&'static str>,
}

/// Records an exchange. Repeating an `Idempotency-Key` returns 200 with the same body.
#[utoipa::path(post, path = "/conversations/{id}/turns", tag = "turns", request_body = RecordBody,
    params(("id" = String, Path, description = "Id of the session"),
        ("idempotency-key" = Option<String>, Header, description = "Key of this request, 1–255 visible ASCII characters; a repetition returns the first result"),
        ("if-match" = Option<String>, Header, description = "Version that the session must have, in quotes, such as `\"3\"`; default: any")),
    responses((status = 201, body = RecordedView), (status = 200, body = RecordedView),
        (status = 404, body = Problem), (status = 409, body = Problem),
        (status = 422, body = Problem)))]
pub(super) async fn record(
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
        durability: app.engine().store().facts().durability,
        receipt: kept.map(|kept| if kept { "kept" } else { "unknown" }),
    };
    let status = if recorded.repeated() { StatusCode::OK } else { StatusCode::CREATED };
    Ok((status, Json(view)))
}

fn receipt_id(receipt: &Value) -> Result<String, Problem> {
    let id = receipt.as_str().or_else(|| receipt.get("id")?.as_str());
    id.map(str::to_owned)
        .ok_or_else(|| Problem::invalid("receipt", "it is neither a receipt nor the id of one"))
}

impl RecordBody {
    fn turn(self) -> Result<RecordedTurn, Problem> {
        let calls = self.tool_executions.into_iter().enumerate();
        Ok(RecordedTurn {
            message: self.message,
            reply: self.reply,
            at: self.at,
            calls: calls.map(|(at, execution)| execution.call(at + 1)).collect(),
            error: self.error.map(Into::into),
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
