//! Rows of a result: their labels, fields, and matching.
//!
//! It knows the usual structure of JSON results (lists under `results`, things with `id` and `name`, choices with
//! `value` and `label`), not their meaning.
//!
//! Invariant: nothing is said about a row that it does not contain.

mod json;

use serde_json::{Map, Value};

pub(super) use json::{coded_lines, json_of, records};

use super::run::word::begins_alike;
use super::schema::plain;
use crate::lexicon;
use crate::pack::{EntityType, Kind, words_of_identifier};
use crate::reply::wording::number_shown;
use crate::session::dialogue::Thing;

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
/// Keys of a thing's id, in order of preference.
const IDS: [&str; 6] = ["id", "number", "code", "sku", "isbn", "reference"];
/// Keys of the list that a result is about.
const LISTS: [&str; 6] = ["results", "result", "items", "data", "entries", "records"];
/// Keys that say nothing about a thing itself.
const FRAME: [&str; 4] = ["url", "display_url", "created", "last_updated"];

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

pub(super) fn label_of(object: &Map<String, Value>, known: Option<&EntityType>) -> Option<String> {
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
    // A leave request may have a `request_id`.
    let last = kind.as_str().rsplit('_').next().unwrap_or_default();
    let names = [kind.as_str(), last].into_iter();
    let own = names.flat_map(|name| ["id", "number", "no", "code"].map(|k| format!("{name}_{k}")));
    let own: Vec<String> = own.collect();
    let own = own.iter().map(String::as_str).chain(IDS);
    let paths = known.into_iter().flat_map(|known| &known.id).map(String::as_str);
    let id = paths
        .chain(own)
        .find_map(|key| object.get(key).filter(|value| !value.is_object()).map(scalar));
    let is_key = |(key, value): &(&String, &Value)| {
        let last = words_of_identifier(key).pop().unwrap_or_default();
        let identifies = matches!(last.as_str(), "id" | "name" | "slug" | "code" | "key");
        identifies && (value.is_string() || value.is_number())
    };
    let keys = object.iter().filter(is_key).take(6).map(|(k, v)| (k.clone(), v.clone())).collect();
    let first = || object.values().find_map(Value::as_str).map(str::to_owned);
    let label = label.or_else(|| id.clone()).or_else(first)?;
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
        .or_else(|| {
            let means = |own: &String, word: &String| {
                english.is_synonym(own, word) || begins_alike(own, word)
            };
            keys().find(|(key, value)| {
                let own = own(key);
                let all = |word: &String| own.iter().any(|own| means(own, word));
                !value.is_null() && wanted.iter().all(all)
            })
        })
}

/// The field that says when something is, where only a time was asked for: "created", by default.
pub(super) fn time_field<'a>(row: &'a Value, name: &str) -> Option<(&'a str, &'a Value)> {
    let is_time = |key: &str| {
        let words = words_of_identifier(key);
        words.last().is_some_and(|word| lexicon::english().is(lexicon::Class::FieldTime, word))
    };
    let fields = row.as_object().filter(|_| name == "created")?.iter();
    let mut timed = fields.filter(|(key, value)| is_time(key) && !value.is_null());
    let first = timed.next().filter(|_| timed.next().is_none());
    first.map(|(key, value)| (key.as_str(), value))
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
