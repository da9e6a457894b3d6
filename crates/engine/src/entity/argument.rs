//! Fills a tool's parameter from the message.
//!
//! Uses only what the message names or refers to, and only if exactly one thing matches. Nothing is guessed.

use serde_json::Value;

use super::mention::{Mention, Noticed};
use super::record::Entity;
use super::resolution::typed;
use super::trust::Trust;
use super::{Entities, KnownEntities};
use crate::pack::{EntityType, Field, Kind, PackSet, words_of_identifier};

#[derive(Debug, Clone, PartialEq)]
pub struct Filled {
    /// The value, in the type of the schema.
    pub value: Value,
    /// The reason, for people.
    pub why: String,
    /// The lowest trust of its sources.
    pub trust: Trust,
    /// Whether the user or operator named all its sources.
    pub is_vouched_for: bool,
}

#[derive(Debug, Clone, Copy)]
pub struct Parameter<'a> {
    /// The name on its server.
    pub tool: &'a str,
    pub name: &'a str,
    /// Its JSON schema.
    pub schema: &'a Value,
}

pub fn value_for(
    parameter: Parameter<'_>,
    message: &str,
    noticed: &Noticed,
    entities: &Entities,
    known: &KnownEntities,
    packs: &PackSet,
) -> Option<Filled> {
    let sources = Sources { entities, known };
    let wanted = wanted(parameter, packs)?;
    match wanted {
        Wanted::Choice(choices) => choice(&choices, message),
        Wanted::Of(entity_type, field) => {
            let mentions: Vec<&Mention> = distinct(noticed.of_kind(&entity_type.kind));
            sources.fill(&mentions, field, parameter)
        }
        Wanted::Text => {
            // Only entities of the tool's own type: a search among sites does not find an order.
            let about = packs.type_of_tool(parameter.tool).map(|entity_type| &entity_type.kind);
            let fits = |mention: &&Mention| about.is_none_or(|kind| mention.kind == *kind);
            sources.fill(&distinct(noticed.mentions.iter().filter(fits)), None, parameter)
        }
    }
}

/// Whether a parameter identifies things of a type only by id or slug, so that a name does not fill it.
pub fn is_known_by_id_only(parameter: Parameter<'_>, kind: &Kind, packs: &PackSet) -> bool {
    let kind_of_value = parameter.schema.get("type").and_then(Value::as_str);
    match wanted(parameter, packs) {
        Some(Wanted::Of(entity_type, field)) if entity_type.kind == *kind => {
            let numeric = matches!(kind_of_value, Some("integer" | "number"));
            numeric || matches!(field, Some(Field::Id | Field::Slug))
        }
        _ => false,
    }
}

/// Whether a parameter takes things of a type.
pub fn is_about(parameter: Parameter<'_>, kind: &Kind, packs: &PackSet) -> bool {
    matches!(wanted(parameter, packs), Some(Wanted::Of(entity_type, _)) if entity_type.kind == *kind)
}

enum Wanted<'a> {
    Choice(Vec<&'a str>),
    /// A field of an entity type; `None` if the field is open.
    Of(&'a EntityType, Option<Field>),
    Text,
}

fn wanted<'a>(parameter: Parameter<'a>, packs: &'a PackSet) -> Option<Wanted<'a>> {
    if let Some(choices) = parameter.schema.get("enum").and_then(Value::as_array) {
        return Some(Wanted::Choice(choices.iter().filter_map(Value::as_str).collect()));
    }
    let declared = packs.types().iter().find_map(|entity_type| {
        entity_type.parameters.get(parameter.name).map(|field| (entity_type, *field))
    });
    if let Some((entity_type, field)) = declared {
        // The pack declares how the tool identifies things; a string may be the name instead.
        let text = parameter.schema.get("type").and_then(Value::as_str) == Some("string");
        let field = if text && field == Field::Id { None } else { Some(field) };
        return Some(Wanted::Of(entity_type, field));
    }
    let mut words = words_of_identifier(parameter.name);
    let field = match words.last().map(String::as_str) {
        Some("id" | "ids") => Some(Field::Id),
        Some("name" | "names") => Some(Field::Name),
        Some("slug" | "slugs") => Some(Field::Slug),
        _ => None,
    };
    if field.is_some() {
        words.pop();
    }
    if words.is_empty() && field == Some(Field::Name) && renames(parameter.tool) {
        return None;
    }
    if words.is_empty() {
        return packs.type_of_tool(parameter.tool).map(|found| Wanted::Of(found, field));
    }
    let word = words.join("_");
    if matches!(word.as_str(), "query" | "q" | "search" | "term" | "text" | "keyword") {
        return Some(Wanted::Text);
    }
    packs.type_of_key(&word).map(|found| Wanted::Of(found, field))
}

/// The `name` of a renaming tool is the new one, which no known entity has.
fn renames(tool: &str) -> bool {
    let verbs = ["update", "rename", "edit", "modify", "patch", "set"];
    words_of_identifier(tool).iter().any(|word| verbs.contains(&word.as_str()))
}

/// The only choice whose words are in the message.
fn choice(choices: &[&str], message: &str) -> Option<Filled> {
    let words = words_of_identifier_text(message);
    let said = |choice: &&&str| {
        let choice = words_of_identifier(choice);
        !choice.is_empty() && words.windows(choice.len()).any(|some| *some == choice[..])
    };
    let mut said = choices.iter().filter(said);
    let one = said.next().filter(|_| said.next().is_none())?;
    let why = format!("the message says {one:?}");
    Some(Filled { value: Value::from(*one), why, trust: Trust::User, is_vouched_for: true })
}

fn words_of_identifier_text(message: &str) -> Vec<String> {
    message.split_whitespace().flat_map(words_of_identifier).collect()
}

fn distinct<'a>(mentions: impl Iterator<Item = &'a Mention>) -> Vec<&'a Mention> {
    let mut found: Vec<&Mention> = Vec::new();
    for mention in mentions.filter(|mention| mention.is_sure()) {
        if !found.iter().any(|other| other.target().is(&mention.target())) {
            found.push(mention);
        }
    }
    found
}

struct Sources<'a> {
    entities: &'a Entities,
    known: &'a KnownEntities,
}

impl Sources<'_> {
    fn fill(
        &self,
        mentions: &[&Mention],
        field: Option<Field>,
        parameter: Parameter<'_>,
    ) -> Option<Filled> {
        let is_list = parameter.schema.get("type").and_then(Value::as_str) == Some("array");
        if is_list {
            return self.fill_list(mentions, field, parameter.schema);
        }
        let [mention] = mentions else { return None };
        self.value(mention, field, parameter.schema)
    }

    fn fill_list(
        &self,
        mentions: &[&Mention],
        field: Option<Field>,
        schema: &Value,
    ) -> Option<Filled> {
        let open = Value::Null;
        let items = schema.get("items").unwrap_or(&open);
        let filled: Option<Vec<Filled>> =
            mentions.iter().map(|mention| self.value(mention, field, items)).collect();
        let filled = filled.filter(|filled| !filled.is_empty())?;
        let why: Vec<&str> = filled.iter().map(|one| one.why.as_str()).collect();
        Some(Filled {
            why: why.join("; "),
            trust: filled.iter().map(|one| one.trust).min()?,
            is_vouched_for: filled.iter().all(|one| one.is_vouched_for),
            value: filled.into_iter().map(|one| one.value).collect(),
        })
    }

    /// An id that is not a plain number identifies better than a name: `wf-1`, `A2297`.
    fn prefers_id(&self, entity: &Entity) -> bool {
        let id = entity.entity.id.as_deref().unwrap_or_default();
        id.bytes().any(|byte| !byte.is_ascii_digit())
    }

    fn value(&self, mention: &Mention, field: Option<Field>, schema: &Value) -> Option<Filled> {
        let target = mention.target();
        let entity = self.entities.best(&target, self.known);
        let id = || target.id.clone().or_else(|| entity?.entity.id.clone());
        let name = || {
            let known = entity.map(|entity| entity.entity.name.clone());
            Some(target.name.clone()).filter(|name| !name.is_empty()).or(known)
        };
        let name = || name().filter(|name| !name.is_empty());
        let slug = || entity?.slug.clone();
        let numeric =
            matches!(schema.get("type").and_then(Value::as_str), Some("integer" | "number"));
        let text = match field {
            Some(Field::Id) => id(),
            Some(Field::Name) => name(),
            Some(Field::Slug) => slug(),
            None if numeric => id(),
            None if entity.is_some_and(|entity| self.prefers_id(entity)) => id().or_else(name),
            None => name().or_else(id),
        };
        let text = match (text, field) {
            // The parameter is called "id" and the message gives one, as in "project 123".
            (None, Some(Field::Name)) => id(),
            (text, _) => text,
        }?;
        let value = typed(&text, Some(schema))?;
        let said = &mention.span;
        let why = format!("{} from the words at {}-{}", target, said.start, said.end);
        let typed_by_user =
            mention.how.names_it() && (text == mention.name || Some(&text) == mention.id.as_ref());
        let trust = entity.map_or(Trust::User, Entity::trust);
        let trust = if typed_by_user { Trust::User } else { trust };
        let is_vouched_for = mention.how.names_it() || entity.is_some_and(Entity::is_vouched_for);
        Some(Filled { value, why, trust, is_vouched_for })
    }
}

impl Noticed {
    /// Whether the message is about things of a type, named or not.
    pub fn is_about(&self, kind: &Kind) -> bool {
        self.asked_about.contains(kind) || self.of_kind(kind).next().is_some()
    }
}
