//! Lists of steps in arguments: a batch that reads at first and acts in the middle.

use serde_json::Value;

use super::fold::fold;
use super::name;

/// Parameters that list what is done, one after the other.
const STEPS: [&str; 13] = [
    "actions",
    "batch",
    "calls",
    "changes",
    "commands",
    "edits",
    "mutations",
    "operations",
    "ops",
    "patch",
    "requests",
    "steps",
    "tasks",
];
/// In a step, parameters that name the action.
const STEP_ACTIONS: [&str; 8] =
    ["type", "tool", "name", "kind", "call", "command", "path", "endpoint"];

/// Whether a parameter, by the words of its name, lists steps.
pub(super) fn lists(words: &[String]) -> bool {
    words.last().is_some_and(|last| STEPS.contains(&last.as_str()))
}

/// The parameter and value of a step that acts: `{"tool": "delete_item", "id": 1}`, `{"type": "purge"}`.
pub(super) fn acting(steps: &[Value]) -> Option<(&str, &Value)> {
    let fields = steps.iter().filter_map(Value::as_object).flatten();
    let mut named = fields.filter(|(key, _)| STEP_ACTIONS.contains(&fold(key).as_str()));
    named
        .find(|(_, value)| value.as_str().is_some_and(|text| text.len() <= 64 && name::acts(text)))
        .map(|(key, value)| (key.as_str(), value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_step_acts_by_its_name() {
        let list = |value: Value| value.as_array().cloned().unwrap_or_default();
        assert!(acting(&list(json!([{"tool": "get_item"}, {"tool": "delete_item"}]))).is_some());
        assert!(acting(&list(json!([{"type": "purge", "ids": [1]}]))).is_some());
        assert!(acting(&list(json!([{"tool": "get_item", "note": "to delete"}]))).is_none());
    }
}
