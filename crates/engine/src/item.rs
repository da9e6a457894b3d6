//! Rules, references and tools as members of a session.
//!
//! What an item says is the agent's business ([`crate::agent`]); here is only its name.

use serde::{Deserialize, Serialize};

use crate::piece::IncludeMode;
use crate::tool::ToolName;

/// A rule, a reference or a tool, by name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ItemName {
    Rule {
        name: String,
    },
    Reference {
        name: String,
    },
    /// A tool, which only server and name together identify.
    Tool {
        #[serde(rename = "serverName")]
        server: String,
        /// The tool.
        name: String,
    },
}

impl ItemName {
    /// A tool as an item.
    pub fn tool(tool: &ToolName) -> Self {
        Self::Tool { server: tool.server.clone(), name: tool.name.clone() }
    }
}

impl std::fmt::Display for ItemName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Rule { name } => write!(f, "rule {name}"),
            Self::Reference { name } => write!(f, "reference {name}"),
            Self::Tool { server, name } => write!(f, "tool {server}:{name}"),
        }
    }
}

/// An item in a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionItem {
    /// Which.
    #[serde(flatten)]
    pub item: ItemName,
    /// `always` from the session's creation, or `manual`.
    #[serde(rename = "includeMode")]
    pub mode: IncludeMode,
}
