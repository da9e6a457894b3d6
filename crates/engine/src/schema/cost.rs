//! The cost of a schema, measured without a value.
//!
//! Counts the subschemas that apply, with every reference expanded; each definition is measured once, so the
//! measurement is linear in the schema. Recursion that descends into the value ends the count, because the value
//! is finite; [`super::steps`] counts it there.
//!
//! References must point into the schema itself: other forms (`$dynamicRef`, anchors, nested `$id`) could not be
//! counted, and tools have no use for them.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::parts::{self, SubschemaTarget};
use super::{BYTES_MAX, DEPTH_MAX, PATTERNS_MAX, SUBSCHEMAS_MAX, pattern};

/// Keywords that change what a reference means.
const UNSUPPORTED: [&str; 5] = ["$dynamicRef", "$recursiveRef", "$anchor", "$dynamicAnchor", "$id"];

/// Counts the subschemas of `schema`; the error says which limit is exceeded.
pub(super) fn check(schema: &Value) -> Result<u64, String> {
    let bytes = schema.to_string().len();
    if bytes > BYTES_MAX {
        return Err(format!("its schema has {bytes} bytes, more than {BYTES_MAX}"));
    }
    let mut measured = Measured { root: schema, known: HashMap::new(), under_way: Vec::new() };
    let subschemas = measured.count(schema, Level::default())?;
    if subschemas > SUBSCHEMAS_MAX {
        let most = format!("its schema applies more than {SUBSCHEMAS_MAX} subschemas");
        return Err(format!("{most}, references expanded"));
    }
    let old_draft = schema["$schema"].as_str().is_some_and(|draft| draft.contains("draft-04"));
    check_everywhere(schema, Scope { is_root: true, old_draft }, &mut 0)?;
    Ok(subschemas)
}

/// The depth of the measurement in the schema and in the value.
#[derive(Debug, Clone, Copy, Default)]
struct Level {
    schema: usize,
    value: usize,
}

struct Measured<'a> {
    root: &'a Value,
    known: HashMap<&'a str, u64>,
    /// References being measured, with the depth in the value at which each began.
    under_way: Vec<(&'a str, usize)>,
}

impl<'a> Measured<'a> {
    fn count(&mut self, schema: &'a Value, level: Level) -> Result<u64, String> {
        let Value::Object(schema) = schema else { return Ok(1) };
        if level.schema > DEPTH_MAX {
            return Err(format!("its schema is nested deeper than {DEPTH_MAX} levels"));
        }
        let mut total = 1_u64;
        for (place, part) in parts::of(schema) {
            let value = level.value + usize::from(place != SubschemaTarget::Here);
            let below = Level { schema: level.schema + 1, value };
            total = total.saturating_add(self.count(part, below)?);
        }
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            total = total.saturating_add(self.referred(reference, level)?);
        }
        Ok(if parts::looks_twice(schema) { total.saturating_mul(2) } else { total })
    }

    fn referred(&mut self, reference: &'a str, level: Level) -> Result<u64, String> {
        if let Some(count) = self.known.get(reference) {
            return Ok(*count);
        }
        if let Some((_, began)) = self.under_way.iter().find(|(known, _)| *known == reference) {
            return match *began == level.value {
                true => Err(format!("its schema refers to itself without end at {reference}")),
                false => Ok(1),
            };
        }
        let Some(target) = parts::target(self.root, reference) else {
            return Err(format!("its schema refers to {reference}, which is not inside it"));
        };
        self.under_way.push((reference, level.value));
        let count = self.count(target, Level { schema: level.schema + 1, ..level });
        self.under_way.pop();
        let count = count?;
        self.known.insert(reference, count);
        Ok(count)
    }
}

/// The position of a value in a schema.
#[derive(Debug, Clone, Copy)]
struct Scope {
    is_root: bool,
    /// Draft 4 uses `id` for `$id`.
    old_draft: bool,
}

/// Checks all of a schema, including what does not apply, because a compiler may process it.
fn check_everywhere(value: &Value, scope: Scope, patterns: &mut usize) -> Result<(), String> {
    let inner = Scope { is_root: false, ..scope };
    match value {
        Value::Object(map) => {
            check_keywords(map, scope, patterns)?;
            map.values().try_for_each(|part| check_everywhere(part, inner, patterns))
        }
        Value::Array(list) => {
            list.iter().try_for_each(|part| check_everywhere(part, inner, patterns))
        }
        _ => Ok(()),
    }
}

fn check_keywords(
    map: &Map<String, Value>,
    scope: Scope,
    patterns: &mut usize,
) -> Result<(), String> {
    for keyword in UNSUPPORTED.into_iter().chain(scope.old_draft.then_some("id")) {
        let names_the_whole = scope.is_root && matches!(keyword, "$id" | "id");
        if map.get(keyword).is_some_and(Value::is_string) && !names_the_whole {
            return Err(format!("its schema uses {keyword}, which is not supported in tools"));
        }
    }
    let of_properties = map.get("patternProperties").and_then(Value::as_object);
    let of_properties = of_properties.into_iter().flatten().map(|(pattern, _)| pattern.as_str());
    for text in map.get("pattern").and_then(Value::as_str).into_iter().chain(of_properties) {
        *patterns += 1;
        if *patterns > PATTERNS_MAX {
            return Err(format!("its schema has more than {PATTERNS_MAX} patterns"));
        }
        pattern::check(text)?;
    }
    Ok(())
}
