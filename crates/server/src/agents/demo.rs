//! The agent of `serve --demo`.

use throughline_engine::agent::{Agent, Document};
use throughline_engine::id::AgentName;
use throughline_engine::rule::Rule;

use super::definition::Definition;
use super::header;
use crate::config::ServerEntry;

/// Name of the agent.
pub const NAME: &str = "demo";
/// Name of its MCP server.
pub const SERVER: &str = "inventory";

/// Demo tools that change data and run without approval: `--demo` is the operator's consent.
const ALLOWED: [&str; 4] =
    ["add_survey_answers", "create_report", "create_workflow", "update_workflow"];

/// The demo inventory as an MCP server, run by `command`.
pub fn server(command: String) -> ServerEntry {
    let tools = ALLOWED.map(|tool| (tool.to_owned(), Rule::Allow)).into();
    ServerEntry { command, args: vec!["demo-inventory".into()], tools, ..ServerEntry::default() }
}

const DEFINITION: &str = include_str!("../../demo-agent/agent.toml");
const RULES: [(&str, &str); 2] = [
    ("name-what-you-changed", include_str!("../../demo-agent/rules/name-what-you-changed.md")),
    ("short-lists", include_str!("../../demo-agent/rules/short-lists.md")),
];
const REFERENCES: [(&str, &str); 3] = [
    ("sites", include_str!("../../demo-agent/references/sites.md")),
    ("survey", include_str!("../../demo-agent/references/survey.md")),
    ("maintenance", include_str!("../../demo-agent/references/maintenance.md")),
];

pub fn agent() -> Agent {
    let name = AgentName::new(NAME).expect("a constant name is valid");
    let definition = Definition::read(DEFINITION).expect("the shipped definition is valid");
    let mut agent = definition.agent(name);
    agent.rules = documents(&RULES);
    agent.references = documents(&REFERENCES);
    agent
}

fn documents(files: &[(&str, &str)]) -> Vec<Document> {
    let read = |(name, text): &(&str, &str)| {
        header::read(name, text).expect("the shipped documents are valid").document
    };
    files.iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_agent_can_be_read() {
        let agent = agent();
        assert_eq!((agent.rules.len(), agent.references.len()), (2, 3));
        assert_eq!(agent.servers[0].server, SERVER);
    }
}
