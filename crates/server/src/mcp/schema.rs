//! JSON Schemas of arguments and answers, made from the types and cleaned up.
//!
//! What schemars writes for Rust's sake (formats such as `uint32`, titles that are type names, `null` in
//! every optional field) means nothing to a client and costs tokens in every prompt, so it goes.

use std::sync::Arc;

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

/// The schema of `T`, without references, for arguments.
pub fn of<T: JsonSchema>() -> Arc<JsonObject> {
    let settings =
        SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let mut value = schema.to_value();
    clean(&mut value, Place::Schema);
    match value {
        Value::Object(mut object) => {
            object.remove("$schema");
            object.entry("type").or_insert_with(|| "object".into());
            Arc::new(object)
        }
        _ => Arc::default(),
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Place {
    Schema,
    /// The names in `properties` are the fields' own and are left alone.
    Properties,
}

fn clean(value: &mut Value, place: Place) {
    match value {
        Value::Object(object) => {
            if place == Place::Schema {
                object.remove("title");
                object.remove("format");
                object
                    .remove("default")
                    .filter(|default| !default.is_null())
                    .map(|default| object.insert("default".into(), default));
                drop_null(object);
            }
            for (key, inner) in object.iter_mut() {
                let next = match key.as_str() {
                    "properties" if place == Place::Schema => Place::Properties,
                    "default" | "enum" | "const" | "required" if place == Place::Schema => continue,
                    _ => Place::Schema,
                };
                clean(inner, next);
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| clean(value, Place::Schema)),
        _ => {}
    }
}

/// An optional field may be left out; that it may also be null need not be said.
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
