//! Read-only tools known to a pack: by name and schema, since anybody can take a name.
//!
//! Parameters, their types and whether they are required are compared; descriptions are not.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::Value;

use crate::tool::ToolDefinition;

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KnownReader {
    /// The name on its server.
    pub tool: String,
    /// Parameters with their types; several are separated by a bar: `string|array`. Null is implied.
    pub parameters: BTreeMap<String, String>,
    #[serde(default)]
    pub required: BTreeSet<String>,
}

impl KnownReader {
    /// Whether a definition is this tool.
    pub(super) fn is(&self, definition: &ToolDefinition) -> bool {
        let schema = &definition.input_schema;
        let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
            return false;
        };
        let names = |value: Option<&Value>| -> BTreeSet<String> {
            let listed = value.and_then(Value::as_array).into_iter().flatten();
            listed.filter_map(|name| name.as_str().map(str::to_owned)).collect()
        };
        definition.tool.name == self.tool
            && properties.len() == self.parameters.len()
            && names(schema.get("required")) == self.required
            && self.parameters.iter().all(|(name, types)| {
                let wanted: BTreeSet<&str> = types.split('|').collect();
                properties.get(name).is_some_and(|property| types_of(property) == wanted)
            })
    }
}

/// The types of a parameter, without null.
fn types_of(schema: &Value) -> BTreeSet<&str> {
    let own = match schema.get("type") {
        Some(Value::String(one)) => vec![one.as_str()],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let branches =
        ["anyOf", "oneOf"].iter().filter_map(|key| schema.get(key)?.as_array()).flatten();
    own.into_iter().chain(branches.flat_map(types_of)).filter(|name| *name != "null").collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pack::PackSet;
    use crate::tool::ToolName;
    use serde_json::json;

    fn objects(extra: Value) -> ToolDefinition {
        let mut properties = json!({
            "object_type": {"type": "string"}, "filters": {"type": "object"},
            "fields": {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]},
            "brief": {"type": "boolean"}, "limit": {"type": "integer"}, "offset": {"type": "integer"},
            "ordering": {"anyOf": [{"type": "string"}, {"type": "array"}, {"type": "null"}]},
        });
        properties.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        ToolDefinition {
            tool: ToolName { server: "netbox".into(), name: "netbox_get_objects".into() },
            input_schema: json!({"properties": properties, "required": ["object_type", "filters"]}),
            ..ToolDefinition::default()
        }
    }

    #[test]
    fn a_tool_is_known_by_name_and_schema() {
        let packs = PackSet::builtin();
        assert!(packs.knows_reader(&objects(json!({})), &[]));
        assert!(packs.knows_reader(&objects(json!({})), &["netbox".into()]));
        assert!(!packs.knows_reader(&objects(json!({})), &["workflow".into()]));
        assert!(!packs.knows_reader(&objects(json!({"delete": {"type": "boolean"}})), &[]));
        assert!(!packs.knows_reader(&objects(json!({"filters": {"type": "string"}})), &[]));
    }
}
