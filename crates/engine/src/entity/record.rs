//! What is remembered of one entity.
//!
//! Invariant: every text in a record is bounded and every list has a limit, so a record stays small
//! enough for a session's head whatever a tool answered.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::limits::*;
use super::trust::{Origin, Trust};
use crate::pack::{Action, Kind};

/// Which entity: its type and what is known of its id and name. At least one of the two is set.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct EntityRef {
    /// Its type.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// Its name; empty where only the id is known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Its id as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

impl EntityRef {
    /// Whether both mean the same thing: the same type and id, or the same name where one of the ids
    /// is unknown.
    pub fn is(&self, other: &Self) -> bool {
        if self.kind != other.kind {
            return false;
        }
        match (&self.id, &other.id) {
            (Some(one), Some(two)) => one == two,
            _ => !self.name.is_empty() && same_name(&self.name, &other.name),
        }
    }

    /// The name, or the id where there is none.
    pub fn label(&self) -> &str {
        if self.name.is_empty() { self.id.as_deref().unwrap_or_default() } else { &self.name }
    }
}

impl fmt::Display for EntityRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.label())
    }
}

/// Whether two names are the same, apart from case.
pub(super) fn same_name(one: &str, two: &str) -> bool {
    one == two || one.eq_ignore_ascii_case(two) || one.to_lowercase() == two.to_lowercase()
}

/// One entity that the conversation refers to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entity {
    /// Type, name and id.
    #[serde(flatten)]
    pub entity: EntityRef,
    /// A name for addresses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slug: Option<String>,
    /// Where it can be seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// When it was first mentioned.
    pub first_mentioned: Timestamp,
    /// When it was last mentioned.
    pub last_mentioned: Timestamp,
    /// How often the user mentioned it; 0 where only a tool did.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub mention_count: u32,
    /// The latest places where it was mentioned.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mention_contexts: Vec<MentionContext>,
    /// What it is related to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub relations: Vec<Relation>,
    /// A summary of what a tool said of it.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub data: Map<String, Value>,
    /// Until when the summary holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_expires_at: Option<Timestamp>,
    /// Further names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// What was done to it, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<ActionAt>,
    /// Where the knowledge comes from, one of each class, lowest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub origins: Vec<Origin>,
}

impl Entity {
    /// An entity seen at `now`, of which nothing else is known.
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

    /// Whether the user or the operator named it, not only a tool or the assistant.
    pub fn is_vouched_for(&self) -> bool {
        self.origins.iter().any(|origin| origin.trust >= Trust::User)
    }

    /// The cached data, if it still holds.
    pub fn fresh_data(&self, now: Timestamp) -> Option<&Map<String, Value>> {
        let fresh = self.data_expires_at.is_some_and(|until| now < until);
        (fresh && !self.data.is_empty()).then_some(&self.data)
    }

    /// What was done to it last that changed it, else discussed.
    pub fn action(&self) -> Action {
        let changed = self.actions.iter().rev().find(|entry| entry.action != Action::Discussed);
        changed.map_or(Action::Discussed, |entry| entry.action)
    }

    /// Adds a relation unless it is there; a name or id that was missing is filled in.
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

/// Where an entity was mentioned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MentionContext {
    pub turn: u64,
    /// The words around it.
    pub text: String,
}

/// How one entity stands to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Relation {
    /// What the other is to this one.
    pub relation: RelationKind,
    /// The other.
    #[serde(flatten)]
    pub to: EntityRef,
}

/// What the other entity is to this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RelationKind {
    /// This one belongs to it.
    Parent,
    /// It belongs to this one.
    Child,
    /// Something else.
    Related,
}

/// Something that was done to an entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionAt {
    /// What.
    pub action: Action,
    /// When.
    pub mentioned_at: Timestamp,
}

/// A text of at most `characters`, on one line, without control characters.
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
