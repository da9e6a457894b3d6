//! The record of one entity.
//!
//! Invariant: every text is bounded and every list limited, so a record fits a session's head whatever a tool
//! returned.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::limits::*;
use super::trust::{Origin, Trust};
use crate::pack::{Action, Kind};

/// Identifies an entity by type and id or name. At least one of the two is set.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct EntityRef {
    #[serde(rename = "type")]
    pub kind: Kind,
    /// Empty if only the id is known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

impl EntityRef {
    /// Whether both are the same entity: same type and id, or same name if one of the ids is unknown.
    pub fn is(&self, other: &Self) -> bool {
        if self.kind != other.kind {
            return false;
        }
        match (&self.id, &other.id) {
            (Some(one), Some(two)) => one == two,
            _ => !self.name.is_empty() && same_name(&self.name, &other.name),
        }
    }

    /// The name, or the id if there is none.
    pub fn label(&self) -> &str {
        if self.name.is_empty() { self.id.as_deref().unwrap_or_default() } else { &self.name }
    }
}

impl fmt::Display for EntityRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.label())
    }
}

/// Whether two names are equal apart from case.
pub(super) fn same_name(one: &str, two: &str) -> bool {
    one == two || one.eq_ignore_ascii_case(two) || one.to_lowercase() == two.to_lowercase()
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entity {
    #[serde(flatten)]
    pub entity: EntityRef,
    /// A name for URLs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slug: Option<String>,
    /// Its address in the user's system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    pub first_mentioned: Timestamp,
    pub last_mentioned: Timestamp,
    /// Number of mentions by the user; 0 if only a tool mentioned it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub mention_count: u32,
    /// The latest mentions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mention_contexts: Vec<MentionContext>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub relations: Vec<Relation>,
    /// A summary of a tool's data.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub data: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_expires_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// Oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<ActionAt>,
    /// Origins of the knowledge, one per class, lowest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub origins: Vec<Origin>,
}

impl Entity {
    pub fn new(entity: EntityRef, now: Timestamp) -> Self {
        Self {
            entity,
            slug: None,
            url: None,
            first_mentioned: now,
            last_mentioned: now,
            mention_count: 0,
            mention_contexts: Vec::new(),
            relations: Vec::new(),
            data: Map::new(),
            data_expires_at: None,
            aliases: Vec::new(),
            actions: Vec::new(),
            origins: Vec::new(),
        }
    }

    /// The lowest trust of its origins.
    pub fn trust(&self) -> Trust {
        self.origins.iter().map(|origin| origin.trust).min().unwrap_or(Trust::ToolResult)
    }

    /// Whether the user or operator named it, not only a tool or the assistant.
    pub fn is_vouched_for(&self) -> bool {
        self.origins.iter().any(|origin| origin.trust >= Trust::User)
    }

    /// The cached data if still valid.
    pub fn fresh_data(&self, now: Timestamp) -> Option<&Map<String, Value>> {
        let fresh = self.data_expires_at.is_some_and(|until| now < until);
        (fresh && !self.data.is_empty()).then_some(&self.data)
    }

    /// The last action that changed it, else discussed.
    pub fn action(&self) -> Action {
        let changed = self.actions.iter().rev().find(|entry| entry.action != Action::Discussed);
        changed.map_or(Action::Discussed, |entry| entry.action)
    }

    /// Adds a relation unless it exists; fills in a missing name or id.
    pub(super) fn relate(&mut self, relation: Relation) {
        let same = self.relations.iter().position(|known| known.to.is(&relation.to));
        match same {
            Some(index) => {
                let known = &mut self.relations[index];
                if known.to.id.is_none() {
                    known.to.id = relation.to.id;
                }
                if known.to.name.is_empty() {
                    known.to.name = relation.to.name;
                }
            }
            None if self.relations.len() < RELATIONS_MAX => self.relations.push(relation),
            None => {}
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MentionContext {
    pub turn: u64,
    /// The surrounding words.
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Relation {
    /// What the other entity is to this one.
    pub relation: RelationKind,
    #[serde(flatten)]
    pub to: EntityRef,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RelationKind {
    /// This entity belongs to it.
    Parent,
    /// It belongs to this entity.
    Child,
    Related,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionAt {
    pub action: Action,
    pub mentioned_at: Timestamp,
}

/// At most `characters`, on one line, without control characters.
pub(super) fn bounded(text: &str, characters: usize) -> String {
    let clean = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter });
    let mut kept: String = clean.take(characters).collect();
    kept.truncate(kept.trim_end().len());
    kept.trim_start().to_owned()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}
