//! Rules about tools, from configuration or decided by people.
//!
//! Invariant: a rule that permits calls applies only to the definition it was made for.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::tool::{ToolDefinition, ToolName};

/// What happens to a tool's calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rule {
    /// They run without approval, unless a value comes only from a tool.
    Allow,
    /// Each needs approval.
    Ask,
    /// They never run.
    Deny,
    /// The tool is read-only, whatever its server says.
    Reads,
}

impl Rule {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
            Self::Reads => "reads",
        }
    }

    /// Whether the rule permits calls.
    pub fn grants(self) -> bool {
        matches!(self, Self::Allow | Self::Reads)
    }
}

/// The operator's rules for one server.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ServerRules {
    /// Whether all its tools are read-only.
    pub reads_only: bool,
    /// Rules for individual tools.
    pub tools: BTreeMap<String, Rule>,
}

/// The operator's rules, by server.
pub type OperatorRules = BTreeMap<String, ServerRules>;

/// A person's decision about a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    #[serde(flatten)]
    pub tool: ToolName,
    pub rule: Rule,
    /// The fingerprint of the definition it was made for.
    pub fingerprint: String,
    pub at: Timestamp,
    pub by: String,
}

impl Decision {
    /// Whether it applies to a definition: a permission only to the exact same one, a restriction to any.
    pub fn holds_for(&self, definition: &ToolDefinition) -> bool {
        self.tool == definition.tool
            && (!self.rule.grants() || definition.has_fingerprint(&self.fingerprint))
    }
}

/// Replaces an earlier decision about the same tool; drops the oldest if there are too many.
pub fn decide(decisions: &mut Vec<Decision>, decision: Decision, most: usize) {
    decisions.retain(|known| known.tool != decision.tool);
    if decisions.len() >= most {
        decisions.remove(0);
    }
    decisions.push(decision);
}
