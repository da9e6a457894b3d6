//! How a tool is declared to a model.
//!
//! Invariant: two tools never share a name.

mod brief;

use crate::hash::ContentHash;
use crate::model::ToolSpec;
use crate::tool::{ToolDefinition, ToolName};

pub use brief::brief_of;

/// Maximum tool name accepted by model providers.
const SPEC_NAME_MAX: usize = 64;

/// A tool as shown to a model: `server__tool`, with a hash if that is too long or ambiguous.
pub fn spec_of(definition: &ToolDefinition) -> ToolSpec {
    ToolSpec {
        name: spec_name(&definition.tool),
        description: definition.description.clone(),
        input_schema: definition.input_schema.clone(),
    }
}

pub fn spec_name(tool: &ToolName) -> String {
    let named = match tool.server.as_str() {
        "" => tool.name.clone(),
        server => format!("{server}__{}", tool.name),
    };
    let full: String = named
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' })
        .collect();
    // `a` + `b__c` and `a__b` + `c` are two tools, and so are `x.y` and `x_y`.
    let split = tool.server.contains("__") || tool.server.ends_with('_');
    if full.len() <= SPEC_NAME_MAX && full == named && !split {
        return full;
    }
    let hash = ContentHash::of(&format!("{}\n{}", tool.server, tool.name));
    let most = SPEC_NAME_MAX - 9;
    format!("{}_{}", &full[..most.min(full.len())], &hash.as_str()[..8])
}
