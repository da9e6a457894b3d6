//! Rules, references and tools as members of a session.
//!
//! The content of an item is the agent's ([`crate::agent`]); this is only its name.

use serde::{Deserialize, Serialize};

use crate::piece::IncludeMode;
use crate::tool::ToolName;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ItemName {
    Rule {
        name: String,
    },
    Reference {
        name: String,
    },
    /// A tool; server and name together identify it.
    Tool {
        #[serde(rename = "serverName")]
        server: String,
        name: String,
    },
}

impl ItemName {
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

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionItem {
    #[serde(flatten)]
    pub item: ItemName,
    /// `always` from the session's creation, or `manual`.
    #[serde(rename = "includeMode")]
    pub mode: IncludeMode,
}
