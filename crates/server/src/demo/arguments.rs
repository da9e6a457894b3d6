//! Arguments of a call, checked against the tool's schema.
//!
//! Invariant: an [`Arguments`] has passed the schema.

use jsonschema::Validator;
use serde_json::{Map, Value};

use super::records::Refusal;

/// Default page size.
const LIMIT_DEFAULT: u64 = 50;

/// Checked arguments.
pub(super) struct Arguments(Map<String, Value>);

impl Arguments {
    /// Checks `arguments`; the error names every problem with its path.
    pub(super) fn check(
        schema: &Validator,
        arguments: Map<String, Value>,
    ) -> Result<Self, Refusal> {
        let value = Value::Object(arguments);
        let problems: Vec<String> = schema
            .iter_errors(&value)
            .map(|problem| match problem.instance_path().as_str() {
                "" => problem.to_string(),
                path => format!("{}: {problem}", path.trim_start_matches('/')),
            })
            .collect();
        match value {
            Value::Object(map) if problems.is_empty() => Ok(Self(map)),
            _ => Err(format!("the arguments are not valid: {}", problems.join("; "))),
        }
    }

    /// A text argument.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str)
    }

    /// A text argument that the schema requires.
    pub(super) fn required(&self, name: &str) -> Result<&str, Refusal> {
        self.text(name).ok_or_else(|| format!("the argument {name} is missing"))
    }

    /// A whole number.
    pub(super) fn number(&self, name: &str) -> Option<u64> {
        self.0.get(name).and_then(Value::as_u64)
    }

    /// A whole number that the schema requires.
    pub(super) fn required_number(&self, name: &str) -> Result<u64, Refusal> {
        self.number(name).ok_or_else(|| format!("the argument {name} is missing"))
    }

    /// A boolean.
    pub(super) fn flag(&self, name: &str) -> Option<bool> {
        self.0.get(name).and_then(Value::as_bool)
    }

    /// A list of texts.
    pub(super) fn texts(&self, name: &str) -> Option<Vec<String>> {
        let list = self.0.get(name)?.as_array()?;
        Some(list.iter().filter_map(Value::as_str).map(str::to_owned).collect())
    }

    /// The requested page of a listing, as `{count, next, previous, results}`.
    pub(super) fn page(&self, results: Vec<Value>) -> Value {
        let offset = self.number("offset").unwrap_or(0);
        let limit = self.number("limit").unwrap_or(LIMIT_DEFAULT);
        let count = results.len() as u64;
        let page: Vec<Value> =
            results.into_iter().skip(offset as usize).take(limit as usize).collect();
        let end = offset.saturating_add(page.len() as u64);
        serde_json::json!({
            "count": count,
            "next": (end < count).then(|| serde_json::json!({"offset": end, "limit": limit})),
            "previous": (offset > 0)
                .then(|| serde_json::json!({"offset": offset.saturating_sub(limit), "limit": limit})),
            "results": page,
        })
    }
}
