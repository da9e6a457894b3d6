//! The index of items and tools that messages are ranked against.

use std::collections::{BTreeSet, HashMap};

use super::tool_id;
use crate::hash::ContentHash;
use crate::search::{Calibration, ItemIndex};
use crate::tool::{ToolDefinition, ToolName};

/// Indexed items, and the definitions of the tools among them, so that unchanged ones are not hashed again.
pub(super) struct Indexed {
    pub index: ItemIndex,
    pub tools: HashMap<ToolName, ToolDefinition>,
}

impl Indexed {
    pub(super) fn new(calibration: Calibration) -> Self {
        Self { index: ItemIndex::new(calibration), tools: HashMap::new() }
    }

    pub(super) fn holds(&self, id: &str, text: &str) -> bool {
        self.index.holds(id, ContentHash::of(text).as_str())
    }

    pub(super) fn keep_only(&mut self, ids: &BTreeSet<String>) {
        let gone: Vec<String> =
            self.index.ids().filter(|id| !ids.contains(*id)).map(str::to_owned).collect();
        for id in gone {
            self.index.remove(&id);
        }
        self.tools.retain(|tool, _| ids.contains(&tool_id(tool)));
    }
}
