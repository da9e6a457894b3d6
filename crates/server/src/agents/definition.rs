//! `agent.toml`: the definition of an agent, without its documents.

use std::collections::BTreeMap;

use serde::Deserialize;
use throughline_engine::agent::{Agent, AgentModels, AgentServer, MemoryScope};
use throughline_engine::id::AgentName;
use throughline_engine::piece::IncludeMode;

/// Definition of an agent.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Definition {
    /// What it is for.
    pub description: String,
    /// Preset for the persona of new sessions.
    pub preset: Option<String>,
    /// Packs it uses; all if empty.
    pub packs: Vec<String>,
    /// Patterns of tools whose every call needs approval.
    pub approve: Vec<String>,
    /// Scope of recall and memories: `off`, `session`, `agent` or `user`.
    pub memory: MemoryScope,
    /// Patterns of tools that run without approval.
    pub allow: Vec<String>,
    /// Patterns of tools that never run.
    pub deny: Vec<String>,
    /// Patterns of tools that only read, whatever their server declares.
    pub reads: Vec<String>,
    /// Whether to call reading tools before the model, if the message can be understood without one.
    pub look_up_first: bool,
    /// Models by role.
    pub models: AgentModels,
    /// MCP servers it uses.
    pub servers: BTreeMap<String, ServerUse>,
}

/// How an agent uses an MCP server.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServerUse {
    /// Include mode of tools without their own.
    pub include: Option<IncludeMode>,
    /// Include modes of single tools.
    pub tools: BTreeMap<String, IncludeMode>,
}

impl Definition {
    /// Parses a definition; an error names the line.
    pub fn read(text: &str) -> Result<Self, String> {
        toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(1, |span| {
                text.bytes().take(span.start).filter(|byte| *byte == b'\n').count() + 1
            });
            format!("line {line}: {}", error.message())
        })
    }

    /// The agent, without documents.
    pub fn agent(&self, name: AgentName) -> Agent {
        let servers = self.servers.iter().map(|(server, used)| AgentServer {
            server: server.clone(),
            include: used.include,
            tools: used.tools.clone(),
        });
        Agent {
            description: self.description.clone(),
            servers: servers.collect(),
            preset: self.preset.clone().filter(|preset| !preset.is_empty()),
            packs: self.packs.clone(),
            models: self.models.clone(),
            approve: self.approve.clone(),
            memory: self.memory,
            allow: self.allow.clone(),
            deny: self.deny.clone(),
            reads: self.reads.clone(),
            look_up_first: self.look_up_first,
            ..Agent::plain(name)
        }
    }
}
