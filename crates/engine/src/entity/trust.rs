//! Where knowledge of an entity comes from, and what it may therefore cause.
//!
//! The order, lowest first: a tool's answer, the assistant's own words, the user, the operator. The
//! assistant stands above tools because its words are made from them *and* from what the user asked,
//! and below the user because a tool's text can steer it.
//!
//! Invariant: the trust of a record is the lowest of its origins. What has no origin above the
//! assistant cannot cause a call that changes something without approval.

use serde::{Deserialize, Serialize};

/// A class of origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// A tool's answer.
    ToolResult,
    /// The assistant's words.
    Assistant,
    /// The user's own words.
    User,
    /// Configuration.
    Operator,
}

/// One origin of a record. A record keeps at most one of each class.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// Its class.
    pub trust: Trust,
    /// Which one: `message`, or a tool as `server:name`.
    pub from: String,
    /// The turn it was first seen in.
    pub turn: u64,
}

/// Adds an origin, keeping the first of each class.
pub(super) fn add_origin(origins: &mut Vec<Origin>, origin: Origin) {
    if !origins.iter().any(|earlier| earlier.trust == origin.trust) {
        origins.push(origin);
        origins.sort_by_key(|origin| origin.trust);
    }
}

/// Whether a call that changes something may not run unapproved when it rests on these entities: one
/// of them was never named by the user or the operator.
pub fn needs_approval<'a>(entities: impl IntoIterator<Item = &'a super::Entity>) -> bool {
    entities.into_iter().any(|entity| !entity.is_vouched_for())
}
