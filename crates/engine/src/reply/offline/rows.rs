//! Rows of a result: their labels, fields, and matching.
//!
//! It knows the usual structure of JSON results (lists under `results`, things with `id` and `name`, choices with
//! `value` and `label`), not their meaning.
//!
//! Invariant: nothing is said about a row that it does not contain.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::schema::plain;
use crate::lexicon;
use crate::pack::{EntityType, Kind, words_of_identifier};
use crate::reply::wording::number_shown;
use crate::session::dialogue::Thing;
use crate::tool::ToolOutput;

/// Maximum bytes of a text that is parsed as a list.
const LITERAL_BYTES_MAX: usize = 65_536;
/// Maximum values of a row that are searched.
const VALUES_MAX: usize = 400;
/// Keys of a thing's label, in order of preference.
const LABELS: [&str; 12] = [
    "name",
    "title",
    "display",
    "label",
    "address",
    "prefix",
    "cid",
    "model",
    "text",
    "path",
    "display_name",
    "subject",
];
/// Keys of the list that a result is about.
const LISTS: [&str; 6] = ["results", "result", "items", "data", "entries", "records"];
/// Keys that say nothing about a thing itself.
const FRAME: [&str; 4] = ["url", "display_url", "created", "last_updated"];

/// The JSON of an output, including lists that a Python server wrote as text.
pub(super) fn json_of(output: &ToolOutput) -> Option<Cow<'_, Value>> {
    if let Some(json) = &output.json {
        return Some(entries(json).map_or(Cow::Borrowed(json), Cow::Owned));
    }
    let text = output.text.trim();
    if !text.starts_with(['[', '{']) || text.len() > LITERAL_BYTES_MAX {
        return None;
    }
    let plain = text
        .replace('\'', "\"")
        .replace("None", "null")
        .replace("True", "true")
        .replace("False", "false");
    let json: Value = serde_json::from_str(text).or_else(|_| serde_json::from_str(&plain)).ok()?;
    Some(Cow::Owned(entries(&json).unwrap_or(json)))
}

/// The rows of a map from names to numbers: `{"sales.xlsx": 5995, "staff.xlsx": 4885}`.
fn entries(json: &Value) -> Option<Value> {
    let object = json.as_object().filter(|object| object.len() > 1)?;
    let is_name = |key: &String| key.contains(['.', '/', '@']);
    if !object.iter().all(|(key, value)| is_name(key) && value.is_number()) {
        return None;
    }
    let row = |(name, value): (&String, &Value)| serde_json::json!({"name": name, "value": value});
    Some(object.iter().map(row).collect())
}

/// The records of a text: "Commit: …", "Author: …" and so on, each beginning with the same key.
pub(super) fn records(text: &str) -> Option<Value> {
    let mut records: Vec<Map<String, Value>> = Vec::new();
    let mut first: Option<String> = None;
    for line in text.lines() {
        let Some((key, value)) = line.split_once(": ").filter(|(key, _)| is_key(key)) else {
            continue;
        };
        let (key, value) = (key.to_lowercase(), value.trim().trim_matches(['\'', '"']));
        let begins = first.as_ref().is_none_or(|first| *first == key);
        if begins {
            first.get_or_insert_with(|| key.clone());
            records.push(Map::new());
        }
        records.last_mut()?.entry(key).or_insert_with(|| value.into());
    }
    let whole = records.iter().all(|record| record.len() > 1);
    let rows = records.into_iter().map(Value::Object).collect();
    (whole && first.is_some()).then_some(Value::Array(rows))
}

/// Whether a text before a colon is the key of a record: one word that begins with a capital letter.
fn is_key(text: &str) -> bool {
    text.starts_with(char::is_uppercase) && text.chars().all(char::is_alphanumeric)
}

/// The rows of a result, and the total number.
pub(super) fn rows(json: &Value) -> Option<(Vec<&Value>, usize)> {
    let list = match json {
        Value::Array(list) => list,
        Value::Object(object) => list_of(object)?,
        _ => return None,
    };
    let count = json.get("count").or_else(|| json.get("total")).and_then(Value::as_u64);
    let count = count.and_then(|count| usize::try_from(count).ok());
    Some((list.iter().collect(), count.unwrap_or(list.len())))
}

fn list_of(object: &Map<String, Value>) -> Option<&Vec<Value>> {
    let named = LISTS.iter().find_map(|key| object.get(*key)?.as_array());
    named.or_else(|| {
        let mut lists = object.values().filter_map(Value::as_array);
        // `{"result": 9, "numbers": […]}`: the list is not what was asked for.
        let answers = |key: &&str| object.get(*key).is_some_and(|v| v.is_string() || v.is_number());
        let frames =
            object.len() <= 4 && label_of(object, None).is_none() && !LISTS.iter().any(answers);
        match (lists.next(), lists.next()) {
            (Some(only), None) if frames && !object.values().any(Value::is_object) => Some(only),
            _ => None,
        }
    })
}

/// What a text says of a thing in lines such as "Assignee: @ravi"; `None` where it is no text.
pub(super) fn told(row: &Value) -> Option<Value> {
    let lines = row.as_str()?.lines().filter_map(|line| line.split_once(": "));
    let named = lines.filter(|(key, _)| key.split(' ').count() <= 3 && !key.starts_with(' '));
    let field = |(key, value): (&str, &str)| (key.to_lowercase(), Value::from(value.trim()));
    Some(Value::Object(named.map(field).collect()))
}

pub(super) fn label(row: &Value, known: Option<&EntityType>) -> Option<String> {
    match row {
        Value::Object(object) => label_of(object, known),
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn label_of(object: &Map<String, Value>, known: Option<&EntityType>) -> Option<String> {
    let declared = known.into_iter().flat_map(|known| &known.label).map(String::as_str);
    let text = |key: &str| match object.get(key)? {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    declared.chain(LABELS).find_map(text)
}

/// A row as a thing of a kind.
pub(super) fn thing(row: &Value, kind: &Kind, known: Option<&EntityType>) -> Option<Thing> {
    let label = label(row, known);
    let Value::Object(object) = row else {
        return Some(Thing {
            kind: kind.clone(),
            label: label?,
            id: None,
            keys: Map::new(),
            row: None,
        });
    };
    let own_id = format!("{kind}_id");
    let paths = known.into_iter().flat_map(|known| &known.id).map(String::as_str);
    let id = paths
        .chain([own_id.as_str(), "id"])
        .find_map(|key| object.get(key).filter(|value| !value.is_object()).map(scalar));
    let is_key = |(key, value): &(&String, &Value)| {
        let last = words_of_identifier(key).pop().unwrap_or_default();
        let identifies = matches!(last.as_str(), "id" | "name" | "slug" | "code" | "key");
        identifies && (value.is_string() || value.is_number())
    };
    let keys = object.iter().filter(is_key).take(6).map(|(k, v)| (k.clone(), v.clone())).collect();
    let label = label.or_else(|| id.clone())?;
    Some(Thing { kind: kind.clone(), label, id, keys, row: None })
}

/// A value in words; of a choice its label, of a thing its name.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::Object(object) => {
            let label = object.get("label").filter(|label| label.is_string());
            let text = label.map(scalar).or_else(|| label_of(object, None));
            let text =
                text.or_else(|| object.get("value").or_else(|| object.get("id")).map(scalar));
            let held = || {
                object
                    .values()
                    .find(|value| value.as_object().is_some_and(|o| label_of(o, None).is_some()))
            };
            if let (None, Some(held)) = (&text, held()) {
                return shown(held);
            }
            let text = text.unwrap_or_else(|| {
                let parts = object.iter().filter(|(_, v)| !v.is_object() && !v.is_array());
                let parts = parts.map(|(key, value)| format!("{} {}", spoken(key), scalar(value)));
                parts.collect::<Vec<_>>().join(", ")
            });
            // An interface says which device it belongs to.
            let inner = object.iter().filter(|(key, _)| !FRAME.contains(&key.as_str()));
            let mut inner =
                inner.filter_map(|(key, value)| Some((key, label_of(value.as_object()?, None)?)));
            match inner.next() {
                Some((key, name)) if object.contains_key("id") => {
                    format!("{text} ({} {name})", spoken(key))
                }
                _ => text,
            }
        }
        Value::Array(values) if values.is_empty() => "none".into(),
        Value::Array(values) => values.iter().map(shown).collect::<Vec<_>>().join(", "),
        other => scalar(other),
    }
}

pub(super) fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Bool(true) => "yes".into(),
        Value::Bool(false) => "no".into(),
        Value::Null => "none".into(),
        Value::Number(number) => number_shown(number),
        other => other.to_string(),
    }
}

/// A key in words.
pub(super) fn spoken(key: &str) -> String {
    key.trim_matches('_').replace('_', " ")
}

/// The field of a row that words name: exactly, or with more or fewer words.
pub(super) fn field<'a>(row: &'a Value, words: &str) -> Option<(&'a str, &'a Value)> {
    let object = row.as_object()?;
    let english = lexicon::english();
    let singular = |text: &str| -> Vec<String> {
        plain(text).split(' ').map(|word| english.singular(word)).collect()
    };
    let wanted = singular(words);
    let own = |key: &str| singular(&words_of_identifier(key).join(" "));
    let holds = |outer: &[String], inner: &[String]| inner.iter().all(|word| outer.contains(word));
    let counts = |key: &str| key.ends_with("_count") && !wanted.iter().any(|word| word == "count");
    let keys =
        || object.iter().map(|(key, value)| (key.as_str(), value)).filter(|(key, _)| !counts(key));
    keys()
        .find(|(key, _)| own(key) == wanted)
        .or_else(|| keys().find(|(key, value)| holds(&wanted, &own(key)) && !value.is_null()))
        .or_else(|| keys().find(|(key, value)| holds(&own(key), &wanted) && !value.is_null()))
        .or_else(|| keys().find(|(key, _)| holds(&own(key), &wanted)))
}

/// The field of a row with this word or phrase as its value: plain, in the plural, as a choice or a name.
pub(super) fn field_with_value<'a>(row: &'a Value, phrase: &str) -> Option<&'a str> {
    let wanted = plain(phrase);
    let singular = lexicon::english().singular(&wanted);
    let is = |value: &Value| {
        let text = plain(&scalar(value));
        text == wanted || text == singular
    };
    let object = row.as_object()?;
    let fits = |value: &Value| match value {
        Value::Object(inner) => {
            let keys = ["value", "label", "name", "slug", "display"];
            keys.iter().filter_map(|key| inner.get(*key)).any(is)
        }
        Value::Array(values) => values.iter().any(is),
        Value::String(_) | Value::Number(_) => is(value),
        _ => false,
    };
    object.iter().find(|(_, value)| fits(value)).map(|(key, _)| key.as_str())
}

/// All words of a row in lower case, for choosing one of several by its content.
pub(super) fn words(row: &Value) -> Vec<String> {
    let mut words = Vec::new();
    let mut left = VALUES_MAX;
    collect(row, &mut words, &mut left);
    words
}

fn collect(value: &Value, words: &mut Vec<String>, left: &mut usize) {
    if *left == 0 {
        return;
    }
    *left -= 1;
    match value {
        Value::Object(object) => {
            for (_, value) in object.iter().filter(|(key, _)| !FRAME.contains(&key.as_str())) {
                collect(value, words, left);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| collect(value, words, left)),
        Value::String(_) | Value::Number(_) => words.extend(parts(&scalar(value))),
        _ => {}
    }
}

/// The words of a name: lower case, split at everything that is no letter or digit.
pub(super) fn parts(text: &str) -> Vec<String> {
    let parts = text.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
    parts.map(str::to_lowercase).collect()
}

/// How well a name matches what somebody called it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fit {
    /// It has all the words, or starts with them.
    Part,
    Exact,
}

/// How well a label matches what was said.
pub(super) fn fit(label: &str, said: &str) -> Option<Fit> {
    let (own, said) = (parts(label), parts(said));
    if said.is_empty() {
        return None;
    }
    if own == said {
        return Some(Fit::Exact);
    }
    let begins = |word: &String| {
        let whole = own.iter().any(|part| part == word);
        whole || (word.len() > 3 && own.iter().any(|part| part.starts_with(word.as_str())))
    };
    said.iter().all(begins).then_some(Fit::Part)
}

/// Whether a name ends with this number: "A01" with 1.
pub(super) fn ends_with_number(label: &str, number: &str) -> bool {
    let digits = label.len() - label.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let last = label[label.len() - digits..].parse::<u64>().ok();
    last.is_some() && last == number.parse().ok()
}

/// Nested things of a kind, recognised by address: the sites of a circuit.
pub(super) fn inner_things(row: &Value, known: &EntityType) -> Vec<Thing> {
    let mut found = Vec::new();
    let mut left = VALUES_MAX;
    inner(row, known, &mut found, &mut left);
    found
}

fn inner(value: &Value, known: &EntityType, found: &mut Vec<Thing>, left: &mut usize) {
    if *left == 0 {
        return;
    }
    *left -= 1;
    match value {
        Value::Object(object) => {
            let url = object.get("url").and_then(Value::as_str).unwrap_or_default();
            if known.urls.iter().any(|part| url.contains(part.as_str()))
                && let Some(thing) = thing(value, &known.kind, Some(known))
                && !found.iter().any(|other: &Thing| other.is(&thing))
            {
                found.push(thing);
            }
            object.values().for_each(|value| inner(value, known, found, left));
        }
        Value::Array(values) => values.iter().for_each(|value| inner(value, known, found, left)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_map_from_names_to_numbers_is_a_list_and_a_record_is_not() {
        let sizes = json!({"sales.xlsx": 5995, "staff.xlsx": 4885});
        let rows = entries(&sizes).unwrap();
        assert_eq!(rows[1], json!({"name": "staff.xlsx", "value": 4885}));
        for other in
            [json!({"id": 7, "u_height": 42}), json!({"a.txt": "x", "b.txt": 2}), json!([1, 2])]
        {
            assert_eq!(entries(&other), None, "{other}");
        }
    }
}
