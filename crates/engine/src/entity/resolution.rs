//! Looks up an entity with the user's tools.
//!
//! The pack says which tool finds a type and with which arguments. This module plans the call and reads its
//! result; the caller makes the call, caches and retries.
//!
//! Invariant: a tool that its server marks as changing or destructive is never planned.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::harvest::harvest;
use super::mention::Mention;
use super::record::{Entity, same_name};
use crate::pack::{PackSet, Resolver};
use crate::tool::{ToolDefinition, ToolName, ToolOutput};

/// The result of a look-up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resolution {
    /// Exactly one match.
    One(Box<Entity>),
    /// Several matches, to ask about.
    Several(Vec<Entity>),
    None,
}

/// The first call that can find the mentioned entity with the available tools.
pub fn plan_resolution(
    mention: &Mention,
    packs: &PackSet,
    tools: &[ToolDefinition],
) -> Option<(ToolName, Value)> {
    let entity_type = packs.entity_type(&mention.kind)?;
    entity_type.resolvers.iter().find_map(|resolver| {
        let mut offered = tools.iter().filter(|definition| definition.tool.name == resolver.tool);
        offered.find_map(|definition| {
            let effects = definition.effects;
            if effects.read_only == Some(false) || effects.destructive == Some(true) {
                return None;
            }
            let arguments = arguments(resolver, mention, &definition.input_schema)?;
            Some((definition.tool.clone(), arguments))
        })
    })
}

/// Fills a resolver's arguments; `None` if the tool takes nothing that identifies the entity.
fn arguments(resolver: &Resolver, mention: &Mention, schema: &Value) -> Option<Value> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let mut arguments = Map::new();
    for (key, template) in &resolver.arguments {
        let property = properties.and_then(|properties| properties.get(key));
        let taken = properties.is_none() || property.is_some();
        let identifies = template.to_string().contains('{')
            && fill(template, mention, None) != Some(template.clone());
        match (taken, identifies) {
            (true, _) => {
                arguments.insert(key.clone(), fill(template, mention, property)?);
            }
            (false, true) => return None,
            (false, false) => {}
        }
    }
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let complete = required.filter_map(Value::as_str).all(|key| arguments.contains_key(key));
    complete.then_some(Value::Object(arguments))
}

fn fill(template: &Value, mention: &Mention, schema: Option<&Value>) -> Option<Value> {
    match template {
        Value::String(text) => {
            let field = match text.as_str() {
                "{name}" => Some(mention.name.as_str()),
                "{id}" => Some(mention.id.as_deref().unwrap_or_default()),
                "{slug}" => Some(mention.name.as_str()),
                _ => None,
            };
            let Some(field) = field else { return Some(template.clone()) };
            (!field.is_empty()).then(|| typed(field, schema)).flatten()
        }
        Value::Object(fields) => {
            let filled = fields.iter().map(|(key, value)| {
                let schema = schema.and_then(|schema| schema.get("properties")?.get(key));
                Some((key.clone(), fill(value, mention, schema)?))
            });
            filled.collect::<Option<Map<_, _>>>().map(Value::Object)
        }
        other => Some(other.clone()),
    }
}

/// Text converted to the schema's type; `None` if that is impossible.
pub(super) fn typed(text: &str, schema: Option<&Value>) -> Option<Value> {
    let kinds: Vec<&str> = match schema.and_then(|schema| schema.get("type")) {
        Some(Value::String(kind)) => vec![kind.as_str()],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let number = || text.parse::<i64>().ok().map(Value::from);
    if kinds.contains(&"integer") || kinds.contains(&"number") {
        let text_fits = kinds.contains(&"string");
        return number().or_else(|| text_fits.then(|| Value::from(text)));
    }
    (kinds.is_empty() || kinds.contains(&"string")).then(|| Value::from(text))
}

/// Reads the result of a look-up for a mention.
pub fn read_resolution(
    mention: &Mention,
    tool: &ToolName,
    output: &ToolOutput,
    packs: &PackSet,
    now: Timestamp,
) -> Resolution {
    let Some(json) = output.json.as_ref().filter(|_| !output.is_error) else {
        return Resolution::None;
    };
    let found = harvest(tool, &Value::Null, json, packs, now);
    let of_kind = |entity: &&Entity| entity.entity.kind == mention.kind;
    let fits = |entity: &&Entity| match &mention.id {
        Some(id) => entity.entity.id.as_ref() == Some(id),
        None => {
            same_name(&entity.entity.name, &mention.name)
                || entity.slug.as_ref().is_some_and(|slug| same_name(slug, &mention.name))
                || entity.aliases.iter().any(|alias| same_name(alias, &mention.name))
                || without_mask(&entity.entity.name) == mention.name
        }
    };
    let exact: Vec<Entity> = found.entities.iter().filter(of_kind).filter(fits).cloned().collect();
    let near = || {
        let listed = |entity: &&Entity| found.listed.iter().any(|one| one.is(&entity.entity));
        found.entities.iter().filter(of_kind).filter(listed).cloned().collect::<Vec<_>>()
    };
    match exact.len() {
        1 => Resolution::One(Box::new(exact.into_iter().next().expect("there is one"))),
        0 if mention.id.is_none() => match near() {
            near if near.is_empty() => Resolution::None,
            near => Resolution::Several(near),
        },
        0 => Resolution::None,
        _ => Resolution::Several(exact),
    }
}

/// An address without its mask: tools list `10.0.0.1/24` for what people call `10.0.0.1`.
fn without_mask(name: &str) -> &str {
    name.split_once('/').map_or(name, |(address, _)| address)
}
