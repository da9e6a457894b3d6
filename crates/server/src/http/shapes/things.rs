//! Schemas of entities, workflows, rules and summaries.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// An entity of a session.
#[derive(Serialize, ToSchema)]
pub(crate) struct EntityShape {
    /// Entity type, such as `device`.
    #[serde(rename = "type")]
    kind: String,
    /// Entity name; absent if only the id is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// Id in the user's system; absent if not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// Name for URLs; absent if it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    slug: Option<String>,
    /// Address in the user's system; absent if it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    /// When it was mentioned first.
    first_mentioned: Timestamp,
    /// When it was mentioned last.
    last_mentioned: Timestamp,
    /// Number of mentions by the user; absent if only a tool mentioned it.
    #[serde(skip_serializing_if = "Option::is_none")]
    mention_count: Option<u32>,
    /// The latest mentions; absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    mention_contexts: Option<Vec<MentionText>>,
    /// Relations to other entities; absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    relations: Option<Vec<RelationShape>>,
    /// A summary of a tool's data; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<BTreeMap<String, Value>>,
    /// When that data is looked up again; absent without data.
    #[serde(skip_serializing_if = "Option::is_none")]
    data_expires_at: Option<Timestamp>,
    /// Other names; absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    aliases: Option<Vec<String>>,
    /// What was done with it, oldest first; absent if nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    actions: Option<Vec<ActionShape>>,
    /// Where the knowledge comes from, lowest trust first; absent if not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    origins: Option<Vec<OriginShape>>,
    /// Relevance from recency, mentions, relations and type.
    #[serde(rename = "relevanceScore")]
    relevance: f64,
    /// The lowest trust among its origins, such as `user` or `tool_result`.
    trust: String,
    /// Whether recent turns mentioned it.
    active: bool,
}

/// The words around a mention.
#[derive(Serialize, ToSchema)]
pub(super) struct MentionText {
    /// Turn of the mention, from 1.
    turn: u64,
    /// The surrounding words.
    text: String,
}

/// A relation of an entity to another one.
#[derive(Serialize, ToSchema)]
pub(super) struct RelationShape {
    /// What the other one is to it: `parent`, `child` or `related`.
    relation: String,
    /// Type of the other one.
    #[serde(rename = "type")]
    kind: String,
    /// Name of the other one; absent if only the id is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// Id of the other one; absent if not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
}

/// Something that was done with an entity.
#[derive(Serialize, ToSchema)]
pub(super) struct ActionShape {
    /// `discussed`, `modified` or `created`.
    action: String,
    /// When that was said.
    mentioned_at: Timestamp,
}

/// Where knowledge about an entity comes from.
#[derive(Serialize, ToSchema)]
pub(super) struct OriginShape {
    /// Trust class, such as `user` or `tool_result`.
    trust: String,
    /// `message`, or a tool as `server:name`.
    from: String,
    /// Turn of its first occurrence, from 1.
    turn: u64,
}

/// A workflow that a session refers to.
#[derive(Serialize, ToSchema)]
pub(crate) struct WorkflowView {
    /// Id of the workflow, or its name if the id is not known.
    spec_id: String,
    /// Name of the workflow.
    name: String,
    /// When it was mentioned last.
    mentioned_at: Timestamp,
    /// Last action that changed it: `discussed`, `modified` or `created`.
    action: String,
    /// Other names.
    aliases: Vec<String>,
}

/// A rule about a tool.
#[derive(Serialize, ToSchema)]
pub(crate) struct RuleView {
    /// The tool, or the pattern of an agent's rule.
    tool: String,
    /// `allow`, `ask`, `deny` or `reads`.
    rule: String,
    /// Who it applies to: `operator`, `agent`, `everyone`, `user` or `session`.
    scope: String,
    /// Who decided; absent if it is configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
    /// When it was decided; absent if it is configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<Timestamp>,
    /// `false` once the tool's definition has changed.
    in_force: bool,
}

/// Summary of older turns.
#[derive(Serialize, ToSchema)]
pub(crate) struct SummaryView {
    /// First turn covered.
    from: u64,
    /// Last turn covered.
    to: u64,
    /// Text of the summary.
    text: String,
    /// Tokens, by this server's count.
    tokens: u32,
    /// The model that wrote it, or `extraction`.
    by: String,
    /// Last turn that a model summarised; absent if none.
    #[serde(skip_serializing_if = "Option::is_none")]
    modelled_to: Option<u64>,
    /// When it was written.
    at: Timestamp,
}
