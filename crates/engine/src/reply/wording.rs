//! Words a tool result without a model.
//!
//! It knows the usual structure of JSON results (lists under `results`, things with `id` and `name`, choices with
//! `label`), not their meaning. What it omits is in the log.
//!
//! Invariant: the text is bounded, and a result that is cut says how much there is.

use std::fmt::Write;

use serde_json::{Map, Value};

use crate::lexicon;
use crate::session::record::CallRecord;
use crate::tool::ToolOutput;

/// Maximum entries of a list.
const THINGS_MAX: usize = 50;
/// Maximum entries of a nested list.
const INNER_THINGS_MAX: usize = 12;
/// Maximum entries of a list shown with addresses.
const ADDRESSED_MAX: usize = 5;
/// Maximum details per entry.
const DETAILS_MAX: usize = 6;
/// Maximum lines about a single thing.
const LINES_MAX: usize = 60;
/// Maximum characters of a plain text.
const TEXT_CHARACTERS_MAX: usize = 4_000;

/// The results of a turn, one after the other.
pub fn results(calls: &[CallRecord]) -> String {
    let parts: Vec<String> = calls.iter().map(result).collect();
    parts.join("\n\n")
}

pub fn result(call: &CallRecord) -> String {
    let Some(output) = &call.output else {
        let why = call.error.as_deref().unwrap_or("it gave no reason");
        return format!("{} could not be called: {why}", call.tool.name);
    };
    if output.is_error {
        return format!("{} failed: {}", call.tool.name, plain(output));
    }
    if output.reports_failure() {
        let why = output.json.as_ref().and_then(failure).unwrap_or_else(|| plain(output));
        return format!("{} failed: {why}", call.tool.name);
    }
    match output.held().as_deref() {
        Some(json) if is_empty_list(json) => {
            let asked = asked_for(&call.arguments);
            let with = if asked.is_empty() { asked } else { format!(" ({asked})") };
            format!("No {} match{with}.", subject(&call.tool.name))
        }
        Some(json) => value(json, &subject(&call.tool.name)),
        None => plain(output),
    }
}

/// The failure that a result reports, if any.
fn failure(json: &Value) -> Option<String> {
    let said = |key: &&str| json.get(*key).filter(|why| why.is_string());
    ["error", "message", "detail"].iter().find_map(said).map(scalar)
}

/// The subject of a tool by its name: `list_ip_addresses` is about ip addresses.
pub fn subject(tool: &str) -> String {
    let words: Vec<&str> = tool.split(['_', '-']).filter(|word| !word.is_empty()).collect();
    let verb = words.iter().position(|word| lexicon::english().family(word).is_some());
    match &words[verb.unwrap_or(0).min(words.len())..] {
        [_, rest @ ..] if !rest.is_empty() => rest.join(" "),
        _ => "results".into(),
    }
}

fn is_empty_list(json: &Value) -> bool {
    match json {
        Value::Array(things) => things.is_empty(),
        Value::Object(object) => rows(object).is_some_and(Vec::is_empty),
        _ => false,
    }
}

/// The arguments of a call in words, to say what nothing was found for.
fn asked_for(arguments: &Value) -> String {
    let Value::Object(object) = arguments else { return String::new() };
    let said = object.iter().filter_map(|(key, value)| match value {
        Value::Null | Value::Array(_) => None,
        Value::Object(_) => Some(asked_for(value)).filter(|inner| !inner.is_empty()),
        plain => Some(format!("{} {}", words(key), scalar(plain))),
    });
    said.collect::<Vec<_>>().join(", ")
}

/// A JSON value in words; `subject` names the entries of a list.
pub fn value(json: &Value, subject: &str) -> String {
    match json {
        Value::Array(things) => counted(things, things.len(), subject),
        Value::Object(object) => match rows(object) {
            Some(things) => {
                let count = object.get("count").and_then(Value::as_u64);
                let count = count.and_then(|c| usize::try_from(c).ok()).unwrap_or(things.len());
                counted(things, count, subject)
            }
            None => thing(object),
        },
        other => shortened(&scalar(other), None),
    }
}

/// The list that a result is about.
fn rows(object: &Map<String, Value>) -> Option<&Vec<Value>> {
    let named = ["results", "items", "data", "entries"]
        .iter()
        .find_map(|key| object.get(*key).and_then(Value::as_array));
    named.or_else(|| {
        let mut lists = object.values().filter_map(Value::as_array);
        match (lists.next(), lists.next()) {
            (Some(only), None) if is_frame(object) => Some(only),
            _ => None,
        }
    })
}

/// Whether an object only wraps a list: counts and flags, nothing of its own.
fn is_frame(object: &Map<String, Value>) -> bool {
    let answer = object.get("result").is_some_and(|v| v.is_string() || v.is_number());
    object.len() <= 3 && !answer && !is_thing(object) && !object.values().any(Value::is_object)
}

/// A result without its wrapper: of `{"success": true, "item": {…}}` the item.
pub fn unframed(json: &Value) -> &Value {
    json.as_object().and_then(framed).unwrap_or(json)
}

fn framed(object: &Map<String, Value>) -> Option<&Value> {
    let frames = |key: &str, value: &Value| {
        let marks = matches!(key, "success" | "ok" | "status" | "message" | "count" | "total");
        value.is_null() || value.is_boolean() || marks && !value.is_object() && !value.is_array()
    };
    let mut own = object.iter().filter(|(key, value)| !frames(key, value));
    match (own.next(), own.next()) {
        (Some((_, inner @ Value::Object(_))), None) if !is_thing(object) => Some(unframed(inner)),
        _ => None,
    }
}

fn counted(things: &[Value], count: usize, subject: &str) -> String {
    if things.is_empty() {
        return format!("There are no {subject}.");
    }
    let head = match count {
        1 => format!("1 {}:", lexicon::english().singular(subject)),
        count => format!("{count} {subject}:"),
    };
    list(&head, &things.iter().collect::<Vec<_>>(), count)
}

/// Entries below a heading, of `count` in total.
pub fn list(head: &str, things: &[&Value], count: usize) -> String {
    let mut text = head.to_owned();
    let with_address = things.len() <= ADDRESSED_MAX;
    for thing in things.iter().take(THINGS_MAX) {
        let _ = write!(text, "\n- {}", line(thing));
        if let Some(url) = thing.as_object().and_then(address).filter(|_| with_address) {
            let _ = write!(text, " <{url}>");
        }
    }
    if count > THINGS_MAX.min(things.len()) {
        let _ = write!(text, "\n… and {} more", count - THINGS_MAX.min(things.len()));
    }
    text
}

pub fn thing_shown(row: &Value) -> String {
    match row {
        Value::Object(object) => thing(object),
        other => value(other, "results"),
    }
}

/// An entry of a list: name, id and a few details.
fn line(thing: &Value) -> String {
    let Value::Object(object) = thing else { return scalar(thing) };
    let mut text = name_of(object).unwrap_or_default();
    if let Some(id) = object.get("id").map(scalar).filter(|id| *id != text) {
        text = if text.is_empty() { id } else { format!("{text} (id {id})") };
    }
    let details: Vec<String> = object
        .iter()
        .filter(|(key, value)| {
            !is_name_key(key) && is_short(value) && !is_told_by_name(object, key)
        })
        .take(DETAILS_MAX)
        .map(|(key, value)| format!("{} {}", words(key), short(value)))
        .collect();
    match (text.is_empty(), details.is_empty()) {
        (true, _) => details.join(", "),
        (false, true) => text,
        (false, false) => format!("{text}: {}", details.join(", ")),
    }
}

/// Whether a field is the id of something whose name is there, too: `status_id` beside `status_name`.
fn is_told_by_name(object: &Map<String, Value>, key: &str) -> bool {
    key.strip_suffix("_id").is_some_and(|of| object.contains_key(&format!("{of}_name")))
}

/// A single thing: its message first, then a line per field.
fn thing(object: &Map<String, Value>) -> String {
    let mut lines = Vec::new();
    lines.extend(object.get("message").and_then(Value::as_str).map(str::to_owned));
    if let Some(inner) = framed(object) {
        lines.push(value(inner, "results"));
        return lines.join("\n");
    }
    lines.extend(name_of(object).map(|name| match object.get("id") {
        Some(id) if scalar(id) != name => format!("{name} (id {})", scalar(id)),
        _ => name,
    }));
    if let (None, Some(id)) = (name_of(object), object.get("id")) {
        lines.push(format!("- id: {}", scalar(id)));
    }
    for (key, value) in object {
        if is_name_key(key) || key == "message" || value.is_null() {
            continue;
        }
        match value {
            Value::Array(things) if !is_thing(object) && things.iter().any(has_details) => {
                lines.push(format!("{} {}:", things.len(), words(key)));
                lines.extend(
                    things.iter().take(THINGS_MAX).map(|thing| format!("- {}", line(thing))),
                );
            }
            Value::Object(held) if !is_thing(object) && is_told_whole(held) => {
                lines.push(format!("- {}: {}", words(key), line(value)));
            }
            value => lines.push(format!("- {}: {}", words(key), inner(value))),
        }
    }
    lines.extend(address(object).map(|url| format!("- address: {url}")));
    let more = lines.len().saturating_sub(LINES_MAX);
    lines.truncate(LINES_MAX);
    if more > 0 {
        lines.push(format!("… and {more} more lines"));
    }
    lines.join("\n")
}

/// The address where a person can view a thing.
fn address(object: &Map<String, Value>) -> Option<&str> {
    ["display_url", "html_url", "web_url", "url"].iter().find_map(|key| object.get(*key)?.as_str())
}

fn inner(value: &Value) -> String {
    match value {
        Value::Array(things) if things.is_empty() => "none".into(),
        Value::Array(things) => {
            let named: Vec<String> = things.iter().take(INNER_THINGS_MAX).map(brief).collect();
            let more = things.len() - named.len();
            let tail = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("{}{tail}", named.join(", "))
        }
        other => short(other),
    }
}

/// A nested thing: id and name.
fn brief(value: &Value) -> String {
    let Value::Object(object) = value else { return scalar(value) };
    let id = object.get("id").map(scalar);
    match (id, name_of(object)) {
        (Some(id), Some(name)) if id != name => format!("{id} ({name})"),
        (_, Some(name)) => name,
        (Some(id), None) => id,
        (None, None) => line(value),
    }
}

fn short(value: &Value) -> String {
    match value {
        Value::Object(object) => ["label", "display", "name", "model", "text", "value", "id"]
            .iter()
            .find_map(|key| object.get(*key).filter(|v| !v.is_object()))
            .map_or_else(|| fields(object), scalar),
        Value::Array(values) => values.iter().map(scalar).collect::<Vec<_>>().join("; "),
        other => scalar(other),
    }
}

/// Whether a thing has more than a name.
fn has_details(value: &Value) -> bool {
    value.as_object().is_some_and(|object| object.keys().any(|key| !is_name_key(key)))
}

/// Whether a nested thing is the subject of the result, not a choice or a mere name.
fn is_told_whole(object: &Map<String, Value>) -> bool {
    let told = object.iter().filter(|(key, value)| !is_name_key(key) && is_short(value));
    !object.contains_key("label") && told.count() > 0
}

/// The scalar fields of a thing without a name, or else its nested ones.
fn fields(object: &Map<String, Value>) -> String {
    let plain = object
        .iter()
        .filter(|(_, value)| !value.is_object() && !value.is_array() && !value.is_null());
    let shown =
        plain.take(DETAILS_MAX).map(|(key, value)| format!("{} {}", words(key), scalar(value)));
    let shown = shown.collect::<Vec<_>>().join(", ");
    if !shown.is_empty() {
        return shown;
    }
    let held = object.iter().filter(|(_, value)| !value.is_null()).take(DETAILS_MAX);
    let held: Vec<String> =
        held.map(|(key, value)| format!("{} {}", words(key), inner(value))).collect();
    if held.is_empty() { "none".into() } else { held.join("; ") }
}

fn name_of(object: &Map<String, Value>) -> Option<String> {
    ["name", "title", "display", "address", "prefix", "text", "label"]
        .iter()
        .find_map(|key| object.get(*key).filter(|value| !value.is_object()))
        .map(scalar)
}

fn is_thing(object: &Map<String, Value>) -> bool {
    object.contains_key("id") || name_of(object).is_some()
}

fn is_name_key(key: &str) -> bool {
    matches!(
        key,
        "id" | "name"
            | "title"
            | "display"
            | "text"
            | "slug"
            | "url"
            | "display_url"
            | "html_url"
            | "web_url"
            | "label"
    )
}

/// Whether a value is short.
fn is_short(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Array(values) => {
            let plain = |value: &Value| value.is_string() || value.is_number();
            !values.is_empty() && values.len() <= INNER_THINGS_MAX && values.iter().all(plain)
        }
        Value::String(text) => !text.is_empty() && text.len() <= 60,
        _ => true,
    }
}

fn words(key: &str) -> String {
    key.replace('_', " ")
}

fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Bool(true) => "yes".into(),
        Value::Bool(false) => "no".into(),
        Value::Null => "none".into(),
        Value::Number(number) => number_shown(number),
        other => other.to_string(),
    }
}

/// A number as people write it: 212, not 212.0.
pub fn number_shown(number: &serde_json::Number) -> String {
    let text = number.to_string();
    text.strip_suffix(".0").map_or_else(|| text.clone(), str::to_owned)
}

/// A result as is, or its beginning and total length.
pub fn plain(output: &ToolOutput) -> String {
    shortened(output.plain_text(), output.whole_characters)
}

fn shortened(text: &str, all: Option<u64>) -> String {
    let cut = text.char_indices().nth(TEXT_CHARACTERS_MAX).map(|(cut, _)| cut);
    let Some(cut) = cut.or_else(|| all.map(|_| text.len())) else { return text.to_owned() };
    let all = all.unwrap_or_else(|| text.chars().count() as u64);
    format!("{}… ({all} characters in all)", &text[..cut])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tool::ToolName;

    #[test]
    fn a_list_gives_the_count_first_then_names_ids_and_details() {
        let json = json!({"count": 2, "results": [
            {"id": 1, "name": "ber-1", "status": {"value": "active", "label": "Active"}},
            {"id": 2, "name": "muc-1", "status": {"value": "planned", "label": "Planned"}},
        ]});
        let expected = "2 sites:\n- ber-1 (id 1): status Active\n- muc-1 (id 2): status Planned";
        assert_eq!(value(&json, "sites"), expected);
    }

    #[test]
    fn a_change_tells_its_message_and_what_it_touched() {
        let json = json!({"message": "Added 1 answer.", "added": [{"id": "A1", "text": "C++"}],
            "deselected": [{"id": "A2297", "text": "Java"}, {"id": "A2298", "text": "Ruby"}]});
        let expected =
            "Added 1 answer.\n- added: A1 (C++)\n- deselected: A2297 (Java), A2298 (Ruby)";
        assert_eq!(value(&json, "survey answers"), expected);
    }

    #[test]
    fn where_a_thing_can_be_looked_at_is_said() {
        let row = |id: u64| json!({"id": id, "name": "ber", "url": format!("https://x.test/{id}")});
        let few = json!({"results": [row(1)]});
        assert_eq!(value(&few, "sites"), "1 site:\n- ber (id 1) <https://x.test/1>");
        let many: Vec<Value> = (0..9).map(row).collect();
        assert!(!value(&json!(many), "sites").contains("https"));
        assert_eq!(value(&row(1), "site"), "ber (id 1)\n- address: https://x.test/1");
    }

    #[test]
    fn an_answer_that_was_cut_says_how_long_it_was() {
        let call = |text: String| {
            let output = ToolOutput { text, ..ToolOutput::default() }.cut(262_144);
            result(&CallRecord { output: Some(output), ..CallRecord::default() })
        };
        assert!(call("x".repeat(2_100_000)).ends_with("… (2100000 characters in all)"));
        assert_eq!(call("short".into()), "short");
    }

    #[test]
    fn an_empty_list_is_told_with_what_was_asked() {
        let tool = ToolName { server: "netbox".into(), name: "netbox_get_racks".into() };
        let arguments = json!({"filters": {"name": "MDF"}, "fields": ["id"], "limit": 5});
        let json = Some(json!({"count": 0, "results": []}));
        let output = Some(ToolOutput { json, ..ToolOutput::default() });
        let call = CallRecord { tool, arguments, output, ..CallRecord::default() };
        assert_eq!(result(&call), "No racks match (name MDF, limit 5).");
    }

    #[test]
    fn nothing_found_is_said() {
        assert_eq!(value(&json!({"count": 0, "results": []}), "devices"), "There are no devices.");
    }
}
