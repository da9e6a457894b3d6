//! JSON Schemas of arguments and results, generated from types and simplified.
//!
//! Details of Rust types (formats such as `uint32`, titles, `null` in optional fields) mean nothing to a client
//! and cost tokens in every prompt, so they are removed.

use std::sync::Arc;

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

/// The schema of `T` for results, inlined and without descriptions: programs read it, and the names suffice.
pub fn of_answer<T: JsonSchema>() -> Arc<JsonObject> {
    let mut schema = Value::Object(JsonObject::clone(&of::<T>()));
    strip(&mut schema, SchemaPosition::Schema, "description");
    match schema {
        Value::Object(object) => Arc::new(object),
        _ => Arc::default(),
    }
}

/// The schema of `T` for arguments, inlined. The tool's description says what it is for; unknown arguments are
/// rejected without being declared.
pub fn of<T: JsonSchema>() -> Arc<JsonObject> {
    let settings =
        SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let mut value = schema.to_value();
    clean(&mut value, SchemaPosition::Schema);
    match value {
        Value::Object(mut object) => {
            object.remove("$schema");
            object.remove("description");
            object.entry("type").or_insert_with(|| "object".into());
            Arc::new(object)
        }
        _ => Arc::default(),
    }
}

#[derive(Clone, Copy, PartialEq)]
enum SchemaPosition {
    Schema,
    /// Names in `properties` are field names and stay.
    Properties,
}

fn clean(value: &mut Value, place: SchemaPosition) {
    match value {
        Value::Object(object) => {
            if place == SchemaPosition::Schema {
                object.remove("title");
                // Artefacts of Rust types: unsigned numbers, maps of any value, closed structs.
                if object
                    .remove("format")
                    .is_some_and(|format| format.as_str().is_some_and(|f| f.starts_with("uint")))
                {
                    object.remove("minimum");
                }
                if object.get("additionalProperties").is_some_and(Value::is_boolean) {
                    object.remove("additionalProperties");
                }
                object
                    .remove("default")
                    .filter(|default| !default.is_null())
                    .map(|default| object.insert("default".into(), default));
                drop_null(object);
                join_constants(object);
            }
            for (key, inner) in object.iter_mut() {
                let next = match key.as_str() {
                    "properties" if place == SchemaPosition::Schema => SchemaPosition::Properties,
                    "default" | "enum" | "const" | "required"
                        if place == SchemaPosition::Schema =>
                    {
                        continue;
                    }
                    _ => SchemaPosition::Schema,
                };
                clean(inner, next);
            }
        }
        Value::Array(values) => {
            values.iter_mut().for_each(|value| clean(value, SchemaPosition::Schema))
        }
        _ => {}
    }
}

/// Optional fields may be omitted; allowing null too need not be said.
fn drop_null(object: &mut JsonObject) {
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            object.insert("type".into(), only);
        }
    }
    if let Some(Value::Array(choices)) = object.get_mut("anyOf") {
        choices.retain(|choice| choice["type"] != "null");
        if let [Value::Object(only)] = choices.as_slice() {
            let only = only.clone();
            object.remove("anyOf");
            for (key, value) in only {
                object.entry(key).or_insert(value);
            }
        }
    }
    if let Some(Value::Array(choices)) = object.get_mut("enum") {
        choices.retain(|choice| !choice.is_null());
    }
}

/// Turns a choice of constants into an `enum`; the field's description explains them.
fn join_constants(object: &mut JsonObject) {
    let Some(Value::Array(choices)) = object.get("oneOf") else { return };
    let words: Option<Vec<Value>> =
        choices.iter().map(|choice| choice.get("const").cloned()).collect();
    if let Some(words) = words.filter(|words| words.iter().all(Value::is_string)) {
        object.remove("oneOf");
        object.insert("type".into(), "string".into());
        object.insert("enum".into(), words.into());
    }
}

/// Removes `keyword` from every schema; a field of that name stays.
fn strip(value: &mut Value, place: SchemaPosition, keyword: &str) {
    match value {
        Value::Object(object) => {
            if place == SchemaPosition::Schema {
                object.remove(keyword);
            }
            for (key, inner) in object.iter_mut() {
                let next = match key.as_str() {
                    "properties" if place == SchemaPosition::Schema => SchemaPosition::Properties,
                    _ => SchemaPosition::Schema,
                };
                strip(inner, next, keyword);
            }
        }
        Value::Array(values) => {
            values.iter_mut().for_each(|value| strip(value, SchemaPosition::Schema, keyword))
        }
        _ => {}
    }
}
