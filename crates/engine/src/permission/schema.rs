//! Reads a tool's schema: parameters, defaults, descriptions.
//!
//! Only references within the schema are followed, to a limited depth.

use serde_json::{Map, Value};

/// Maximum depth of references and alternatives.
const DEPTH_MAX: usize = 8;

/// A schema with its references resolved.
#[derive(Debug, Clone, Copy)]
pub(super) struct Schema<'a> {
    root: &'a Value,
    at: &'a Value,
}

impl<'a> Schema<'a> {
    pub(super) fn new(root: &'a Value) -> Self {
        Self { root, at: root }.followed()
    }

    fn followed(self) -> Self {
        let mut at = self.at;
        for _ in 0..DEPTH_MAX {
            let Some(reference) = at.get("$ref").and_then(Value::as_str) else { break };
            let Some(found) = reference.strip_prefix('#').and_then(|path| self.root.pointer(path))
            else {
                break;
            };
            at = found;
        }
        Self { at, ..self }
    }

    /// Its alternatives, itself first.
    fn branches(self) -> Vec<Self> {
        let mut all = vec![self];
        let mut next = 0;
        while next < all.len() && all.len() < 64 {
            let at = all[next].at;
            for key in ["anyOf", "oneOf", "allOf"] {
                let more = at.get(key).and_then(Value::as_array).into_iter().flatten();
                all.extend(more.map(|at| Self { at, ..self }.followed()));
            }
            next += 1;
        }
        all
    }

    pub(super) fn property(self, name: &str) -> Option<Self> {
        let found = self.branches().into_iter().find_map(|branch| {
            let at = branch.at.get("properties")?.get(name)?;
            Some(Self { at, ..self })
        })?;
        Some(found.followed())
    }

    /// The schema of a list's items.
    pub(super) fn items(self) -> Option<Self> {
        let found = self.branches().into_iter().find_map(|branch| branch.at.get("items"))?;
        Some(Self { at: found, ..self }.followed())
    }

    pub(super) fn description(self) -> Option<&'a str> {
        self.text("description")
    }

    /// The descriptions of its parameters.
    pub(super) fn parameters(self) -> Vec<&'a str> {
        let branches = self.branches().into_iter();
        let properties = branches.filter_map(|branch| branch.at.get("properties")?.as_object());
        let described = properties.flat_map(|properties| properties.values());
        described.filter_map(|at| Self { at, ..self }.followed().description()).collect()
    }

    pub(super) fn title(self) -> Option<&'a str> {
        self.text("title")
    }

    fn text(self, key: &str) -> Option<&'a str> {
        self.branches().into_iter().find_map(|branch| branch.at.get(key)?.as_str())
    }

    /// The allowed values, if listed.
    pub(super) fn choices(self) -> Vec<&'a Value> {
        let listed = self.branches().into_iter().flat_map(|branch| {
            let choices = branch.at.get("enum").and_then(Value::as_array).into_iter().flatten();
            choices.chain(branch.at.get("const"))
        });
        listed.collect()
    }

    /// The arguments with the schema's defaults.
    pub(super) fn with_defaults(self, arguments: &Value) -> Value {
        let mut filled = arguments.as_object().cloned().unwrap_or_else(Map::new);
        for branch in self.branches() {
            let properties = branch.at.get("properties").and_then(Value::as_object);
            for (name, property) in properties.into_iter().flatten() {
                let property = Self { at: property, ..self }.followed();
                if let (Some(default), false) =
                    (property.at.get("default"), filled.contains_key(name))
                {
                    filled.insert(name.clone(), default.clone());
                }
            }
        }
        Value::Object(filled)
    }

    pub(super) fn default(self) -> Option<&'a Value> {
        self.branches().into_iter().find_map(|branch| branch.at.get("default"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn references_and_alternatives_are_followed() {
        let schema = json!({
            "$defs": {"Args": {"title": "T", "properties": {"a": {"anyOf": [{"type": "string", "enum": ["x"]}, {"type": "null"}]}}}},
            "$ref": "#/$defs/Args",
        });
        let schema = Schema::new(&schema);
        assert_eq!(schema.title(), Some("T"));
        assert_eq!(schema.property("a").map(Schema::choices), Some(vec![&json!("x")]));
        assert!(schema.property("b").is_none());
    }

    #[test]
    fn a_reference_to_itself_ends() {
        let schema = json!({"$ref": "#", "anyOf": [{"$ref": "#"}]});
        assert!(Schema::new(&schema).property("a").is_none());
    }

    #[test]
    fn defaults_stand_where_nothing_is_said() {
        let schema = json!({"properties": {"mode": {"default": "delete"}, "n": {"default": 1}}});
        let filled = Schema::new(&schema).with_defaults(&json!({"n": 2}));
        assert_eq!(filled, json!({"n": 2, "mode": "delete"}));
    }
}
