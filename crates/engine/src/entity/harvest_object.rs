//! A JSON object as an entity: its type and its fields.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value};

use super::limits::*;
use super::record::{Entity, EntityRef, bounded};
use crate::pack::{Check, EntityType, Kind, PackSet};

/// Keys that every object has and that say nothing about it.
const NOT_DATA: [&str; 8] =
    ["id", "name", "slug", "url", "display", "display_url", "created", "last_updated"];

pub(super) struct Object<'a>(pub &'a Map<String, Value>);

impl Object<'_> {
    /// Its type: by address, by its own type field, by its surroundings, by its shape.
    pub(super) fn type_of<'a>(
        &self,
        hint: Option<&'a EntityType>,
        packs: &'a PackSet,
    ) -> Option<&'a EntityType> {
        let text = |key: &str| self.0.get(key).and_then(Value::as_str);
        let by_url = text("url").and_then(|url| packs.type_of_url(url));
        let said = ["object_type", "entity_type", "kind"].into_iter().find_map(text);
        let by_word = || {
            let said = said?;
            let said = said.rsplit('.').next().unwrap_or(said);
            packs.types().iter().find(|found| found.kind.as_str() == said)
        };
        let by_shape = || {
            packs.types().iter().find(|found| {
                !found.shape.is_empty() && found.shape.iter().all(|key| self.0.contains_key(key))
            })
        };
        by_url.or_else(by_word).or(hint).or_else(by_shape)
    }

    /// The entity, if the object has a name or id where the type expects them.
    pub(super) fn entity(
        &self,
        entity_type: &EntityType,
        packs: &PackSet,
        now: Timestamp,
    ) -> Option<Entity> {
        let id = self.first(&entity_type.id);
        let name = self.first(&entity_type.label).unwrap_or_default();
        if id.is_none() && name.is_empty() {
            return None;
        }
        let kind = entity_type.kind.clone();
        let mut entity = Entity::new(EntityRef { kind, name, id }, now);
        // A thing with several labels, such as a VLAN's number and name, is called by any of them.
        entity.aliases = entity_type
            .label
            .iter()
            .filter_map(|path| self.first(std::slice::from_ref(path)))
            .map(|label| label.to_lowercase())
            .filter(|label| *label != entity.entity.name.to_lowercase())
            .take(2)
            .collect();
        entity.slug = self.first(&entity_type.slug);
        entity.url = self.first(&entity_type.url);
        entity.data = self.data(&entity.entity.kind, packs);
        let until = now.checked_add(SignedDuration::from_secs(DATA_SECONDS)).ok();
        entity.data_expires_at = until.filter(|_| !entity.data.is_empty());
        Some(entity)
    }

    /// The entity named by a scalar under a key.
    pub(super) fn named_by<'a>(
        key: &str,
        value: &Value,
        packs: &'a PackSet,
    ) -> Option<(&'a EntityType, EntityRef)> {
        let by_id = key.strip_suffix("_id").filter(|_| key != "spec_id");
        let by_name = key.strip_suffix("_name");
        let entity_type = packs.type_of_plain_key(by_id.or(by_name).unwrap_or(key))?;
        let kind = entity_type.kind.clone();
        let text = text_of(value)?;
        let numeric = text.bytes().all(|byte| byte.is_ascii_digit());
        let is_id = by_id.is_some();
        // A bare number under a plain key is a count or an id and names nothing.
        if text.is_empty() || (!is_id && (numeric || text.contains('\n') || text.len() > 80)) {
            return None;
        }
        let checked = entity_type.patterns.iter().any(|pattern| pattern.check != Check::Any);
        let looks = |text: &str| entity_type.patterns.iter().any(|pattern| pattern.matches(text));
        if !is_id && checked && !looks(&text) {
            return None;
        }
        let entity = if is_id {
            EntityRef { kind, name: String::new(), id: Some(text) }
        } else {
            EntityRef { kind, name: text, id: None }
        };
        Some((entity_type, entity))
    }

    fn first(&self, paths: &[String]) -> Option<String> {
        paths.iter().find_map(|path| {
            let mut keys = path.split('.');
            let start = self.0.get(keys.next()?)?;
            let value = keys.try_fold(start, |value, key| value.get(key))?;
            text_of(value).filter(|text| !text.is_empty())
        })
    }

    /// A short summary of its scalar fields; of a choice, its label. Relations are left out.
    fn data(&self, kind: &Kind, packs: &PackSet) -> Map<String, Value> {
        let fields = self.0.iter().filter(|(key, _)| !NOT_DATA.contains(&key.as_str()));
        let short = fields.take(64).filter_map(|(key, value)| {
            let value = match value {
                Value::Object(_) if packs.type_of_key_in(Some(kind), key).is_some() => return None,
                Value::Object(choice) => choice.get("label").or_else(|| choice.get("name"))?,
                value => value,
            };
            let value = match value {
                Value::Bool(_) | Value::Number(_) => value.clone(),
                Value::String(text) if !text.is_empty() => {
                    Value::String(bounded(text, DATA_CHARACTERS_MAX))
                }
                _ => return None,
            };
            Some((bounded(key, NAME_CHARACTERS_MAX), value))
        });
        short.take(DATA_FIELDS_MAX).collect()
    }
}

/// A string or integer as bounded text.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(bounded(text, NAME_CHARACTERS_MAX)),
        Value::Number(number) if number.is_i64() || number.is_u64() => Some(number.to_string()),
        _ => None,
    }
}
