//! The JSON of a result as rows: lists that were written as text, maps, records of a text.
//!
//! Invariant: every value of a row is one of the result.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::tool::ToolOutput;

/// Maximum bytes of a text that is parsed as a list.
const LITERAL_BYTES_MAX: usize = 65_536;

/// The JSON of an output, including lists that a Python server wrote as text.
pub(in crate::reply::offline) fn json_of(output: &ToolOutput) -> Option<Cow<'_, Value>> {
    if let Some(json) = output.held() {
        return Some(entries(&json).map_or(json, Cow::Owned));
    }
    let text = output.plain_text().trim();
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

/// The rows of a map: from names to numbers, `{"sales.xlsx": 5995, "staff.xlsx": 4885}`, from ids to things, or from
/// groups to lists of things.
fn entries(json: &Value) -> Option<Value> {
    let object = json.as_object().filter(|object| !object.is_empty())?;
    things(object).or_else(|| groups(object)).or_else(|| numbers(object))
}

/// `{"P1": {"name": "Rosie"}, "P2": {"name": "Big Tom"}}`: things with the same fields, by their ids.
fn things(object: &Map<String, Value>) -> Option<Value> {
    let held: Vec<&Map<String, Value>> =
        object.values().map(Value::as_object).collect::<Option<_>>()?;
    let first = held.first()?;
    let alike = |other: &&Map<String, Value>| {
        let shared = other.keys().filter(|key| first.contains_key(*key)).count();
        shared * 2 > first.len() && shared * 2 > other.len()
    };
    let coded = object.keys().all(|key| key.contains(|c: char| c.is_ascii_digit()));
    if first.is_empty() || !held.iter().all(alike) || object.len() == 1 && !coded {
        return None;
    }
    let row = |(key, held): (&String, &Map<String, Value>)| {
        let mut row = Map::new();
        let own = super::label_of(held, None).is_some() && !held.contains_key("id");
        let name = if own { "id" } else { "name" };
        row.insert(name.to_owned(), key.as_str().into());
        row.extend(held.iter().map(|(key, value)| (key.clone(), value.clone())));
        Value::Object(row)
    };
    Some(object.keys().zip(held).map(row).collect())
}

/// `{"open": [{…}], "closed": [{…}, {…}]}`: things by their group.
fn groups(object: &Map<String, Value>) -> Option<Value> {
    let lists: Vec<&Vec<Value>> = object.values().map(Value::as_array).collect::<Option<_>>()?;
    let rows = lists.iter().flat_map(|list| list.iter());
    if object.len() < 2 || !rows.clone().all(Value::is_object) || rows.count() == 0 {
        return None;
    }
    let mut found = Vec::new();
    for (group, list) in object.keys().zip(lists) {
        for row in list.iter().filter_map(Value::as_object) {
            let mut row = row.clone();
            row.entry("group").or_insert_with(|| group.as_str().into());
            found.push(Value::Object(row));
        }
    }
    Some(Value::Array(found))
}

fn numbers(object: &Map<String, Value>) -> Option<Value> {
    let object = Some(object).filter(|object| object.len() > 1)?;
    let is_name = |key: &String| key.contains(['.', '/', '@']);
    if !object.iter().all(|(key, value)| is_name(key) && value.is_number()) {
        return None;
    }
    let row = |(name, value): (&String, &Value)| serde_json::json!({"name": name, "value": value});
    Some(object.iter().map(row).collect())
}

/// The records of a text: "Commit: …", "Author: …" and so on, each beginning with the same key.
pub(in crate::reply::offline) fn records(text: &str) -> Option<Value> {
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

/// The things that the lines of a text name by a code: `[HIGH] TASK-2 - Press release`, `#4 (2026-01-31): call Mira`.
pub(in crate::reply::offline) fn coded_lines(text: &str) -> Vec<Value> {
    let is_code = |word: &str| {
        let parts = word.split_once('-');
        parts.is_some_and(|(letters, digits)| {
            let letter = |c: char| c.is_alphabetic();
            !letters.is_empty()
                && letters.chars().all(letter)
                && !digits.is_empty()
                && digits.bytes().all(|b| b.is_ascii_digit())
        })
    };
    let row = |line: &str| {
        if let Some(row) = numbered_line(line) {
            return Some(row);
        }
        let mut words = line.split_whitespace();
        let code = words.find(|word| is_code(word))?;
        let name =
            words.skip_while(|word| matches!(*word, "-" | ":" | "–" | "—")).collect::<Vec<_>>();
        (!name.is_empty()).then(|| serde_json::json!({"id": code, "name": name.join(" ")}))
    };
    text.lines().filter_map(row).collect()
}

/// `#4 (2026-01-31): call Mira`, `#4 call Mira`.
fn numbered_line(line: &str) -> Option<Value> {
    let line = line.trim().trim_start_matches(['-', '*', ' ']);
    let (number, rest) = line.strip_prefix('#')?.split_once([' ', ':'])?;
    let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let rest = rest.trim_start();
    let rest = match rest.strip_prefix('(').and_then(|inner| inner.split_once(')')) {
        Some((_, rest)) => rest,
        None => rest,
    };
    let name = rest.trim_start_matches([':', '-', ' ']).trim();
    let named = digits && !name.is_empty();
    named.then(|| serde_json::json!({"id": number.parse::<u64>().ok(), "name": name}))
}

/// Whether a text before a colon is the key of a record: one word that begins with a capital letter.
fn is_key(text: &str) -> bool {
    text.starts_with(char::is_uppercase) && text.chars().all(char::is_alphanumeric)
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
        let plants =
            json!({"P1": {"name": "Rosie", "bed": "n"}, "P2": {"name": "Tom", "bed": "s"}});
        assert_eq!(entries(&plants).unwrap()[1], json!({"id": "P2", "name": "Tom", "bed": "s"}));
        let groups = json!({"open": [{"id": 1}], "closed": [{"id": 2}]});
        assert_eq!(entries(&groups).unwrap()[1], json!({"id": 2, "group": "closed"}));
        for other in [
            json!({"owner": {"name": "x"}, "bed": {"size": 3}}),
            json!({"item": {"id": 3}}),
            json!({"id": 7, "u_height": 42}),
            json!({"a.txt": "x", "b.txt": 2}),
            json!([1, 2]),
        ] {
            assert_eq!(entries(&other), None, "{other}");
        }
    }
}
