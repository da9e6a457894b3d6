//! `agent.toml`: what an agent is beside its documents.

use std::collections::BTreeMap;

use serde::Deserialize;
use throughline_engine::agent::{Agent, AgentModels, AgentServer, MemoryScope};
use throughline_engine::id::AgentName;
use throughline_engine::piece::IncludeMode;

/// An agent's definition.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Definition {
    /// What it is for.
    pub description: String,
    /// The preset a new session's persona starts from.
    pub preset: Option<String>,
    /// Packs it uses; all when empty.
    pub packs: Vec<String>,
    /// Tool-name patterns whose calls need approval each time.
    pub approve: Vec<String>,
    /// How far its sessions remember: `off`, `session`, `agent` or `user`.
    pub memory: MemoryScope,
    /// Patterns of tools whose calls run unasked.
    pub allow: Vec<String>,
    /// Patterns of tools that never run.
    pub deny: Vec<String>,
    /// Patterns of tools that only read, whatever their server says.
    pub reads: Vec<String>,
    /// Whether reading tools are asked before a model is, where the message can be read without one.
    pub look_up_first: bool,
    /// Models by role.
    pub models: AgentModels,
    /// MCP servers it uses.
    pub servers: BTreeMap<String, ServerUse>,
}

/// How an agent uses a server.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServerUse {
    /// The mode of its tools that have none of their own.
    pub include: Option<IncludeMode>,
    /// Modes of single tools.
    pub tools: BTreeMap<String, IncludeMode>,
}

impl Definition {
    /// Reads a definition; an error says what is wrong and where.
    pub fn read(text: &str) -> Result<Self, String> {
        toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(1, |span| {
                text.bytes().take(span.start).filter(|byte| *byte == b'\n').count() + 1
            });
            format!("line {line}: {}", error.message())
        })
    }

    /// The agent, still without documents.
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
