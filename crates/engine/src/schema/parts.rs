//! The subschemas of a schema, and the part of a value each applies to.

use serde_json::{Map, Value};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SubschemaTarget<'a> {
    /// The same value.
    Here,
    Property(&'a str),
    /// Every property, or its name.
    Properties,
    Item(usize),
    Items,
}

/// Subschemas that apply, with their targets. Definitions apply only if they are referred to.
pub(super) fn of<'a>(schema: &'a Map<String, Value>) -> Vec<(SubschemaTarget<'a>, &'a Value)> {
    let mut parts = Vec::new();
    for (keyword, value) in schema {
        match keyword.as_str() {
            "allOf" | "anyOf" | "oneOf" => {
                parts.extend(list(value).map(|part| (SubschemaTarget::Here, part)))
            }
            "not" | "if" | "then" | "else" => parts.push((SubschemaTarget::Here, value)),
            "dependentSchemas" | "dependencies" => {
                let schemas = map(value).filter(|(_, part)| !part.is_array());
                parts.extend(schemas.map(|(_, part)| (SubschemaTarget::Here, part)));
            }
            "properties" => {
                parts
                    .extend(map(value).map(|(name, part)| (SubschemaTarget::Property(name), part)));
            }
            "patternProperties" => {
                parts.extend(map(value).map(|(_, part)| (SubschemaTarget::Properties, part)));
            }
            "additionalProperties" | "unevaluatedProperties" | "propertyNames" => {
                parts.push((SubschemaTarget::Properties, value));
            }
            "prefixItems" => parts.extend(indexed(value)),
            "items" if value.is_array() => parts.extend(indexed(value)),
            "items" | "additionalItems" | "unevaluatedItems" | "contains" => {
                parts.push((SubschemaTarget::Items, value));
            }
            _ => {}
        }
    }
    parts
}

/// Whether the schema asks which parts its subschemas have evaluated, which makes a validator evaluate them
/// twice.
pub(super) fn looks_twice(schema: &Map<String, Value>) -> bool {
    schema.contains_key("unevaluatedProperties") || schema.contains_key("unevaluatedItems")
}

/// What `reference` refers to in `root`.
pub(super) fn target<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    let pointer = reference.strip_prefix('#')?;
    let found = root.pointer(pointer);
    // A reference is part of a URI and may have %XX escapes.
    found.or_else(|| root.pointer(&decoded(pointer)?))
}

fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        (bytes, rest) = match (first, tail) {
            (b'%', [high, low, tail @ ..]) => {
                let digits = [*high, *low];
                let digits = std::str::from_utf8(&digits).ok()?;
                bytes.push(u8::from_str_radix(digits, 16).ok()?);
                (bytes, tail)
            }
            _ => {
                bytes.push(*first);
                (bytes, tail)
            }
        };
    }
    String::from_utf8(bytes).ok()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn map(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

fn indexed(value: &Value) -> impl Iterator<Item = (SubschemaTarget<'_>, &Value)> {
    list(value).enumerate().map(|(index, part)| (SubschemaTarget::Item(index), part))
}
