//! Arguments for a tool, from its schema, the message and what is known, without a model.
//!
//! A value is taken from an entity that the message means, from words that name the parameter ("status
//! to offline"), from quoted text, or from an enumeration before the parameter's noun ("C++ and Python
//! answers"). Nothing is guessed: what cannot be filled is named.
//!
//! Invariant: every value can be traced to the message or to a known entity.

use serde_json::{Map, Value};

use crate::entity::{Parameter, value_for};
use crate::notice::Understood;
use crate::pack::{PackSet, words_of_identifier};
use crate::tool::ToolDefinition;

use super::verb;

/// Names of parameters that search in free text.
const FREE_TEXT: [&str; 5] = ["q", "query", "search", "filter", "text"];

/// What could be filled.
#[derive(Debug, Clone, PartialEq)]
pub struct Filling {
    /// The arguments.
    pub arguments: Value,
    /// Required parameters without a value.
    pub missing: Vec<String>,
    /// Whether the user or the operator named everything it rests on.
    pub is_vouched_for: bool,
    /// Entities that went into it.
    pub from_entities: usize,
}

/// Fills the parameters of a tool.
pub fn fill(
    definition: &ToolDefinition,
    message: &str,
    understood: &Understood<'_>,
    packs: &PackSet,
) -> Filling {
    let schema = &definition.input_schema;
    let empty = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    let mut arguments = Map::new();
    let (mut is_vouched_for, mut from_entities) = (true, 0);
    for (name, property) in properties {
        let parameter = Parameter { tool: &definition.tool.name, name, schema: property };
        let known = value_for(
            parameter,
            message,
            understood.noticed,
            understood.entities,
            understood.known,
            packs,
        );
        if let Some(filled) = known {
            is_vouched_for &= filled.is_vouched_for;
            from_entities += 1;
            arguments.insert(name.clone(), filled.value);
        } else if let Some(value) = from_words(name, property, message)
            .or_else(|| from_verb(definition, name, property, message))
        {
            arguments.insert(name.clone(), value);
        }
    }
    drop_repeats(&mut arguments, schema);
    let required = required(schema);
    if let [only] = required.iter().filter(|n| !arguments.contains_key(**n)).collect::<Vec<_>>()[..]
        && let Some(property) = properties.get(*only)
        && is_text(property)
        && property.get("enum").is_none()
        && let Some(quoted) = only_quoted(message)
    {
        arguments.insert((*only).to_owned(), Value::String(quoted));
    }
    let missing = required
        .into_iter()
        .filter(|name| !arguments.contains_key(*name))
        .map(str::to_owned)
        .collect();
    Filling { arguments: Value::Object(arguments), missing, is_vouched_for, from_entities }
}

/// Takes a free-text filter back when a parameter of its own holds the same value.
fn drop_repeats(arguments: &mut Map<String, Value>, schema: &Value) {
    let required = required(schema);
    let repeated: Vec<String> = arguments
        .iter()
        .filter(|(name, _)| {
            FREE_TEXT.contains(&name.as_str()) && !required.contains(&name.as_str())
        })
        .filter(|(name, value)| arguments.iter().any(|(other, v)| other != *name && v == *value))
        .map(|(name, _)| name.clone())
        .collect();
    for name in repeated {
        arguments.shift_remove(&name);
    }
}

fn required(schema: &Value) -> Vec<&str> {
    let names = schema.get("required").and_then(Value::as_array);
    names.into_iter().flatten().filter_map(Value::as_str).collect()
}

/// A value that the message gives beside the parameter's name.
fn from_words(name: &str, schema: &Value, message: &str) -> Option<Value> {
    match schema.get("type").and_then(Value::as_str) {
        Some("array") => enumeration(name, message),
        Some("string") => after_name(name, message).map(Value::String),
        Some("integer") => after_name(name, message)?.parse::<i64>().ok().map(Value::from),
        Some("number") => after_name(name, message)?.parse::<f64>().ok().map(Value::from),
        Some("boolean") => negated_or_not(name, message).map(Value::Bool),
        _ => None,
    }
}

/// "Add C++ to the survey": what the message's verb is done to, for a list that the tool changes.
fn from_verb(
    definition: &ToolDefinition,
    name: &str,
    schema: &Value,
    message: &str,
) -> Option<Value> {
    match schema.get("type").and_then(Value::as_str) {
        Some("array") => {}
        Some("string") if name == "name" => return verb::new_name(message).map(Value::from),
        _ => return None,
    }
    let mut nouns = words_of_identifier(name);
    nouns.extend(words_of_identifier(&definition.tool.name));
    let single: Vec<String> =
        nouns.iter().filter_map(|noun| noun.strip_suffix('s')).map(str::to_owned).collect();
    nouns.extend(single);
    let things = verb::things(message, &definition.tool.name, &nouns);
    (!things.is_empty()).then(|| Value::from(things))
}

fn is_text(schema: &Value) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("string")
}

/// "status to offline", "name: Backup", "title = Risks", "called Backup".
fn after_name(name: &str, message: &str) -> Option<String> {
    let lower = message.to_lowercase();
    let spoken = name.replace('_', " ");
    let mut markers = vec![
        format!("{spoken} to "),
        format!("{spoken}: "),
        format!("{spoken} = "),
        format!("{spoken}="),
        format!("{spoken} is "),
        format!("of {spoken} "),
        format!("with {spoken} "),
    ];
    if name == "name" || name == "title" {
        markers.extend(["called ".to_owned(), "named ".to_owned(), "titled ".to_owned()]);
    }
    let start = markers.iter().find_map(|marker| lower.find(marker).map(|at| at + marker.len()));
    let start = start.or_else(|| {
        // "the status of the second one to offline"
        let from = lower.find(&format!("{spoken} of "))?;
        lower[from..].find(" to ").map(|at| from + at + " to ".len())
    })?;
    let rest = message.get(start..)?.trim_start();
    let value = match rest.chars().next()? {
        quote @ ('"' | '\'' | '`') => rest[1..].split(quote).next()?.to_owned(),
        _ => {
            let end = rest.find([',', ';', '\n', '.', '?', '!']).unwrap_or(rest.len());
            let phrase = &rest[..end];
            let cut = [" with ", " and ", " for ", " in ", " on "]
                .iter()
                .filter_map(|stop| phrase.find(stop))
                .min()
                .unwrap_or(phrase.len());
            phrase[..cut].trim().to_owned()
        }
    };
    (!value.is_empty()).then_some(value)
}

/// The things counted up before the parameter's noun, or after it and a colon.
fn enumeration(name: &str, message: &str) -> Option<Value> {
    let noun = name.rsplit('_').next()?.to_lowercase();
    let lower = message.to_lowercase();
    let singular = noun.strip_suffix('s').unwrap_or(&noun);
    let at = lower.find(&noun).or_else(|| lower.find(singular))?;
    let after = message.get(at..)?.split_once(':').map(|(_, rest)| rest);
    let phrase = match after {
        Some(rest) => rest,
        None => {
            let before = message.get(..at)?.trim_end();
            let start = before.find(' ').map_or(0, |first| first + 1);
            before.get(start..)?
        }
    };
    let things: Vec<Value> = phrase
        .split([',', ';'])
        .flat_map(|part| part.split(" and "))
        .map(|part| part.trim().trim_start_matches("the ").trim_start_matches("and "))
        .map(|part| part.trim_matches(['"', '\'', '`', '.', ' ']))
        .filter(|part| !part.is_empty() && part.split_whitespace().count() <= 4)
        .map(|part| Value::String(part.to_owned()))
        .collect();
    (!things.is_empty()).then_some(Value::Array(things))
}

/// "that are not risk compliant" is false, "risk compliant" is true, silence is neither.
fn negated_or_not(name: &str, message: &str) -> Option<bool> {
    let lower = message.to_lowercase();
    let spoken = name.replace('_', " ");
    let at = lower.find(&spoken).or_else(|| lower.find(&name.replace('_', "-")))?;
    let before: Vec<&str> = lower[..at].split_whitespace().rev().take(2).collect();
    Some(!before.iter().any(|word| matches!(*word, "not" | "non" | "isn't" | "aren't" | "without")))
}

/// The one quoted text of a message.
fn only_quoted(message: &str) -> Option<String> {
    let mut parts = message.split('"');
    let (_, quoted) = (parts.next()?, parts.next()?);
    parts.next()?;
    if parts.next().is_some() { None } else { Some(quoted.to_owned()) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(name: &str, schema: Value, message: &str, expected: Option<Value>) {
        assert_eq!(from_words(name, &schema, message), expected, "{message:?}");
    }

    #[test]
    fn values_are_taken_from_beside_their_names() {
        let text = || json!({"type": "string"});
        check("status", text(), "set its status to offline, please", Some(json!("offline")));
        check(
            "name",
            text(),
            "create a workflow called \"Data review\"",
            Some(json!("Data review")),
        );
        check(
            "name",
            text(),
            "create a workflow named Backup with two steps",
            Some(json!("Backup")),
        );
        check("status", text(), "set the status of core-01 to failed.", Some(json!("failed")));
        check("status", text(), "list devices", None);
    }

    #[test]
    fn an_enumeration_is_taken_apart() {
        let list = || json!({"type": "array"});
        let message = "Add C++ and Python answers to project 123 survey";
        check("answers", list(), message, Some(json!(["C++", "Python"])));
        check(
            "steps",
            list(),
            "with steps: draft, review, publish",
            Some(json!(["draft", "review", "publish"])),
        );
        check("answers", list(), "list projects", None);
    }

    #[test]
    fn a_denied_property_is_false_and_an_unsaid_one_is_nothing() {
        let truth = || json!({"type": "boolean"});
        check(
            "risk_compliant",
            truth(),
            "projects that are not risk compliant",
            Some(json!(false)),
        );
        check("risk_compliant", truth(), "risk-compliant projects", Some(json!(true)));
        check("risk_compliant", truth(), "list projects", None);
    }
}
