//! Origins of knowledge about entities, and what it may cause.
//!
//! Lowest first: a tool result, the assistant's words, the user, the operator. The assistant ranks above tools
//! because its words also depend on the user's request, and below the user because a tool's text can influence
//! it.
//!
//! Invariant: the trust of a record is the lowest of its origins. A record without an origin above the assistant
//! cannot cause a call that changes something without approval.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    ToolResult,
    Assistant,
    User,
    /// Configuration.
    Operator,
}

/// An origin of a record. A record has at most one per class.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    pub trust: Trust,
    /// `message`, or a tool as `server:name`.
    pub from: String,
    /// The turn of its first occurrence.
    pub turn: u64,
}

/// Adds an origin; keeps the first of each class.
pub(super) fn add_origin(origins: &mut Vec<Origin>, origin: Origin) {
    if !origins.iter().any(|earlier| earlier.trust == origin.trust) {
        origins.push(origin);
        origins.sort_by_key(|origin| origin.trust);
    }
}

/// Whether a changing call based on these entities needs approval: one of them was never named by the user or
/// operator.
pub fn needs_approval<'a>(entities: impl IntoIterator<Item = &'a super::Entity>) -> bool {
    entities.into_iter().any(|entity| !entity.is_vouched_for())
}
