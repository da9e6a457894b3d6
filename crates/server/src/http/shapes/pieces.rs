//! Schemas of request pieces: where a piece came from, and how two requests differ.
//!
//! A test checks that the fields cover every source of the engine.

use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

/// Where a piece of a request came from; `kind` determines which other fields are present.
#[derive(Serialize, ToSchema)]
pub(crate) struct SourceView {
    /// `instructions`, `persona`, `calm`, `rule`, `reference`, `tool`, `tool_names`, `summary`, `topic`, `entity`, `recalled`,
    /// `elsewhere`, `fact`, `earlier_result`, `day`, `history`, `preferences`, `given`, `client_request` or `message`.
    kind: String,
    /// Name of the instruction, or the part of a quoted turn: `message`, `results` and `reply`; for a turn with tool calls that
    /// a model made, `calls`, the messages as they were sent, or `short_calls`, the same with long results cut, and `answer`,
    /// what it said after the last call.
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<String>,
    /// Name of the persona, item, entity or given text.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// Include mode of an item: `always`, `manual` or `agent`.
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<String>,
    /// MCP server of a tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<String>,
    /// The tools that are only named, as `{server, name}`, for `tool_names`; `call_tool` calls them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<Object>>)]
    tools: Option<Vec<serde_json::Value>>,
    /// First turn that a summary covers.
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<u64>,
    /// Last turn that a summary covers.
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<u64>,
    /// The quoted turn, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    turn: Option<u64>,
    /// Session of the quoted turn, for `elsewhere`.
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    /// Day in the user's time zone, such as `2026-03-01`.
    #[serde(skip_serializing_if = "Option::is_none")]
    on: Option<String>,
    /// What is shown of a long `recalled` or `elsewhere` text; absent if all of it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    excerpt: Option<ExcerptView>,
    /// What a `day` dates: `message` (the message after it), `turn` (the turn after it), `exchange` (the turn before it) or, in
    /// requests of earlier versions, `above` (the turns since the previous date line).
    #[serde(skip_serializing_if = "Option::is_none")]
    of: Option<String>,
    /// Id of the memory, for `fact`.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// Version of the memory that was sent: when its text last changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<Timestamp>,
    /// Whether the memory is quoted, because a model or an import wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    quoted: Option<bool>,
    /// Size of the client's own request in bytes, for `client_request`.
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    /// Entity type, for `entity`.
    #[serde(skip_serializing_if = "Option::is_none")]
    entity: Option<String>,
}

/// A range of a text.
#[derive(Serialize, ToSchema)]
pub(crate) struct ExcerptView {
    /// First byte in UTF-8.
    from: u32,
    /// The byte after the last one.
    to: u32,
}

/// A piece that one request sent and the other dropped, or that both dropped for different reasons.
#[derive(Serialize, ToSchema)]
pub(crate) struct MovedPieceView {
    /// Where the piece came from.
    source: SourceView,
    /// Why the first request dropped it; null if it was sent.
    first: Option<String>,
    /// Why the second request dropped it; null if it was sent.
    second: Option<String>,
    /// Whether the text differs too.
    changed: bool,
}

/// A piece whose text differs between the requests.
#[derive(Serialize, ToSchema)]
pub(crate) struct ChangedPieceView {
    /// Where the piece came from.
    source: SourceView,
    /// Hash of the text in the first request.
    first: String,
    /// Hash of the text in the second request.
    second: String,
    /// Tokens in the first and in the second request.
    tokens: Vec<u32>,
}

/// Tokens of requests that send the whole conversation.
#[derive(Serialize, ToSchema)]
pub(crate) struct ReplayTokens {
    /// Tokens of all requests.
    tokens: u64,
    /// Of those, tokens that were in the previous request too.
    stable_tokens: u64,
}
