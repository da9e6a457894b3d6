//! `GET /conversations/{id}/turns/{turn}/context`, `…/request`, `…/contents/{hash}`: what the model saw.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use throughline_engine::hash::ContentHash;
use throughline_engine::id::SessionId;
use throughline_engine::model::ModelRequest;
use throughline_engine::piece::{IncludeMode, Position, Rank, Source};
use throughline_engine::rebuild;
use throughline_engine::receipt::{
    BudgetReport, DropReason, ModeCounts, Parameters, Receipt, ReceiptPiece,
};
use throughline_engine::request::encode;
use throughline_engine::session::record::{CallRecord, ReplyForm, TurnRecord};
use throughline_engine::turn::ReceiptId;
use throughline_upstream::model::{self, ModelConfig};
use utoipa::{IntoParams, ToSchema};

use crate::http::App;
use crate::http::caller::Authenticated;
use crate::http::dropin::handed_on;
use crate::http::part::{Path, Query};
use crate::http::problem::Problem;
use crate::http::shapes;

/// Response header with the hash of the request's bytes.
pub(super) const REQUEST_HASH: HeaderName = HeaderName::from_static("x-request-hash");

/// What a request was made of.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ReceiptView {
    /// Id of the receipt, the hash of the request's bytes.
    pub id: String,
    /// One sentence for people.
    pub summary: String,
    /// Whether no model was asked; the pieces are then what a model would have been sent.
    pub no_model: bool,
    /// Tool calls of the turn, in order.
    pub calls: Vec<ReceiptCall>,
    /// When the request was assembled.
    pub at: Timestamp,
    /// Prompt mode: `general`, `creation`, `search`, `modification` or `analysis`.
    pub mode: String,
    /// Why that mode was chosen.
    pub mode_why: String,
    /// Token budget.
    #[schema(value_type = shapes::BudgetView)]
    pub budget: BudgetReport,
    /// Model parameters sent with the request.
    #[schema(value_type = shapes::ParametersView)]
    pub parameters: Parameters,
    /// Number of items in the request, by type and include mode.
    pub counts: ItemCounts,
    /// Rules, references and tools in the request.
    pub items: Vec<RequestItem>,
    /// Every piece that was considered, sent or dropped, in the order of sending.
    pub pieces: Vec<PieceView>,
    /// Tokens of the prefix that equals the previous request.
    pub stable_prefix_tokens: u32,
    /// Tokens of the request, with tokens of the stable prefix counted as a tenth.
    pub effective_tokens: f64,
    /// Tokens that sending the whole conversation would have taken.
    pub replay_tokens: u64,
    /// The same, with tokens of the stable prefix counted as a tenth.
    pub replay_effective_tokens: f64,
    /// Turn whose request this one extends; null if it starts a new prefix.
    pub continues: Option<u64>,
    /// Why it does not extend the previous request; null if it does.
    pub broken_by: Option<String>,
    /// First turn that is included verbatim.
    pub window_from: u64,
    /// Version of the layout that turned the pieces into a request.
    pub layout: u32,
}

/// Number of items in a request, by type and include mode.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ItemCounts {
    /// Number of rules.
    #[schema(value_type = shapes::ModeCounts)]
    rules: ModeCounts,
    /// Number of references.
    #[schema(value_type = shapes::ModeCounts)]
    references: ModeCounts,
    /// Number of tools.
    #[schema(value_type = shapes::ModeCounts)]
    tools: ModeCounts,
}

/// A tool call of the turn, without its result.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ReceiptCall {
    /// MCP server of the tool.
    pub server: String,
    /// Name of the tool.
    pub name: String,
    /// Arguments of the call.
    #[schema(value_type = Value)]
    pub arguments: Value,
    /// Whether the call succeeded.
    pub ok: bool,
    /// Why the call could not be made; null if it was made.
    pub error: Option<String>,
    /// Characters of the result before any was cut; null without a result.
    pub result_characters: Option<u64>,
    /// Duration in milliseconds.
    pub took_ms: u64,
}

impl From<&CallRecord> for ReceiptCall {
    fn from(call: &CallRecord) -> Self {
        Self {
            server: call.tool.server.clone(),
            name: call.tool.name.clone(),
            arguments: call.arguments.clone(),
            ok: call.ok(),
            error: call.error.clone(),
            result_characters: call.output.as_ref().map(|output| output.characters()),
            took_ms: call.took_ms,
        }
    }
}

/// A rule, a reference or a tool in a request.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct RequestItem {
    /// `rule`, `reference` or `tool`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Name of the item.
    pub name: String,
    /// MCP server of a tool; absent for rules and references.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_name: Option<String>,
    /// `always`, `manual` or `agent`.
    #[schema(value_type = String)]
    pub include_mode: IncludeMode,
    /// Similarity to the message, 0–1; absent if it was not searched for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub similarity_score: Option<f32>,
    /// Whether the reply used it.
    pub used: bool,
}

impl RequestItem {
    fn of(piece: &ReceiptPiece) -> Option<Self> {
        let (kind, name, server, mode) = match &piece.source {
            Source::Rule { name, mode } => ("rule", name, None, mode),
            Source::Reference { name, mode } => ("reference", name, None, mode),
            Source::Tool { server, name, mode } => ("tool", name, Some(server), mode),
            _ => return None,
        };
        Some(Self {
            kind,
            name: name.clone(),
            server_name: server.cloned(),
            include_mode: *mode,
            similarity_score: piece.score,
            used: piece.used,
        })
    }
}

/// A piece of a request: a text with its origin.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct PieceView {
    /// Where the piece came from.
    #[schema(value_type = shapes::SourceView)]
    pub source: Source,
    /// Why it was considered.
    pub why: String,
    /// Position in the request: `tools`, `system`, `preface`, `history`, `aside` or `message`.
    #[schema(value_type = String)]
    pub place: Position,
    /// Rank, such as `required`; pieces of the lowest rank are dropped first.
    #[schema(value_type = String)]
    pub rank: Rank,
    /// Similarity to the message, 0–1; null if it was not searched for.
    pub score: Option<f32>,
    /// Tokens, by this server's count.
    pub tokens: u32,
    /// Hash of the text, for `…/contents/{hash}`.
    #[schema(value_type = String)]
    pub hash: ContentHash,
    /// Turn whose request first included it; null if this one is the first.
    pub since: Option<u64>,
    /// Whether it is part of the request.
    pub included: bool,
    /// Whether it was sent to a model; `false` for all pieces if no model was asked.
    pub sent: bool,
    /// Why it was dropped, such as `over_window` or `not_relevant`; null if it was not.
    #[schema(value_type = Option<String>)]
    pub dropped: Option<DropReason>,
    /// Whether the reply used it; always `false` except for rules, references and tools.
    pub used: bool,
    /// Whether what it was made of was erased since: its text and its name are gone.
    pub erased: bool,
}

impl From<&ReceiptPiece> for PieceView {
    fn from(piece: &ReceiptPiece) -> Self {
        Self {
            source: piece.source.clone(),
            why: piece.why.clone(),
            place: piece.place,
            rank: piece.rank,
            score: piece.score,
            tokens: piece.tokens,
            hash: piece.hash,
            since: piece.since,
            included: piece.sent(),
            sent: piece.sent(),
            dropped: piece.dropped,
            used: piece.used,
            erased: piece.erased,
        }
    }
}

impl From<&Receipt> for ReceiptView {
    fn from(receipt: &Receipt) -> Self {
        let [rules, references, tools] = receipt.item_counts();
        let piece = |piece: &ReceiptPiece| {
            let view = PieceView::from(piece);
            PieceView { sent: view.sent && !receipt.no_model, ..view }
        };
        Self {
            id: ReceiptId::of(receipt).to_string(),
            summary: receipt.summary(),
            no_model: receipt.no_model,
            calls: Vec::new(),
            at: receipt.at,
            mode: receipt.mode.as_str().into(),
            mode_why: receipt.mode_why.clone(),
            budget: receipt.budget,
            parameters: receipt.parameters,
            counts: ItemCounts { rules, references, tools },
            items: receipt.pieces.iter().filter(|p| p.sent()).filter_map(RequestItem::of).collect(),
            pieces: receipt.pieces.iter().map(piece).collect(),
            stable_prefix_tokens: receipt.stable_prefix_tokens,
            effective_tokens: receipt.effective_tokens(),
            replay_tokens: receipt.replay.tokens,
            replay_effective_tokens: receipt.replay.effective_tokens(),
            continues: receipt.continues,
            broken_by: receipt.broken_by.clone(),
            window_from: receipt.window_from,
            layout: receipt.layout,
        }
    }
}

/// Returns what the model saw on that turn, and why.
#[utoipa::path(get, path = "/conversations/{id}/turns/{turn}/context", tag = "turns",
    params(("id" = String, Path, description = "Id of the session"),
        ("turn" = u64, Path, description = "Turn, from 1")),
    responses((status = 200, body = ReceiptView), (status = 404, body = Problem)))]
pub(super) async fn show(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path((id, turn)): Path<(SessionId, u64)>,
) -> Result<Json<ReceiptView>, Problem> {
    let receipt = app.engine().receipt(&caller, &id, turn).await?;
    let (_, record) = app.engine().turn(&caller, &id, turn).await?;
    let calls = record.calls.iter().map(Into::into).collect();
    Ok(Json(ReceiptView { calls, ..ReceiptView::from(&receipt) }))
}

/// Format of the request.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct RequestQuery {
    /// `engine` for the bytes that the receipt's hash refers to, `provider` for the body as sent to the model's
    /// provider.
    #[param(value_type = String, default = "engine", example = "provider")]
    format: RequestFormat,
    /// The round of tool calls whose request it is, from 1: the first request, with the calls before that round and their results.
    #[param(minimum = 1)]
    round: Option<u32>,
}

/// Format of a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum RequestFormat {
    /// The same for every provider.
    #[default]
    Engine,
    /// As the provider of the turn's model receives it.
    Provider,
}

/// Rebuilds the request of that turn, byte for byte. `x-request-hash` is its hash. A turn of a drop-in endpoint
/// is returned as it was forwarded, in the provider's format.
#[utoipa::path(get, path = "/conversations/{id}/turns/{turn}/request", tag = "turns",
    params(("id" = String, Path, description = "Id of the session"),
        ("turn" = u64, Path, description = "Turn, from 1"), RequestQuery),
    responses((status = 200, body = Object), (status = 404, body = Problem)))]
pub(super) async fn request(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path((id, turn)): Path<(SessionId, u64)>,
    Query(query): Query<RequestQuery>,
) -> Result<Response, Problem> {
    if query.round.is_none()
        && let Some((bytes, hash)) = handed_on::again(app.engine(), &caller, &id, turn).await?
    {
        return Ok(json_with_hash(bytes, &hash));
    }
    let mut request = app.engine().request(&caller, &id, turn).await?;
    let (_, record) = app.engine().turn(&caller, &id, turn).await?;
    if let Some(round) = query.round {
        request = of_round(&request, &record, round)?;
    }
    if query.format == RequestFormat::Provider {
        let config = provider_of(&app, &record.form).ok_or_else(|| no_provider(turn))?;
        let bytes = serde_json::to_vec(&model::body(config, &request)).unwrap_or_default();
        let hash = ContentHash::of_bytes(&bytes);
        return Ok(json_with_hash(bytes, &hash));
    }
    let bytes = encode(&request)?;
    let hash = ContentHash::of_bytes(&bytes);
    Ok(json_with_hash(bytes, &hash))
}

/// The request of a round: the first one, and the calls before that round.
fn of_round(
    request: &ModelRequest,
    record: &TurnRecord,
    round: u32,
) -> Result<ModelRequest, Problem> {
    let last = record.requests();
    if !(1..=last).contains(&round) {
        let reason = format!("turn {} has no request {round}; it has 1-{last}", record.turn);
        return Err(Problem::invalid("round", reason));
    }
    let before = record.calls.iter().filter(|call| call.round < round);
    Ok(rebuild::with_rounds(request, &before.cloned().collect::<Vec<_>>()))
}

/// The configured model that replied, or failed to.
fn provider_of<'a>(app: &'a App, form: &ReplyForm) -> Option<&'a ModelConfig> {
    match form {
        ReplyForm::Model { model } | ReplyForm::Offline { model: Some(model), .. } => {
            app.upstreams().called(model)
        }
        ReplyForm::Caller | ReplyForm::Offline { .. } | ReplyForm::Sampling { .. } => None,
    }
}

fn no_provider(turn: u64) -> Problem {
    Problem::new(
        StatusCode::NOT_FOUND,
        "no_provider_request",
        format!("no configured model was asked on turn {turn}"),
        "omit format to get the engine's form",
    )
}

fn json_with_hash(bytes: Vec<u8>, hash: &ContentHash) -> Response {
    let hash =
        HeaderValue::from_str(hash.as_str()).expect("hexadecimal digits are a valid header value");
    let json = HeaderValue::from_static("application/json");
    ([(header::CONTENT_TYPE, json), (REQUEST_HASH, hash)], bytes).into_response()
}

/// Returns the text of a piece, as it was sent on that turn.
#[utoipa::path(get, path = "/conversations/{id}/turns/{turn}/contents/{hash}", tag = "turns",
    params(("id" = String, Path, description = "Id of the session"),
        ("turn" = u64, Path, description = "Turn, from 1"),
        ("hash" = String, Path, description = "Hash of the piece, from the receipt")),
    responses((status = 200, body = String, content_type = "text/plain"),
        (status = 404, body = Problem)))]
pub(super) async fn content(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path((id, turn, hash)): Path<(SessionId, u64, String)>,
) -> Result<String, Problem> {
    Ok(app.engine().kept_text(&caller, &id, turn, &hash).await?)
}
