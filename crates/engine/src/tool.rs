//! The port of tools on MCP servers.
//!
//! The MCP client is in `throughline-upstream`. The engine decides whether a call may be made (pins, approvals,
//! trust) before it reaches [`Tools::call`].
//!
//! Invariant: a tool is identified by server and name together, never by one of them.

mod output;

use std::fmt;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::failure::UpstreamError;
use crate::hash::ContentHash;

pub use output::{Media, MediaKind, ToolOutput};

#[async_trait]
pub trait Tools: Send + Sync + 'static {
    /// The current definitions in a stable order, and the servers that could not be listed.
    async fn list(&self) -> ToolListing;

    /// Calls a tool. The result is limited in size; a result that the server marks as an error is `Ok` with
    /// `is_error`.
    async fn call(
        &self,
        tool: &ToolName,
        arguments: &Value,
        cancel: CancellationToken,
    ) -> Result<ToolOutput, UpstreamError>;
}

/// First words in the names of read-only tools.
const READING_VERBS: [&str; 14] = [
    "get", "list", "search", "find", "read", "show", "fetch", "query", "describe", "count",
    "lookup", "view", "check", "browse",
];

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct ToolName {
    /// The server's name in configuration.
    pub server: String,
    /// The tool's name on that server.
    pub name: String,
}

impl fmt::Display for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A name without a known server is shown alone.
        match self.server.as_str() {
            "" => f.write_str(&self.name),
            server => write!(f, "{server}:{}", self.name),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ToolDefinition {
    #[serde(flatten)]
    pub tool: ToolName,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// From the server: data, never an instruction of ours.
    pub description: String,
    /// JSON Schema of its arguments.
    pub input_schema: Value,
    /// JSON Schema of its structured results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// The server's hints about its effects.
    #[serde(default)]
    pub effects: ToolEffects,
}

impl ToolDefinition {
    /// A hash of everything the server says about the tool, stored in its pin.
    pub fn fingerprint(&self) -> String {
        let parts = serde_json::json!([
            self.tool.server,
            self.tool.name,
            self.title,
            self.description,
            canonical(&self.input_schema),
            self.output_schema.as_ref().map(canonical),
            self.effects,
        ]);
        format!("{FINGERPRINT}{}", ContentHash::of(&parts.to_string()))
    }

    /// Whether a stored fingerprint matches. One made before titles, output schemas and the open-world hint were
    /// included is compared without them.
    pub fn has_fingerprint(&self, stored: &str) -> bool {
        if stored.starts_with(FINGERPRINT) {
            return self.fingerprint() == stored;
        }
        let effects = ToolEffects { open_world: None, ..self.effects };
        let parts = serde_json::json!([
            self.tool.server,
            self.tool.name,
            self.description,
            canonical(&self.input_schema),
            effects,
        ]);
        ContentHash::of(&parts.to_string()).as_str() == stored
    }

    /// Whether a call may change something, according to the server's hint alone; `true` without one.
    pub fn changes_something(&self) -> bool {
        self.effects.read_only != Some(true)
    }

    /// Like [`Self::changes_something`], but without a hint the name decides: `get_site` reads. Good enough to
    /// choose a confirmation, not to call a tool that nobody asked for.
    pub fn seems_to_change(&self) -> bool {
        let verb = self.tool.name.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        let reads = READING_VERBS.contains(&verb.to_ascii_lowercase().as_str());
        self.changes_something() && !(self.effects == ToolEffects::default() && reads)
    }
}

/// Prefix of current fingerprints.
const FINGERPRINT: &str = "2:";

/// Sorts the keys of JSON objects, so that order alone is no change.
fn canonical(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut keys: Vec<&String> = map.keys().collect();
            keys.sort();
            keys.into_iter().map(|key| (key.clone(), canonical(&map[key]))).collect()
        }
        Value::Array(values) => values.iter().map(canonical).collect(),
        plain => plain.clone(),
    }
}

/// A server's hints about a tool's effects. Absent hints have the defaults of the MCP specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ToolEffects {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    /// It may destroy data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destructive: Option<bool>,
    /// Repeating a call has no further effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotent: Option<bool>,
    /// It interacts with systems beyond the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_world: Option<bool>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolListing {
    /// By server in configured order, then as the server lists them.
    pub tools: Vec<ToolDefinition>,
    /// Servers that could not be listed, with the reason.
    pub unavailable: Vec<(String, String)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition(schema: &str) -> ToolDefinition {
        ToolDefinition {
            tool: ToolName { server: "inventory".into(), name: "get_site".into() },
            description: "Shows one site.".into(),
            input_schema: serde_json::from_str(schema).unwrap(),
            ..ToolDefinition::default()
        }
    }

    #[test]
    fn the_order_of_keys_does_not_change_a_fingerprint() {
        let one = definition(
            r#"{"type": "object", "properties": {"b": {}, "a": [1, {"y": 1, "x": 2}]}}"#,
        );
        let other = definition(r#"{"properties":{"a":[1,{"x":2,"y":1}],"b":{}},"type":"object"}"#);
        assert_eq!(one.fingerprint(), other.fingerprint());
    }

    #[test]
    fn every_part_that_matters_changes_a_fingerprint() {
        let one = definition("{}");
        let mut others = vec![definition(r#"{"type":"object"}"#)];
        others.extend((0..7).map(|_| one.clone()));
        others[1].tool.server = "other".into();
        others[2].tool.name = "get_sites".into();
        others[3].description.push('!');
        others[4].effects.destructive = Some(true);
        others[5].effects.open_world = Some(false);
        others[6].title = Some("Get a site".into());
        others[7].output_schema = Some(serde_json::json!({"type": "object"}));
        for other in &others {
            assert_ne!(other.fingerprint(), one.fingerprint(), "{other:?}");
        }
    }

    #[test]
    fn a_fingerprint_of_before_holds_while_nothing_it_covered_changes() {
        let stored = "e3eccf39a4bbe7d8a43a0bddbc0fc7cc";
        let mut now = definition("{}");
        now.title = Some("Get a site".into());
        now.effects.open_world = Some(false);
        assert!(now.has_fingerprint(stored));
        now.description.push('!');
        assert!(!now.has_fingerprint(stored));
    }
}
