//! Extracts entities from a tool result.
//!
//! An object is recognised by its address, its key, the tool that returned it, or its shape. A nested object is
//! related to its parent.
//!
//! Invariant: each JSON value is visited once, at most [`super::HARVEST_VALUES_MAX`] of them; entities carry the
//! tool as their origin.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::harvest_object::Object;
use super::limits::*;
use super::record::{ActionAt, Entity, EntityRef, Relation, RelationKind, bounded};
use super::trust::{Origin, Trust};
use crate::pack::{EntityType, PackSet};
use crate::tool::ToolName;

/// Keys of lists that say nothing about their elements.
const CONTAINERS: [&str; 8] =
    ["results", "items", "data", "objects", "result", "entries", "records", "content"];

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Harvest {
    /// With relations, in the order of the result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entities: Vec<Entity>,
    /// The listed entities in order, or the single one of the result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub listed: Vec<EntityRef>,
    /// Whether a limit was reached and the rest ignored.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

/// Extracts entities from the JSON that `tool` returned for `arguments`.
pub fn harvest(
    tool: &ToolName,
    arguments: &Value,
    result: &Value,
    packs: &PackSet,
    now: Timestamp,
) -> Harvest {
    harvest_counted(tool, arguments, result, packs, now).0
}

/// Also returns the number of JSON values visited.
pub(super) fn harvest_counted(
    tool: &ToolName,
    arguments: &Value,
    result: &Value,
    packs: &PackSet,
    now: Timestamp,
) -> (Harvest, usize) {
    let subject = subject_of(tool, arguments, packs);
    let mut walk = Walk {
        packs,
        now,
        from: bounded(&tool.to_string(), NAME_CHARACTERS_MAX),
        tool,
        visited: 0,
        listed_depth: usize::MAX,
        harvest: Harvest::default(),
        main: None,
    };
    walk.value(
        result,
        ValuePath { hint: subject, owner: None, depth: 0, listed: false, under: None },
    );
    if walk.harvest.listed.is_empty() {
        walk.harvest.listed.extend(walk.main.take());
    }
    walk.harvest.listed.truncate(LISTED_MAX);
    (walk.harvest, walk.visited)
}

/// The type a call is about: from its arguments, else from its name.
fn subject_of<'a>(
    tool: &ToolName,
    arguments: &Value,
    packs: &'a PackSet,
) -> Option<&'a EntityType> {
    let said = ["object_type", "type", "kind"].iter().find_map(|key| arguments.get(key)?.as_str());
    said.and_then(|said| packs.type_of_key(said)).or_else(|| packs.type_of_tool(&tool.name))
}

struct Walk<'a> {
    packs: &'a PackSet,
    now: Timestamp,
    from: String,
    tool: &'a ToolName,
    visited: usize,
    /// The depth of the list whose elements count as listed.
    listed_depth: usize,
    harvest: Harvest,
    main: Option<EntityRef>,
}

/// The position of a value.
#[derive(Clone, Copy)]
struct ValuePath<'a> {
    /// The type its surroundings suggest.
    hint: Option<&'a EntityType>,
    /// The enclosing entity, as an index into the harvest.
    owner: Option<usize>,
    depth: usize,
    listed: bool,
    /// The key of that list if it means something: "deselected".
    under: Option<&'a str>,
}

impl ValuePath<'_> {
    /// Outside the tree being walked.
    fn aside() -> Self {
        Self { hint: None, owner: None, depth: usize::MAX, listed: false, under: None }
    }
}

impl<'a> Walk<'a> {
    fn value(&mut self, value: &'a Value, place: ValuePath<'a>) {
        self.visited += 1;
        if self.is_full() || place.depth > HARVEST_DEPTH_MAX {
            self.harvest.cut = true;
            return;
        }
        match value {
            Value::Array(elements) => {
                for element in elements {
                    self.value(
                        element,
                        ValuePath { depth: place.depth + 1, listed: true, ..place },
                    );
                    if self.is_full() {
                        break;
                    }
                }
            }
            Value::Object(fields) => self.object(&Object(fields), place),
            _ => {}
        }
    }

    fn is_full(&self) -> bool {
        self.visited > HARVEST_VALUES_MAX || self.harvest.entities.len() >= HARVEST_ENTITIES_MAX
    }

    fn object(&mut self, object: &Object<'a>, place: ValuePath<'a>) {
        let entity_type = object.type_of(place.hint, self.packs);
        let found = entity_type
            .and_then(|found| Some((found, object.entity(found, self.packs, self.now)?)));
        let is_entity = found.is_some();
        let owner = match found {
            Some((found, mut entity)) => {
                if let Some(under) = place.under.filter(|_| place.listed) {
                    let under = bounded(under, NAME_CHARACTERS_MAX).into();
                    entity.data.insert("listed_under".to_owned(), under);
                }
                Some(self.add(found, entity, place))
            }
            None => place.owner,
        };
        for (key, value) in object.0 {
            self.visited += 1;
            if self.is_full() {
                self.harvest.cut = true;
                return;
            }
            let own = owner.filter(|_| is_entity).map(|owner| &self.harvest.entities[owner].entity);
            let named = self.packs.type_of_key_in(own.map(|own| &own.kind), key);
            match value {
                Value::Array(_) | Value::Object(_) => {
                    // A key that names no type, such as "results", passes on its object's type.
                    let hint = named.or(if is_entity { None } else { place.hint });
                    let depth = place.depth + 1;
                    let under = (named.is_none() && !CONTAINERS.contains(&key.as_str()))
                        .then_some(key.as_str());
                    self.value(value, ValuePath { hint, owner, depth, listed: false, under });
                }
                Value::String(_) | Value::Number(_) => self.scalar(key, value, owner),
                _ => {}
            }
        }
    }

    /// A scalar under a key that names a type: `"site": "Berlin"`, `"device_id": 5`.
    fn scalar(&mut self, key: &str, value: &Value, owner: Option<usize>) {
        let Some(owner) = owner else { return };
        let Some((entity_type, entity)) = Object::named_by(key, value, self.packs) else { return };
        let own = &self.harvest.entities[owner].entity;
        if entity.kind == own.kind || self.is_full() {
            return;
        }
        let entity = Entity::new(entity, self.now);
        let place = ValuePath { hint: None, owner: Some(owner), ..ValuePath::aside() };
        self.add(entity_type, entity, place);
    }

    /// Adds an entity and relates it to the enclosing one; duplicates are merged.
    fn add(
        &mut self,
        entity_type: &'a EntityType,
        mut entity: Entity,
        place: ValuePath<'a>,
    ) -> usize {
        let origin = Origin { trust: Trust::ToolResult, from: self.from.clone(), turn: 0 };
        entity.origins.push(origin);
        let subject = self.packs.type_of_tool(&self.tool.name);
        let is_subject = subject.is_some_and(|subject| subject.kind == entity_type.kind);
        if is_subject && place.owner.is_none() {
            let action = entity_type.action_of(&self.tool.name);
            entity.actions.push(ActionAt { action, mentioned_at: self.now });
        }
        let reference = entity.entity.clone();
        let index = self.position_or_push(entity);
        if let Some(owner) = place.owner.filter(|owner| *owner != index) {
            self.relate(owner, index);
        }
        if place.listed && place.depth <= self.listed_depth {
            self.listed_depth = place.depth;
            self.harvest.listed.push(reference.clone());
        }
        if place.owner.is_none() {
            self.main.get_or_insert(reference);
        }
        index
    }

    fn position_or_push(&mut self, entity: Entity) -> usize {
        let entities = &mut self.harvest.entities;
        // Compares only the nearest, so that the cost per element is bounded.
        let from = entities.len().saturating_sub(64);
        let same = entities[from..].iter().position(|known| known.entity.is(&entity.entity));
        match same {
            Some(index) => {
                let known = &mut entities[from + index];
                if known.data.is_empty() {
                    (known.data, known.data_expires_at) = (entity.data, entity.data_expires_at);
                }
                if known.entity.id.is_none() {
                    known.entity.id = entity.entity.id;
                }
                from + index
            }
            None => {
                entities.push(entity);
                entities.len() - 1
            }
        }
    }

    fn relate(&mut self, owner: usize, inner: usize) {
        let one = self.harvest.entities[owner].entity.clone();
        let two = self.harvest.entities[inner].entity.clone();
        let belongs = |child: &EntityRef, parent: &EntityRef| {
            let child = self.packs.entity_type(&child.kind);
            child.is_some_and(|child| child.parents.contains(&parent.kind))
        };
        let (to_two, to_one) = if belongs(&one, &two) {
            (RelationKind::Parent, RelationKind::Child)
        } else if belongs(&two, &one) {
            (RelationKind::Child, RelationKind::Parent)
        } else {
            (RelationKind::Related, RelationKind::Related)
        };
        self.harvest.entities[owner].relate(Relation { relation: to_two, to: two });
        self.harvest.entities[inner].relate(Relation { relation: to_one, to: one });
    }
}
