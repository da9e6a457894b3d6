//! Tools on MCP servers, as the engine sees them.
//!
//! The proxy that speaks MCP lives in `throughline-upstream`. Whether a call may be made (pins,
//! approvals, trust) is decided in the engine before it reaches [`Tools::call`].
//!
//! Invariant: a tool is named by server and name together; neither alone identifies it.

mod output;

use std::fmt;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::failure::UpstreamError;
use crate::hash::ContentHash;

pub use output::{Media, MediaKind, ToolOutput};

/// The tools of all configured MCP servers.
#[async_trait]
pub trait Tools: Send + Sync + 'static {
    /// The definitions now known, in a stable order, and the servers that could not be asked.
    async fn list(&self) -> ToolListing;

    /// Calls a tool. The result is bounded by the configured output limit; a result the server marks as
    /// an error is an `Ok` with `is_error`.
    async fn call(
        &self,
        tool: &ToolName,
        arguments: &Value,
        cancel: CancellationToken,
    ) -> Result<ToolOutput, UpstreamError>;
}

/// First words of the names of tools that only read.
const READING_VERBS: [&str; 14] = [
    "get", "list", "search", "find", "read", "show", "fetch", "query", "describe", "count",
    "lookup", "view", "check", "browse",
];

/// Server and name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct ToolName {
    /// The server's name in configuration.
    pub server: String,
    /// The tool's name on that server.
    pub name: String,
}

impl fmt::Display for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A name that no server knows stands for itself.
        match self.server.as_str() {
            "" => f.write_str(&self.name),
            server => write!(f, "{server}:{}", self.name),
        }
    }
}

/// A tool as its server describes it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ToolDefinition {
    /// Server and name.
    #[serde(flatten)]
    pub tool: ToolName,
    /// A title for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it does. Text from a server: data, never an instruction of ours.
    pub description: String,
    /// JSON Schema of its arguments.
    pub input_schema: Value,
    /// JSON Schema of its structured answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// What the server says of its effects.
    #[serde(default)]
    pub effects: ToolEffects,
}

impl ToolDefinition {
    /// What a pin holds of it: a hash of everything that a server says of it.
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

    /// Whether a stored fingerprint is of this definition. One that was made before titles, output schemas and
    /// the hint about an open world counted is compared without them.
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

    /// Whether a call may change something, by the server's word alone. Without a hint it may.
    pub fn changes_something(&self) -> bool {
        self.effects.read_only != Some(true)
    }

    /// The same, but where the server gives no hint its name may speak for it: `get_site` reads. Enough
    /// to decide what to ask about, not enough to call a tool that nobody asked for.
    pub fn seems_to_change(&self) -> bool {
        let verb = self.tool.name.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        let reads = READING_VERBS.contains(&verb.to_ascii_lowercase().as_str());
        self.changes_something() && !(self.effects == ToolEffects::default() && reads)
    }
}

/// What a fingerprint of the present kind begins with.
const FINGERPRINT: &str = "2:";

/// The same JSON with its keys in order, so that order alone is no change.
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

/// A server's hints about a tool's effects. Absent hints are read as the MCP specification says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ToolEffects {
    /// It changes nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    /// It may destroy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destructive: Option<bool>,
    /// The same call twice does no more than once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotent: Option<bool>,
    /// It deals with things outside the server's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_world: Option<bool>,
}

/// What [`Tools::list`] answers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolListing {
    /// The definitions, by server in configured order, then as the server lists them.
    pub tools: Vec<ToolDefinition>,
    /// Servers that could not be asked, with the reason.
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
