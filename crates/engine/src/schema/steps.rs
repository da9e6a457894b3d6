//! The cost of a validation, measured on the value.
//!
//! Walks schema and value together as a validator does, but only counts, and stops at the limit. So recursion
//! that fans out is detected on the value that makes it expensive, and harmless recursion (trees) is accepted.

use serde_json::Value;

use super::parts::{self, SubschemaTarget};
use super::{DEPTH_MAX, STEPS_MAX};

/// Maximum combined depth of schema and value.
const WALK_DEPTH_MAX: usize = 4 * DEPTH_MAX;

/// Counts the steps of validating `value` against `schema`; the error says which limit is exceeded.
pub(super) fn check(schema: &Value, value: &Value) -> Result<(), String> {
    Walk { root: schema, left: STEPS_MAX }.walk(schema, value, 0)
}

struct Walk<'a> {
    root: &'a Value,
    left: u64,
}

impl<'a> Walk<'a> {
    fn walk(&mut self, schema: &'a Value, value: &Value, depth: usize) -> Result<(), String> {
        let Value::Object(map) = schema else { return Ok(()) };
        let weight = if parts::looks_twice(map) { 2 } else { 1 };
        self.left = self.left.saturating_sub(weight);
        if self.left == 0 || depth > WALK_DEPTH_MAX {
            let most = format!("more than {STEPS_MAX} steps or {WALK_DEPTH_MAX} levels");
            return Err(format!("checking them against its schema takes {most}"));
        }
        if let Some(reference) = map.get("$ref").and_then(Value::as_str)
            && let Some(target) = parts::target(self.root, reference)
        {
            self.walk(target, value, depth + 1)?;
        }
        for (place, part) in parts::of(map) {
            match place {
                SubschemaTarget::Here => self.walk(part, value, depth + 1)?,
                SubschemaTarget::Property(name) => self.walk_each(part, value.get(name), depth)?,
                SubschemaTarget::Item(index) => self.walk_each(part, value.get(index), depth)?,
                SubschemaTarget::Properties => {
                    let values = value.as_object().into_iter().flat_map(|map| map.values());
                    self.walk_each(part, values, depth)?;
                }
                SubschemaTarget::Items => {
                    self.walk_each(part, value.as_array().into_iter().flatten(), depth)?;
                }
            }
        }
        Ok(())
    }

    fn walk_each<'v>(
        &mut self,
        schema: &'a Value,
        values: impl IntoIterator<Item = &'v Value>,
        depth: usize,
    ) -> Result<(), String> {
        values.into_iter().try_for_each(|value| self.walk(schema, value, depth + 1))
    }
}
