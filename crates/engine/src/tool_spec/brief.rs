//! A tool's definition in few tokens, for requests that cannot declare all tools whole.
//!
//! A model needs a tool's name, what it does and its parameters. What says nothing goes first (`title`, `$schema`, `null`
//! beside the type of an optional parameter), then long texts are cut to their first sentences, then optional parameters
//! are only named, and at last of a long list of allowed values the first few are. Types and required parameters always
//! stay. This is what a model is shown; arguments are still checked against the whole definition.
//!
//! Invariant: a pure function of the definition and the limit, so a declared tool has the same bytes in each request.

use serde_json::{Map, Value};

use super::spec_of;
use crate::model::ToolSpec;
use crate::tokens;
use crate::tool::ToolDefinition;

/// Characters that are kept of the tool's description and of a parameter's; each step keeps less.
const STEPS: [(usize, usize); 5] =
    [(usize::MAX, usize::MAX), (240, 80), (160, 50), (120, 32), (100, 0)];
/// No text has more bytes for each token: what is longer need not be counted.
const TOKEN_BYTES_MAX: usize = 8;
/// A cut before this many characters says too little.
const OPENING_MIN: usize = 20;
/// Allowed values that are always listed.
const VALUES_MAX: usize = 12;
/// Of more, so many are named.
const VALUES_NAMED: usize = 4;

/// The definition in `tokens_max` tokens, or in as few as it can be told. A shorter one is left as it is.
pub fn brief_of(definition: &ToolDefinition, tokens_max: u32) -> ToolSpec {
    let whole = spec_of(definition);
    if fits(&whole, tokens_max) {
        return whole;
    }
    // A reference into another parameter would lead nowhere once that one is rewritten.
    let can_be_rewritten = !whole.input_schema.to_string().contains("\"#/properties");
    let mut brief = whole.clone();
    for (description, parameter) in STEPS {
        brief.description = opening(&whole.description, description);
        if can_be_rewritten {
            brief.input_schema = brief_schema(&whole.input_schema, parameter);
        }
        if fits(&brief, tokens_max) {
            return brief;
        }
    }
    if can_be_rewritten {
        name_optional(&mut brief);
        if !fits(&brief, tokens_max) {
            cut_values(&mut brief.input_schema);
        }
    }
    brief
}

fn fits(spec: &ToolSpec, tokens_max: u32) -> bool {
    let Ok(text) = serde_json::to_string(spec) else { return true };
    text.len() <= tokens_max as usize * TOKEN_BYTES_MAX && tokens::count(&text) <= tokens_max
}

/// A schema without what says nothing, and with texts of at most `characters`.
fn brief_schema(schema: &Value, characters: usize) -> Value {
    let Value::Object(schema) = schema else { return schema.clone() };
    let mut brief = Map::new();
    for (key, value) in schema {
        let value = match (key.as_str(), value) {
            ("$schema" | "$comment" | "title" | "example" | "examples", _)
            | ("additionalProperties", Value::Bool(false))
            | ("default", Value::Null) => continue,
            ("description", Value::String(text)) if characters > 0 => {
                Value::String(opening(text, characters))
            }
            ("description", _) => continue,
            ("properties", Value::Object(properties)) => {
                let required = required(schema);
                let brief = |(name, schema): (&String, &Value)| {
                    let schema = brief_schema(schema, characters);
                    let is_optional = !required.contains(&name.as_str());
                    (name.clone(), if is_optional { without_null(schema) } else { schema })
                };
                Value::Object(properties.iter().map(brief).collect())
            }
            ("$defs" | "definitions", Value::Object(named)) => Value::Object(
                named.iter().map(|(n, s)| (n.clone(), brief_schema(s, characters))).collect(),
            ),
            ("anyOf" | "oneOf" | "allOf", Value::Array(several)) => {
                Value::Array(several.iter().map(|s| brief_schema(s, characters)).collect())
            }
            ("items" | "additionalProperties", value) => brief_schema(value, characters),
            (_, value) => value.clone(),
        };
        brief.insert(key.clone(), value);
    }
    Value::Object(brief)
}

/// The schema of a parameter that can be left out, so `null` need not be one of its types.
fn without_null(schema: Value) -> Value {
    let Value::Object(mut schema) = schema else { return schema };
    let is_null = |schema: &Value| schema.get("type").is_some_and(|kind| kind == "null");
    for key in ["anyOf", "oneOf"] {
        let Some(Value::Array(several)) = schema.get_mut(key) else { continue };
        several.retain(|schema| !is_null(schema));
        if let [Value::Object(only)] = several.as_slice() {
            let only = only.clone();
            schema.remove(key);
            for (key, value) in only {
                schema.entry(key).or_insert(value);
            }
        }
    }
    if let Some(Value::Array(kinds)) = schema.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [only] = kinds.as_slice() {
            let only = only.clone();
            schema.insert("type".into(), only);
        }
    }
    Value::Object(schema)
}

/// Leaves of optional parameters only their names, in the description.
fn name_optional(spec: &mut ToolSpec) {
    let Some(schema) = spec.input_schema.as_object_mut() else { return };
    let required: Vec<String> = required(schema).into_iter().map(str::to_owned).collect();
    let Some(Value::Object(properties)) = schema.get_mut("properties") else { return };
    let optional: Vec<String> =
        properties.keys().filter(|name| !required.contains(name)).cloned().collect();
    if optional.is_empty() {
        return;
    }
    properties.retain(|name, _| required.contains(name));
    if !spec.input_schema.to_string().contains("\"$ref\"")
        && let Some(schema) = spec.input_schema.as_object_mut()
    {
        schema.retain(|key, _| key != "$defs" && key != "definitions");
    }
    spec.description = format!("{} Also takes: {}", spec.description, optional.join(", "));
}

/// Names the first of many allowed values instead of listing all.
fn cut_values(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            let values = object.get("enum").and_then(Value::as_array);
            if let Some(values) = values.filter(|values| values.len() > VALUES_MAX) {
                let text = |value: &Value| value.as_str().map_or(value.to_string(), str::to_owned);
                let named: Vec<String> = values.iter().take(VALUES_NAMED).map(text).collect();
                let about = format!("one of {}: {}…", values.len(), named.join(", "));
                object.remove("enum");
                object.insert("description".into(), Value::String(about));
            }
            object.values_mut().for_each(cut_values);
        }
        Value::Array(several) => several.iter_mut().for_each(cut_values),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn required(schema: &Map<String, Value>) -> Vec<&str> {
    let names = schema.get("required").and_then(Value::as_array);
    names.into_iter().flatten().filter_map(Value::as_str).collect()
}

/// The first sentences of a text, as many as `most` characters hold, or the start of the first.
fn opening(text: &str, most: usize) -> String {
    let text = text.trim();
    let Some((most, _)) = text.char_indices().nth(most) else { return text.to_owned() };
    let start = &text[..most];
    let ends = start.char_indices().filter(|(at, character)| {
        let mut next = start[at + character.len_utf8()..].chars();
        match character {
            '。' | '！' | '？' | '\n' => true,
            // "e.g. this" ends no sentence.
            '.' | '!' | '?' => match (next.next(), next.next()) {
                (Some(gap), Some(first)) => gap.is_whitespace() && !first.is_lowercase(),
                _ => false,
            },
            _ => false,
        }
    });
    let end = ends.map(|(at, character)| at + character.len_utf8()).next_back();
    if let Some(end) = end.filter(|end| *end >= OPENING_MIN) {
        return start[..end].trim_end().to_owned();
    }
    let end = start.rfind(char::is_whitespace).filter(|end| *end > 0).unwrap_or(most);
    format!("{}…", start[..end].trim_end())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tool::ToolName;

    fn tool(description: &str, input_schema: Value) -> ToolDefinition {
        ToolDefinition {
            tool: ToolName { server: "s".into(), name: "t".into() },
            description: description.into(),
            input_schema,
            ..ToolDefinition::default()
        }
    }

    fn large() -> ToolDefinition {
        let about = "The state to filter by. One of the states that the workflow of the project defines, see the manual.";
        tool(
            &format!(
                "Lists the tickets of a project. {}",
                "It pages through all results. ".repeat(9)
            ),
            json!({
                "$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "title": "ListTickets",
                "properties": {
                    "title": {"type": "string", "title": "Title", "description": about},
                    "state": {"anyOf": [{"type": "string", "enum": ["open", "done"]}, {"type": "null"}], "default": null, "description": about},
                    "owner": {"type": ["string", "null"], "description": about},
                },
                "required": ["title"], "additionalProperties": false,
            }),
        )
    }

    #[test]
    fn a_small_definition_stays_as_it_is() {
        let schema = json!({"type": "object", "title": "T", "properties": {}});
        let small = tool("Does it.", schema);
        assert_eq!(brief_of(&small, 60), spec_of(&small));
    }

    #[test]
    fn texts_are_cut_before_anything_else_and_types_values_and_required_parameters_stay() {
        let brief = brief_of(&large(), 96);
        assert_eq!(
            brief.description,
            "Lists the tickets of a project. It pages through all results. It pages through all results."
        );
        let about = "The state to filter by.";
        let expected = json!({
            "type": "object",
            "properties": {
                "title": {"type": "string", "description": about},
                "state": {"type": "string", "enum": ["open", "done"], "description": about},
                "owner": {"type": "string", "description": about},
            },
            "required": ["title"],
        });
        assert_eq!(brief.input_schema, expected);
    }

    #[test]
    fn optional_parameters_are_only_named_where_nothing_else_helps() {
        let brief = brief_of(&large(), 20);
        assert!(brief.description.ends_with("Also takes: state, owner"), "{}", brief.description);
        let expected = json!({"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]});
        assert_eq!(brief.input_schema, expected);
    }

    #[test]
    fn of_many_allowed_values_the_first_are_named() {
        let values: Vec<String> = (0..40).map(|at| format!("champion-{at}")).collect();
        let schema = json!({"type": "object", "properties": {"who": {"type": "string", "enum": values}}, "required": ["who"]});
        let brief = brief_of(&tool("Does it.", schema), 60);
        let about = "one of 40: champion-0, champion-1, champion-2, champion-3…";
        assert_eq!(
            brief.input_schema["properties"]["who"],
            json!({"type": "string", "description": about})
        );
    }

    #[test]
    fn a_required_parameter_may_still_be_null_and_references_still_lead_somewhere() {
        let about = "word ".repeat(100);
        let nullable = json!({"type": ["string", "null"], "description": about});
        let schema = json!({"type": "object", "properties": {"a": nullable}, "required": ["a"]});
        let brief = brief_of(&tool("Does it.", schema), 20);
        assert_eq!(brief.input_schema["properties"]["a"], json!({"type": ["string", "null"]}));
        let node = json!({"type": "object", "properties": {"next": {"$ref": "#/properties/a"}}, "description": about});
        let schema = json!({"type": "object", "properties": {"a": node}});
        assert_eq!(brief_of(&tool("Does it.", schema.clone()), 20).input_schema, schema);
    }

    #[test]
    fn a_text_is_cut_after_a_sentence_or_else_after_a_word() {
        let check = |text: &str, most, expected: &str| assert_eq!(opening(text, most), expected);
        check("Short.", 80, "Short.");
        check("Reads a file from disk. Then more follows here.", 30, "Reads a file from disk.");
        check("Reads a file, e.g. a text or an image. More.", 30, "Reads a file, e.g. a text or…");
        check(
            "获取今日头条热榜，包含时政要闻、社会事件、国际新闻。更多",
            26,
            "获取今日头条热榜，包含时政要闻、社会事件、国际新闻。",
        );
        check("unbreakableunbreakableunbreakable", 10, "unbreakabl…");
    }
}
