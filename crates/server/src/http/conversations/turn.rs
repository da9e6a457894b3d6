//! `GET /conversations/{id}/turns/{turn}`, and how a turn looks from outside.

use axum::Json;
use axum::extract::State;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use throughline_engine::id::SessionId;
use throughline_engine::piece::Source;
use throughline_engine::receipt::ReceiptPiece;
use throughline_engine::session::record::{CallRecord, TurnKind, TurnRecord};
use throughline_engine::session::withheld::Withheld;
use utoipa::ToSchema;

use super::view::{Raw, json};
use crate::http::App;
use crate::http::caller::Authenticated;
use crate::http::part::Path;
use crate::http::problem::Problem;
use crate::http::shapes;

/// What a message may bring besides files, by the names it has in receipts.
pub const WORKFLOW_ID: &str = "workflow_id";
/// See [`WORKFLOW_ID`].
pub const WORKFLOW_SPEC: &str = "workflow_spec";

/// A turn as the history shows it.
#[derive(Debug, Serialize, ToSchema)]
pub struct TurnBrief {
    /// Its number, from 1 without gaps.
    pub turn: u64,
    /// When it was committed.
    pub at: Timestamp,
    /// What made it: `recorded`, `chat`, `query`, `drop_in` or `imported`.
    #[schema(value_type = String)]
    pub kind: Raw,
    /// What the user said.
    pub message: String,
    /// What the assistant said.
    pub reply: String,
    /// `complete`, `partial`, `failed`, `refused` or `erased`.
    #[schema(value_type = String)]
    pub status: Raw,
    /// Whether no request or search uses it any more: a memory that was said in it was forgotten.
    pub withheld: bool,
    /// Why it failed.
    #[schema(value_type = Option<shapes::TurnFailure>)]
    pub error: Raw,
    /// How the reply came about.
    #[schema(value_type = shapes::ReplyForm)]
    pub form: Raw,
    /// Whether a model answered without calling any of the tools that it was offered.
    pub no_tool_called: bool,
    /// Tools that were called, as `server:tool`, in order.
    pub tools_used: Vec<String>,
    /// Things the turn is about.
    #[schema(value_type = Vec<shapes::MentionView>)]
    pub entities: Raw,
    /// Tokens as the provider counted them.
    #[schema(value_type = Option<shapes::TokenUsage>)]
    pub usage: Raw,
    /// Tokens of message and reply, by our count.
    #[schema(value_type = shapes::SaidTokens)]
    pub tokens: Raw,
    /// One sentence about what the model was shown and what was left out.
    pub context: Option<String>,
    /// Names of the files that came with the message.
    pub attachments: Vec<String>,
    /// Arbitrary data that the application kept with it.
    #[schema(value_type = Option<Object>)]
    pub metadata: Raw,
}

impl TurnBrief {
    /// A turn of a session with these withheld ones.
    pub fn of(record: &TurnRecord, withheld: &Withheld) -> Self {
        Self { withheld: withheld.holds(record.turn), ..record.into() }
    }
}

impl From<&TurnRecord> for TurnBrief {
    fn from(record: &TurnRecord) -> Self {
        Self {
            turn: record.turn,
            at: record.at,
            kind: json(&record.kind),
            message: record.message.clone(),
            reply: record.reply.clone(),
            status: json(&record.status),
            withheld: false,
            error: json(&record.error),
            form: json(&record.form),
            no_tool_called: record.no_tool_called,
            tools_used: record.calls.iter().map(|call| call.tool.to_string()).collect(),
            entities: json(&record.entities),
            usage: json(&record.usage),
            tokens: json(&record.tokens),
            context: record.receipt.as_ref().map(|receipt| receipt.summary()),
            attachments: attachments(record),
            metadata: json(&record.metadata),
        }
    }
}

/// The files of a chat message. What else may be given has names of ours, or came with a client's own request.
fn attachments(record: &TurnRecord) -> Vec<String> {
    let receipt = record.receipt.iter().filter(|_| record.kind == TurnKind::Chat);
    let name = |piece: &ReceiptPiece| match &piece.source {
        Source::Given { name }
            if piece.since.is_none() && name != WORKFLOW_ID && name != WORKFLOW_SPEC =>
        {
            Some(name.clone())
        }
        _ => None,
    };
    receipt.flat_map(|receipt| &receipt.pieces).filter_map(name).collect()
}

/// A turn with its tool executions.
#[derive(Debug, Serialize, ToSchema)]
pub struct Turn {
    /// What the history shows.
    #[serde(flatten)]
    pub brief: TurnBrief,
    /// What the tools did.
    pub tool_executions: Vec<ToolExecution>,
    /// How long the reply took, in milliseconds.
    pub took_ms: Option<u64>,
    /// The turn as single messages with their kinds.
    pub messages: Vec<KindOfMessage>,
}

/// One message of a turn.
#[derive(Debug, Serialize, ToSchema)]
pub struct KindOfMessage {
    /// `query`, `response`, `tool_result` or `error`.
    #[schema(value_type = String)]
    pub kind: Raw,
    /// The text.
    pub text: String,
}

/// A tool call with its result.
#[derive(Debug, Serialize, ToSchema)]
pub struct ToolExecution {
    /// The call's id.
    pub id: String,
    /// The server.
    pub server: String,
    /// The tool.
    pub name: String,
    /// The arguments.
    #[schema(value_type = Value)]
    pub arguments: Value,
    /// Whether it succeeded.
    pub ok: bool,
    /// What the tool answered, or why it could not be called.
    pub result: String,
    /// Which round of the turn.
    pub round: u32,
    /// How long it took, in milliseconds.
    pub took_ms: u64,
}

impl From<&CallRecord> for ToolExecution {
    fn from(call: &CallRecord) -> Self {
        Self {
            id: call.id.clone(),
            server: call.tool.server.clone(),
            name: call.tool.name.clone(),
            arguments: call.arguments.clone(),
            ok: call.ok(),
            result: call.result_text(),
            round: call.round,
            took_ms: call.took_ms,
        }
    }
}

impl From<&TurnRecord> for Turn {
    fn from(record: &TurnRecord) -> Self {
        let messages = record.messages().into_iter();
        Self {
            brief: record.into(),
            tool_executions: record.calls.iter().map(Into::into).collect(),
            took_ms: record.took_ms,
            messages: messages
                .map(|(kind, text)| KindOfMessage { kind: json(&kind), text })
                .collect(),
        }
    }
}

/// One turn.
#[utoipa::path(get, path = "/conversations/{id}/turns/{turn}", tag = "turns",
    params(("id" = String, Path, description = "The session's id"),
        ("turn" = u64, Path, description = "The turn, from 1")),
    responses((status = 200, body = Turn), (status = 404, body = Problem)))]
pub async fn show(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path((id, turn)): Path<(SessionId, u64)>,
) -> Result<Json<Turn>, Problem> {
    let (loaded, record) = app.engine().turn(&caller, &id, turn).await?;
    let brief = TurnBrief::of(&record, &loaded.head.withheld);
    Ok(Json(Turn { brief, ..record.as_ref().into() }))
}
