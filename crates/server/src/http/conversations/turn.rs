//! `GET /conversations/{id}/turns/{turn}`, and the view of a turn.

use axum::Json;
use axum::extract::State;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use throughline_engine::id::SessionId;
use throughline_engine::model::Usage;
use throughline_engine::piece::Source;
use throughline_engine::receipt::ReceiptPiece;
use throughline_engine::session::record::{
    CallRecord, EntityMention, MessageKind, ReplyForm, SaidTokens, TurnError, TurnKind, TurnRecord,
    TurnStatus,
};
use throughline_engine::session::withheld::Withheld;
use throughline_upstream::model::Cost;
use utoipa::ToSchema;

use crate::http::App;
use crate::http::caller::Authenticated;
use crate::http::dropin::Upstreams;
use crate::http::part::Path;
use crate::http::problem::Problem;
use crate::http::shapes;

/// Receipt names of what a message may carry besides files.
pub const WORKFLOW_ID: &str = "workflow_id";
/// See [`WORKFLOW_ID`].
pub const WORKFLOW_SPEC: &str = "workflow_spec";

/// A turn, without its tool results.
#[derive(Debug, Serialize, ToSchema)]
pub struct TurnBrief {
    /// Number of the turn, from 1 without gaps.
    pub turn: u64,
    /// When it was said.
    pub at: Timestamp,
    /// Origin: `recorded`, `chat`, `query`, `drop_in` or `imported`.
    #[schema(value_type = String)]
    pub kind: TurnKind,
    /// The user's message; empty if erased.
    pub message: String,
    /// The assistant's reply; empty if there is none.
    pub reply: String,
    /// `complete`, `partial`, `failed`, `refused` or `erased`.
    #[schema(value_type = String)]
    pub status: TurnStatus,
    /// Whether requests and searches no longer use it, because a memory that was said in it was forgotten.
    pub withheld: bool,
    /// Why it failed; null if it did not.
    #[schema(value_type = Option<shapes::TurnFailure>)]
    pub error: Option<TurnError>,
    /// Who wrote the reply.
    #[schema(value_type = shapes::ReplyForm)]
    pub form: ReplyForm,
    /// Whether the model was offered tools and called none.
    pub no_tool_called: bool,
    /// Tools that were called, as `server:tool`, in order.
    pub tools_used: Vec<String>,
    /// Entities that the turn is about.
    #[schema(value_type = Vec<shapes::MentionView>)]
    pub entities: Vec<EntityMention>,
    /// Tokens as counted by the provider; null if no model was asked.
    #[schema(value_type = Option<shapes::TokenUsage>)]
    pub usage: Option<Usage>,
    /// What those tokens cost; null if no price is configured for the model.
    pub cost: Option<CostView>,
    /// Tokens of message and reply, by this server's count.
    #[schema(value_type = shapes::SaidTokens)]
    pub tokens: SaidTokens,
    /// One sentence about what the model was sent and what was dropped; null without a receipt.
    pub context: Option<String>,
    /// Whether no model was asked; `context` is then about what a model would have been sent.
    pub no_model: bool,
    /// Names of the files attached to the message.
    pub attachments: Vec<String>,
    /// Arbitrary data of the application; null if there is none.
    #[schema(value_type = Option<Object>)]
    pub metadata: Option<Value>,
}

/// What a turn cost, at the prices that are configured now.
#[derive(Debug, Serialize, ToSchema)]
pub struct CostView {
    /// What the tokens cost.
    pub amount: f64,
    /// Currency of the amounts.
    pub currency: String,
    /// What the provider's cache saved.
    pub saved: f64,
}

impl CostView {
    fn of(record: &TurnRecord, upstreams: &Upstreams) -> Option<Self> {
        let ReplyForm::Model { model } = &record.form else { return None };
        let price = upstreams.called(model)?.price.as_ref()?;
        let Cost { amount, saved } = price.of(record.usage.as_ref()?);
        Some(Self { amount, currency: price.currency.clone(), saved })
    }
}

/// A part of the time of a turn.
#[derive(Debug, Serialize, ToSchema)]
pub struct StageView {
    /// `recall`, `model NAME`, `tool SERVER:NAME`, `approval` (it waited for a decision), `reply` (without a model) or
    /// `commit`.
    pub name: String,
    /// Milliseconds since the turn began.
    pub start_ms: u64,
    /// Duration in milliseconds.
    pub took_ms: u64,
}

impl TurnBrief {
    /// The view of a turn; `withheld` are the session's withheld turns.
    pub fn of(record: &TurnRecord, withheld: &Withheld, upstreams: &Upstreams) -> Self {
        let withheld = withheld.holds(record.turn);
        Self { withheld, cost: CostView::of(record, upstreams), ..record.into() }
    }
}

impl From<&TurnRecord> for TurnBrief {
    fn from(record: &TurnRecord) -> Self {
        Self {
            turn: record.turn,
            at: record.at,
            kind: record.kind,
            message: record.message.clone(),
            reply: record.reply.clone(),
            status: record.status,
            withheld: false,
            error: record.error.clone(),
            form: record.form.clone(),
            no_tool_called: record.no_tool_called,
            tools_used: record.calls.iter().map(|call| call.tool.to_string()).collect(),
            entities: record.entities.clone(),
            usage: record.usage,
            cost: None,
            tokens: record.tokens,
            context: record.receipt.as_ref().map(|receipt| receipt.summary()),
            no_model: record.receipt.as_ref().is_some_and(|receipt| receipt.no_model),
            attachments: attachments(record),
            metadata: record.metadata.clone(),
        }
    }
}

/// Names of the files attached to a chat message. Other given texts have fixed names or belong to a drop-in
/// request.
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

/// A turn with its tool calls.
#[derive(Debug, Serialize, ToSchema)]
pub struct Turn {
    /// The turn without its tool results.
    #[serde(flatten)]
    pub brief: TurnBrief,
    /// Tool calls with their results, in order.
    pub tool_executions: Vec<ToolExecution>,
    /// Duration of the reply in milliseconds; null if it was not measured.
    pub took_ms: Option<u64>,
    /// Where that time went, in order of beginning; empty if it was not measured. The commit is known only to the server that
    /// made it, for its newest turns.
    pub stages: Vec<StageView>,
    /// The turn as separate messages.
    pub messages: Vec<KindOfMessage>,
}

/// A message of a turn.
#[derive(Debug, Serialize, ToSchema)]
pub struct KindOfMessage {
    /// `query`, `response`, `tool_result` or `error`.
    #[schema(value_type = String)]
    pub kind: MessageKind,
    /// Text of the message.
    pub text: String,
}

/// A tool call with its result.
#[derive(Debug, Serialize, ToSchema)]
pub struct ToolExecution {
    /// Id of the call.
    pub id: String,
    /// MCP server of the tool.
    pub server: String,
    /// Name of the tool.
    pub name: String,
    /// Arguments of the call.
    #[schema(value_type = Value)]
    pub arguments: Value,
    /// Whether the call succeeded.
    pub ok: bool,
    /// Result of the call, or why it could not be made.
    pub result: String,
    /// Round of tool calls within the turn, from 1.
    pub round: u32,
    /// Duration in milliseconds.
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
            stages: stages(record, None),
            messages: messages.map(|(kind, text)| KindOfMessage { kind, text }).collect(),
        }
    }
}

/// The stages of a turn; its commit follows the reply.
fn stages(record: &TurnRecord, commit_ms: Option<u64>) -> Vec<StageView> {
    let measured = record.stages.iter().map(|stage| StageView {
        name: stage.name.clone(),
        start_ms: stage.start_ms,
        took_ms: stage.took_ms,
    });
    let mut stages: Vec<StageView> = measured.collect();
    if let (Some(took_ms), Some(start_ms), false) = (commit_ms, record.took_ms, stages.is_empty()) {
        // The time of a turn that waited does not contain what was before.
        let ends = stages.iter().map(|stage| stage.start_ms + stage.took_ms);
        let start_ms = ends.fold(start_ms, u64::max);
        stages.push(StageView { name: "commit".to_owned(), start_ms, took_ms });
    }
    stages
}

/// Returns a turn.
#[utoipa::path(get, path = "/conversations/{id}/turns/{turn}", tag = "turns",
    params(("id" = String, Path, description = "Id of the session"),
        ("turn" = u64, Path, description = "Turn, from 1")),
    responses((status = 200, body = Turn), (status = 404, body = Problem)))]
pub async fn show(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path((id, turn)): Path<(SessionId, u64)>,
) -> Result<Json<Turn>, Problem> {
    let (loaded, record) = app.engine().turn(&caller, &id, turn).await?;
    let brief = TurnBrief::of(&record, &loaded.head.withheld, app.upstreams());
    let commit_ms = app.engine().commit_ms(&caller, &id, turn);
    let stages = stages(&record, commit_ms);
    Ok(Json(Turn { brief, stages, ..record.as_ref().into() }))
}
