//! What values of the engine look like on the wire, for the document.
//!
//! The engine serialises these itself; here they are only described, so that generated clients have types. A test
//! calls every operation and checks the answers against them.

mod pieces;

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

pub use pieces::{ChangedPieceView, MovedPieceView, SourceView};

/// How a reply came about.
#[derive(Serialize, ToSchema)]
pub struct ReplyForm {
    /// `caller`, `model`, `offline` or `sampling`.
    by: String,
    /// The model, where one replied.
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    /// Why no model did.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

/// Why a turn failed.
#[derive(Serialize, ToSchema)]
pub struct TurnFailure {
    /// A stable name.
    code: String,
    /// What failed.
    message: String,
}

/// A thing that a turn is about.
#[derive(Serialize, ToSchema)]
pub struct MentionView {
    /// Its type.
    #[serde(rename = "type")]
    kind: String,
    /// Its name.
    name: String,
    /// Its id in the user's system.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// How it was understood: `cue`, `pattern`, `known`, `reference`…
    how: String,
    /// 0–1; under 0.7 is unsure.
    confidence: f32,
}

/// Tokens as a provider counted them.
#[derive(Serialize, ToSchema)]
pub struct TokenUsage {
    /// Of requests, without what was cached.
    input_tokens: u64,
    /// Of replies.
    output_tokens: u64,
    /// Read from the provider's cache.
    #[serde(default)]
    cache_read_tokens: u64,
    /// Written to the provider's cache.
    #[serde(default)]
    cache_write_tokens: u64,
}

/// Tokens of a session.
#[derive(Serialize, ToSchema)]
pub struct SessionTokens {
    /// As providers counted them.
    #[serde(flatten)]
    usage: TokenUsage,
    /// Of messages and replies, by our count.
    said_tokens: u64,
}

/// Tokens of a turn by our count.
#[derive(Serialize, ToSchema)]
pub struct SaidTokens {
    /// Of the message.
    message: u32,
    /// Of the reply.
    reply: u32,
}

/// A tool call that waits for approval.
#[derive(Serialize, ToSchema)]
pub struct AwaitedCallView {
    /// The call's id.
    id: String,
    /// The server.
    server: String,
    /// The tool.
    name: String,
    /// The arguments.
    arguments: BTreeMap<String, Value>,
    /// Why somebody has to approve it.
    reason: String,
    /// Which round of the turn.
    round: u32,
    /// What was said before the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    said_before: Option<String>,
    /// What was decided already.
    #[serde(skip_serializing_if = "Option::is_none")]
    approved: Option<bool>,
}

/// What there was to spend, and what was spent.
#[derive(Serialize, ToSchema)]
pub struct BudgetView {
    /// Tokens that the request could take.
    limit_tokens: u32,
    /// Tokens of everything that was considered.
    considered_tokens: u32,
    /// Tokens that were sent.
    used_tokens: u32,
    /// `used_tokens` of the limit.
    share: f32,
    /// Whether that is over the threshold.
    warning: bool,
    /// What the provider's count is of ours.
    factor: f32,
}

/// What the model was asked beside the request.
#[derive(Serialize, ToSchema)]
pub struct ParametersView {
    /// The longest reply, in tokens.
    reply_tokens_max: u32,
    /// The temperature.
    temperature: f32,
}

/// Items by how they came in.
#[derive(Serialize, ToSchema)]
pub struct ModeCounts {
    /// By their own mode.
    always: u32,
    /// By hand.
    manual: u32,
    /// By search.
    agent: u32,
}

/// Items of a request, by kind.
#[derive(Serialize, ToSchema)]
pub struct ItemCounts {
    /// Rules.
    rules: ModeCounts,
    /// References.
    references: ModeCounts,
    /// Tools.
    tools: ModeCounts,
}

/// An item of a session.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionItemView {
    /// `rule`, `reference` or `tool`.
    #[serde(rename = "type")]
    kind: String,
    /// Its name.
    name: String,
    /// The server, for a tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    server_name: Option<String>,
    /// `always` or `manual`.
    include_mode: String,
    /// Whether the agent does not offer it any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<bool>,
}

/// An item that an agent offers.
#[derive(Serialize, ToSchema)]
pub struct OfferedItem {
    /// `rule`, `reference` or `tool`.
    #[serde(rename = "type")]
    kind: String,
    /// Its name.
    name: String,
    /// The server, for a tool.
    #[serde(rename = "serverName", skip_serializing_if = "Option::is_none")]
    server_name: Option<String>,
    /// `always`, `manual` or `agent`.
    include: String,
    /// What it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    /// Its text, for a rule or a reference.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// Why it may not be used, for a tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
}

/// How often an item was sent and used.
#[derive(Serialize, ToSchema)]
pub struct ItemUsageView {
    /// `rule`, `reference` or `tool`.
    #[serde(rename = "type")]
    kind: String,
    /// Its name.
    name: String,
    /// The server, for a tool.
    #[serde(rename = "serverName", skip_serializing_if = "Option::is_none")]
    server_name: Option<String>,
    /// Requests that it was sent with.
    sent: u32,
    /// Replies that referred to it.
    used: u32,
    /// Sessions that it was sent in, over an agent's sessions.
    #[serde(skip_serializing_if = "Option::is_none")]
    sessions: Option<u32>,
}

/// A tool's call that a session remembers.
#[derive(Serialize, ToSchema)]
pub struct EarlierCall {
    /// The server.
    server: String,
    /// The tool.
    name: String,
    /// The turn.
    turn: u64,
    /// Which call of the turn, from 0.
    call: u32,
    /// Whether it succeeded.
    ok: bool,
}

/// History that was cut to fit.
#[derive(Serialize, ToSchema)]
pub struct PruningView {
    /// When.
    at: Timestamp,
    /// The turn.
    turn: u64,
    /// Tokens before.
    tokens_before: u32,
    /// Tokens after.
    tokens_after: u32,
    /// Pieces that were dropped.
    dropped: usize,
    /// How they were chosen.
    strategy: String,
}

/// Where a session was forked from.
#[derive(Serialize, ToSchema)]
pub struct ForkedFromView {
    /// The session.
    session: String,
    /// Up to this turn.
    turn: u64,
}

/// What the last turns are about.
#[derive(Serialize, ToSchema)]
pub struct TopicView {
    /// A thing.
    #[serde(skip_serializing_if = "Option::is_none")]
    entity: Option<TopicThing>,
    /// Or a kind of things.
    #[serde(skip_serializing_if = "Option::is_none")]
    about: Option<String>,
}

/// A thing by its type and name.
#[derive(Serialize, ToSchema)]
pub struct TopicThing {
    /// Its type.
    #[serde(rename = "type")]
    kind: String,
    /// Its name.
    name: String,
    /// Its id in the user's system.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
}

/// What a search found.
#[derive(Serialize, ToSchema)]
pub struct SearchHitView {
    /// The session.
    session: String,
    /// The turn, from 1; 0 for the title.
    turn: u64,
    /// `title`, `message` or `reply`.
    part: String,
    /// The higher the better; comparable within one answer only.
    score: f64,
    /// The place in the text.
    snippet: SnippetView,
    /// The session's title.
    title: Option<String>,
}

/// A stretch of a text with the found words marked.
#[derive(Serialize, ToSchema)]
pub struct SnippetView {
    /// The stretch; an ellipsis stands where it was cut.
    text: String,
    /// Found words as byte ranges of `text`.
    marks: Vec<MarkView>,
}

/// A range of bytes.
#[derive(Serialize, ToSchema)]
pub struct MarkView {
    /// Its first byte.
    start: usize,
    /// The byte after its last.
    end: usize,
}

/// A session that is about a thing.
#[derive(Serialize, ToSchema)]
pub struct SessionAbout {
    /// The session.
    session_id: String,
    /// Its title.
    title: Option<String>,
    /// How often it names the thing.
    mention_count: u64,
    /// When it did last.
    last_mentioned: Timestamp,
}

/// What the store is and promises.
#[derive(Serialize, ToSchema)]
pub struct StoreFactsView {
    /// Its kind.
    backend: String,
    /// Where it is, without secrets.
    location: String,
    /// How long an acknowledged write lasts.
    durability: String,
    /// Whether several copies of the server may use it.
    many_writers: bool,
    /// Threads that are known to be damaged.
    damaged: u64,
    /// What was found out at the start.
    notes: Vec<String>,
}

/// An MCP server.
#[derive(Serialize, ToSchema)]
pub struct ServerStatusView {
    /// Its name in the configuration.
    name: String,
    /// How it is.
    state: ServerStateView,
    /// Tools that it has.
    tools: usize,
}

/// How an MCP server is.
#[derive(Serialize, ToSchema)]
pub struct ServerStateView {
    /// `idle`, `connected` or `failed`.
    state: String,
    /// What it speaks, when connected.
    #[serde(skip_serializing_if = "Option::is_none")]
    protocol_version: Option<String>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// What a server says of a tool's effects; what it does not say is not there.
#[derive(Serialize, ToSchema)]
pub struct EffectsView {
    /// It changes nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    read_only: Option<bool>,
    /// It may destroy.
    #[serde(skip_serializing_if = "Option::is_none")]
    destructive: Option<bool>,
    /// The same call twice does no more than once.
    #[serde(skip_serializing_if = "Option::is_none")]
    idempotent: Option<bool>,
}
