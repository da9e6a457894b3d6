//! What a request was made of, on the wire: where each piece came from, and how two requests differ.
//!
//! Described only, as the rest of [`super`]; a test holds the fields to those of every source that there is.

use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

/// Where a piece of a request came from. `kind` says which of the other fields are there.
#[derive(Serialize, ToSchema)]
pub struct SourceView {
    /// `instructions`, `persona`, `calm`, `rule`, `reference`, `tool`, `summary`, `topic`, `entity`, `recalled`,
    /// `elsewhere`, `fact`, `earlier_result`, `day`, `history`, `preferences`, `given`, `client_request` or `message`.
    kind: String,
    /// Which part.
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<String>,
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// How it came in.
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<String>,
    /// The server, for a tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<String>,
    /// The first turn of a summary.
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<u64>,
    /// The last turn of a summary.
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<u64>,
    /// The turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    turn: Option<u64>,
    /// The user's other session that the turn is of, for `elsewhere`.
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    /// The day it was said, as `2026-03-01`.
    #[serde(skip_serializing_if = "Option::is_none")]
    on: Option<String>,
    /// What the day is told of: `message`, `turn` or `above`.
    #[serde(skip_serializing_if = "Option::is_none")]
    of: Option<String>,
    /// The memory's id, for `fact`.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// The version of the memory that was shown: when its text last changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<Timestamp>,
    /// The size of what a client sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    /// The thing's type.
    #[serde(skip_serializing_if = "Option::is_none")]
    entity: Option<String>,
}

/// A piece that one request sent and the other did not.
#[derive(Serialize, ToSchema)]
pub struct MovedPieceView {
    /// Where it came from.
    source: SourceView,
    /// Why the first did not send it; null where it did.
    first: Option<String>,
    /// Why the second did not send it; null where it did.
    second: Option<String>,
    /// Whether its text differs too.
    changed: bool,
}

/// A piece whose text differs.
#[derive(Serialize, ToSchema)]
pub struct ChangedPieceView {
    /// Where it came from.
    source: SourceView,
    /// Hash of the first text.
    first: String,
    /// Hash of the second text.
    second: String,
    /// Tokens of both.
    tokens: Vec<u32>,
}
