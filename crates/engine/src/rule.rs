//! Rules about tools: what the operator configures and what people decide.
//!
//! Invariant: a rule that lets something run holds for the definition that it was made for, and no other.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::tool::{ToolDefinition, ToolName};

/// What is to become of a tool's calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rule {
    /// They run unasked, unless a value comes from a tool alone.
    Allow,
    /// Somebody is asked each time.
    Ask,
    /// They never run.
    Deny,
    /// The tool only reads, whatever its server says of it.
    Reads,
}

impl Rule {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
            Self::Reads => "reads",
        }
    }

    /// Whether it lets something run.
    pub fn grants(self) -> bool {
        matches!(self, Self::Allow | Self::Reads)
    }
}

/// The operator's rules for one server.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ServerRules {
    /// Whether all of its tools only read.
    pub reads_only: bool,
    /// Rules for single tools.
    pub tools: BTreeMap<String, Rule>,
}

/// The operator's rules, by server.
pub type OperatorRules = BTreeMap<String, ServerRules>;

/// What a person decided about a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    #[serde(flatten)]
    pub tool: ToolName,
    /// What was decided.
    pub rule: Rule,
    /// The definition that it was decided for.
    pub fingerprint: String,
    /// When.
    pub at: Timestamp,
    /// By whom.
    pub by: String,
}

impl Decision {
    /// Whether it holds for a definition: what lets run holds for the very same, what holds back for any.
    pub fn holds_for(&self, definition: &ToolDefinition) -> bool {
        self.tool == definition.tool
            && (!self.rule.grants() || definition.has_fingerprint(&self.fingerprint))
    }
}

/// Puts a decision in place of an earlier one about the same tool; the oldest goes where there are too many.
pub fn decide(decisions: &mut Vec<Decision>, decision: Decision, most: usize) {
    decisions.retain(|known| known.tool != decision.tool);
    if decisions.len() >= most {
        decisions.remove(0);
    }
    decisions.push(decision);
}
