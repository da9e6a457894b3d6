//! Schemas of values that the engine serialises itself.
//!
//! They exist only for the OpenAPI document, so that generated clients have types. A test calls every operation
//! and checks the responses against them.

mod pieces;
mod things;

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

pub(super) use pieces::{ChangedPieceView, MovedPieceView, ReplayTokens, SourceView};
pub(super) use things::{EntityShape, RuleView, SummaryView, WorkflowView};

/// Who wrote the reply, and why no model did.
#[derive(Serialize, ToSchema)]
pub(super) struct ReplyForm {
    /// `caller` (the application), `model`, `offline` (no model) or `sampling` (the MCP client's model).
    by: String,
    /// The model as `provider/model`; with `offline` the one that failed, otherwise absent there and with `caller`.
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    /// Why no model replied; absent unless `by` is `offline`.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    /// `true` if a model was asked first and failed; absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    fallback: Option<bool>,
}

/// Why a turn failed.
#[derive(Serialize, ToSchema)]
pub(super) struct TurnFailure {
    /// Stable error code, such as `cancelled`.
    code: String,
    /// What failed, for people.
    message: String,
    /// How the model failed, where one did; absent in turns of older versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<FailureCause>,
}

/// How a model failed: it was `unreachable`; it `timed_out`; it was `rate_limited`, or a quota is used up; the key was
/// refused (`unauthorized`); the request was refused (`rejected`); the model is not known (`not_found`); its answer was not in
/// the provider's format (`malformed`); the provider `failed`; the request or the answer was `too_large`; it was `cancelled`.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "it describes the engine's type, which is what is written")]
pub(super) enum FailureCause {
    Unreachable,
    TimedOut,
    RateLimited,
    Unauthorized,
    Rejected,
    NotFound,
    Malformed,
    Failed,
    TooLarge,
    Cancelled,
}

/// An entity that a turn is about.
#[derive(Serialize, ToSchema)]
pub(super) struct MentionView {
    /// Entity type, such as `device`.
    #[serde(rename = "type")]
    kind: String,
    /// Entity name; empty if only an id was given.
    name: String,
    /// Id in the user's system; absent if not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// How it was recognised: `cue`, `pattern`, `name`, `alias`, `fuzzy`, `reference`, `found` or `given`.
    how: String,
    /// Confidence, 0–1; below 0.7 it should be confirmed.
    confidence: f32,
}

/// Token counts reported by the provider.
#[derive(Serialize, ToSchema)]
pub(super) struct TokenUsage {
    /// Input tokens, including cached ones.
    input_tokens: u64,
    /// Output tokens.
    output_tokens: u64,
    /// Of the input tokens, those read from the provider's cache; 0 if not reported.
    #[serde(default)]
    cache_read_tokens: u64,
    /// Of the input tokens, those written to the provider's cache; 0 if not reported.
    #[serde(default)]
    cache_write_tokens: u64,
}

/// Token counts of a session, over all its turns.
#[derive(Serialize, ToSchema)]
pub(super) struct SessionTokens {
    /// Counts reported by providers.
    #[serde(flatten)]
    usage: TokenUsage,
    /// Tokens of all messages and replies, by this server's count.
    said_tokens: u64,
    /// Tokens of all requests, by this server's count.
    request_tokens: u64,
    /// Of the request tokens, those in a prefix that equals the previous request.
    stable_tokens: u64,
    /// Tokens of all requests, with those of the stable prefix counted as a tenth.
    effective_tokens: f64,
    /// What sending the whole conversation each time would have taken.
    replay: ReplayTokens,
    /// The same, with tokens of the stable prefix counted as a tenth.
    replay_effective_tokens: f64,
}

/// Tokens of a turn, by this server's count.
#[derive(Serialize, ToSchema)]
pub(super) struct SaidTokens {
    /// Tokens of the message.
    message: u32,
    /// Tokens of the reply.
    reply: u32,
    /// Tokens of the tool calls and their results; absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    calls: Option<u32>,
}

/// A tool call that waits for approval.
#[derive(Serialize, ToSchema)]
pub(super) struct AwaitedCallView {
    /// Id of the call, for `POST /conversations/{id}/approvals/{call}`.
    id: String,
    /// MCP server of the tool.
    server: String,
    /// Name of the tool.
    name: String,
    /// Arguments of the call.
    arguments: BTreeMap<String, Value>,
    /// Why the call needs approval.
    reason: String,
    /// Whether the tool can be allowed for the rest of the session.
    session_scope: bool,
    /// Round of tool calls within the turn, from 1.
    round: u32,
    /// What the model said before its calls in this round; absent if nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    said_before: Option<String>,
    /// The decision; absent until it is made.
    #[serde(skip_serializing_if = "Option::is_none")]
    approved: Option<bool>,
}

/// Token budget of a request.
#[derive(Serialize, ToSchema)]
pub(super) struct BudgetView {
    /// Maximum tokens that the request may take: the model's context window less the reply.
    limit_tokens: u32,
    /// Tokens of all pieces that were considered.
    considered_tokens: u32,
    /// Tokens of the pieces that were sent.
    used_tokens: u32,
    /// `used_tokens` divided by `limit_tokens`.
    share: f32,
    /// Whether `share` is above `limits.warning_share`.
    warning: bool,
    /// The provider's token count relative to this server's; 1 until it is learnt.
    factor: f32,
}

/// Model parameters sent with a request.
#[derive(Serialize, ToSchema)]
pub(super) struct ParametersView {
    /// Maximum tokens of the reply.
    reply_tokens_max: u32,
    /// Sampling temperature, 0–1.
    temperature: f32,
}

/// Number of items by include mode.
#[derive(Serialize, ToSchema)]
pub(super) struct ModeCounts {
    /// Items that every session of the agent has.
    always: u32,
    /// Items added to the session by hand.
    manual: u32,
    /// Items chosen for this request by search.
    agent: u32,
}

/// A rule, a reference or a tool of a session.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SessionItemView {
    /// `rule`, `reference` or `tool`.
    #[serde(rename = "type")]
    kind: String,
    /// Name of the item.
    name: String,
    /// MCP server of a tool; absent for rules and references.
    #[serde(skip_serializing_if = "Option::is_none")]
    server_name: Option<String>,
    /// `always` or `manual`.
    include_mode: String,
    /// Whether the agent no longer offers the item; only present when the items of a session are listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<bool>,
}

/// A rule, a reference or a tool that an agent offers.
#[derive(Serialize, ToSchema)]
pub(super) struct OfferedItem {
    /// `rule`, `reference` or `tool`.
    #[serde(rename = "type")]
    kind: String,
    /// Name of the item.
    name: String,
    /// MCP server of a tool; absent for rules and references.
    #[serde(rename = "serverName", skip_serializing_if = "Option::is_none")]
    server_name: Option<String>,
    /// Include mode: `always` (in every session), `manual` (added by hand) or `agent` (chosen per request).
    include: String,
    /// What it is about; may be empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    /// Text of a rule or a reference; for a tool, the JSON Schema of its arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// Why the tool may not be called; absent if it may.
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
}

/// How often an item was sent and used.
#[derive(Serialize, ToSchema)]
pub(super) struct ItemUsageView {
    /// `rule`, `reference` or `tool`.
    #[serde(rename = "type")]
    kind: String,
    /// Name of the item.
    name: String,
    /// MCP server of a tool; absent for rules and references.
    #[serde(rename = "serverName", skip_serializing_if = "Option::is_none")]
    server_name: Option<String>,
    /// Requests that included the item.
    sent: u32,
    /// Replies that used it: a tool was called, a rule or reference was named or followed in wording.
    used: u32,
    /// Sessions that sent it; absent in the counts of a single session.
    #[serde(skip_serializing_if = "Option::is_none")]
    sessions: Option<u32>,
}

/// A tool call that the session remembers.
#[derive(Serialize, ToSchema)]
pub(super) struct EarlierCall {
    /// MCP server of the tool.
    server: String,
    /// Name of the tool.
    name: String,
    /// Turn of the call, from 1.
    turn: u64,
    /// Position among the calls of the turn, from 0.
    call: u32,
    /// Whether the call succeeded.
    ok: bool,
}

/// A request whose history did not fit.
#[derive(Serialize, ToSchema)]
pub(super) struct PruningView {
    /// When the request was assembled.
    at: Timestamp,
    /// Turn of the request, from 1.
    turn: u64,
    /// Tokens of all pieces that were considered.
    tokens_before: u32,
    /// Tokens of the pieces that were sent.
    tokens_after: u32,
    /// Number of pieces that were dropped.
    dropped: usize,
    /// How the dropped pieces were chosen, for people.
    strategy: String,
}

/// Origin of a forked session.
#[derive(Serialize, ToSchema)]
pub(super) struct ForkedFromView {
    /// Id of the original session.
    session: String,
    /// Last turn that was copied, from 1.
    turn: u64,
}

/// What the last turns are about.
#[derive(Serialize, ToSchema)]
pub(super) struct TopicView {
    /// The entity; absent if no single one is meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    entity: Option<TopicThing>,
    /// An aspect of the entity, or the type of several entities; absent if not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    about: Option<String>,
}

/// An entity.
#[derive(Serialize, ToSchema)]
pub(super) struct TopicThing {
    /// Entity type, such as `device`.
    #[serde(rename = "type")]
    kind: String,
    /// Entity name.
    name: String,
    /// Id in the user's system; absent if not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
}

/// A search hit.
#[derive(Serialize, ToSchema)]
pub(super) struct SearchHitView {
    /// Id of the session.
    session: String,
    /// Turn, from 1; 0 if the title matched.
    turn: u64,
    /// Where the words were found: `title`, `message` or `reply`.
    part: String,
    /// Relevance, higher is better; comparable only within one response.
    score: f64,
    /// Excerpt around the matching words.
    snippet: SnippetView,
    /// Title of the session; null if it has none.
    title: Option<String>,
}

/// An excerpt with the matching words marked.
#[derive(Serialize, ToSchema)]
pub(super) struct SnippetView {
    /// The excerpt; an ellipsis marks a cut.
    text: String,
    /// Matching words, as byte ranges of `text` in UTF-8.
    marks: Vec<MarkView>,
}

/// A range of bytes.
#[derive(Serialize, ToSchema)]
pub(super) struct MarkView {
    /// Offset of the first byte.
    start: usize,
    /// Offset after the last byte.
    end: usize,
}

/// A session that mentions an entity.
#[derive(Serialize, ToSchema)]
pub(super) struct SessionAbout {
    /// Id of the session.
    session_id: String,
    /// Title of the session; null if it has none.
    title: Option<String>,
    /// How often the user mentioned the entity there.
    mention_count: u64,
    /// When it was last mentioned there.
    last_mentioned: Timestamp,
}

/// The store and its guarantees.
#[derive(Serialize, ToSchema)]
pub(super) struct StoreFactsView {
    /// `sqlite`, `files`, `redis`, `s3` or `memory`.
    backend: String,
    /// Location of the store, without secrets.
    location: String,
    /// Durability of an acknowledged write: `memory`, `buffered`, `buffered 1s`, `fsync` or `replicated`.
    durability: String,
    /// Whether several servers may share it.
    many_writers: bool,
    /// Number of threads known to be damaged; `throughline check` names them.
    damaged: u64,
    /// Findings when the store was opened, such as its version.
    notes: Vec<String>,
}

/// An MCP server.
#[derive(Serialize, ToSchema)]
pub(super) struct ServerStatusView {
    /// Name in the configuration.
    name: String,
    /// Connection state.
    state: ServerStateView,
    /// Number of its tools.
    tools: usize,
}

/// Connection state of an MCP server.
#[derive(Serialize, ToSchema)]
pub(super) struct ServerStateView {
    /// `idle`, `connected` or `failed`.
    state: String,
    /// MCP protocol version; absent unless connected.
    #[serde(skip_serializing_if = "Option::is_none")]
    protocol_version: Option<String>,
    /// Why it failed; absent unless `state` is `failed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// Effects of a tool as its server declares them; undeclared ones are absent.
#[derive(Serialize, ToSchema)]
pub(super) struct EffectsView {
    /// Whether it only reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    read_only: Option<bool>,
    /// Whether it may destroy data.
    #[serde(skip_serializing_if = "Option::is_none")]
    destructive: Option<bool>,
    /// Whether repeating a call has no further effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    idempotent: Option<bool>,
    /// Whether it deals with data outside the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    open_world: Option<bool>,
}
