//! Agents: what configuration makes available to a session.
//!
//! An agent has rules, references and MCP servers with an include mode each, a preset, packs, models by role, and
//! permission rules ([`crate::permission`]). The server reads the definitions; here they are values.
//!
//! Invariant: item names are unique within their type, and the book always has a default agent.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::hash::ContentHash;
use crate::id::AgentName;
use crate::piece::IncludeMode;
use crate::tool::ToolName;

#[derive(Debug, Clone, PartialEq)]
pub struct Agent {
    pub name: AgentName,
    pub description: String,
    /// Rules, by priority then name.
    pub rules: Vec<Document>,
    /// References, by priority then name.
    pub references: Vec<Document>,
    /// MCP servers it uses.
    pub servers: Vec<AgentServer>,
    /// The preset a new session's persona starts from.
    pub preset: Option<String>,
    /// Packs it uses, by name; all of them when empty.
    pub packs: Vec<String>,
    pub models: AgentModels,
    /// Tool-name patterns (`*` matches any run) whose calls always need approval.
    pub approve: Vec<String>,
    /// Patterns of tools that run without approval.
    pub allow: Vec<String>,
    /// Patterns of tools that never run.
    pub deny: Vec<String>,
    /// Patterns of tools treated as read-only, whatever their server says.
    pub reads: Vec<String>,
    pub memory: MemoryScope,
    /// Whether read-only tools are tried before a model, if the message can be understood without one.
    pub look_up_first: bool,
}

/// What a session can recall.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryScope {
    /// Only the history in the request.
    Off,
    /// Its own turns.
    Session,
    /// Also the user's other sessions with this agent.
    Agent,
    /// Also all other sessions of the user.
    #[default]
    User,
}

impl MemoryScope {
    /// All scopes, by name.
    pub const ALL: [(&str, Self); 4] = [
        ("off", Self::Off),
        ("session", Self::Session),
        ("agent", Self::Agent),
        ("user", Self::User),
    ];
}

/// A rule or a reference.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// Its name, unique among the agent's rules or references.
    pub name: String,
    /// What it is about; searched along with the text.
    pub description: String,
    /// How it gets into a session.
    pub include: IncludeMode,
    /// Lower comes first.
    pub priority: i32,
    pub text: Arc<str>,
    /// Hash of `text`.
    pub hash: ContentHash,
}

/// An MCP server as used by an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentServer {
    /// The server's name in configuration.
    pub server: String,
    /// The mode of tools without their own.
    pub include: Option<IncludeMode>,
    /// Modes of individual tools.
    pub tools: BTreeMap<String, IncludeMode>,
}

/// Names of configured models by role.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AgentModels {
    /// Replies.
    pub chat: Option<String>,
    /// Chooses a tool for a query.
    pub selector: Option<String>,
    /// Phrases a tool result.
    pub formatter: Option<String>,
    /// Summarizes older turns.
    pub summarizer: Option<String>,
}

impl Agent {
    /// An agent without content.
    pub fn plain(name: AgentName) -> Self {
        Self {
            name,
            description: "A plain conversation.".into(),
            rules: Vec::new(),
            references: Vec::new(),
            servers: Vec::new(),
            preset: None,
            packs: Vec::new(),
            models: AgentModels::default(),
            approve: Vec::new(),
            memory: MemoryScope::default(),
            allow: Vec::new(),
            deny: Vec::new(),
            reads: Vec::new(),
            look_up_first: false,
        }
    }

    /// Tool setting, else server default, else `always`; `None` when the agent does not use the server.
    pub fn tool_mode(&self, tool: &ToolName) -> Option<IncludeMode> {
        let server = self.servers.iter().find(|s| s.server == tool.server)?;
        let own = server.tools.get(&tool.name).copied();
        Some(own.or(server.include).unwrap_or(IncludeMode::Always))
    }
}

/// Matches a pattern in which `*` stands for any run of characters.
pub fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    if !pattern.contains('*') {
        return rest.is_empty();
    }
    let parts: Vec<&str> = parts.collect();
    let (last, middle) = parts.split_last().map_or(("", &[][..]), |(last, rest)| (*last, rest));
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[derive(Debug, Clone, PartialEq)]
pub struct AgentBook {
    default: AgentName,
    agents: BTreeMap<AgentName, Arc<Agent>>,
    problems: Vec<String>,
}

impl AgentBook {
    /// Adds a plain agent named `default` if `agents` has none.
    pub fn new(default: AgentName, agents: impl IntoIterator<Item = Agent>) -> Self {
        let mut agents: BTreeMap<_, _> =
            agents.into_iter().map(|agent| (agent.name.clone(), Arc::new(agent))).collect();
        agents.entry(default.clone()).or_insert_with(|| Arc::new(Agent::plain(default.clone())));
        Self { default, agents, problems: Vec::new() }
    }

    /// Adds problems found while reading the definitions.
    pub fn with_problems(self, problems: Vec<String>) -> Self {
        Self { problems, ..self }
    }

    /// Problems found while reading the definitions, each with its file name.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }

    /// The agent of that name, or the default one.
    pub fn get(&self, name: Option<&AgentName>) -> Result<Arc<Agent>> {
        let name = name.unwrap_or(&self.default);
        self.agents.get(name).cloned().ok_or_else(|| Error::NoAgent {
            name: name.clone(),
            known: self.agents.keys().map(ToString::to_string).collect(),
        })
    }

    pub fn all(&self) -> impl Iterator<Item = &Arc<Agent>> {
        self.agents.values()
    }

    /// The agent of sessions that name none.
    pub fn default_name(&self) -> &AgentName {
        &self.default
    }
}

/// The current agents. They are replaced as a whole; a turn keeps those it started with.
pub struct Agents(RwLock<(u64, Arc<AgentBook>)>);

impl Agents {
    pub fn new(book: AgentBook) -> Self {
        Self(RwLock::new((0, Arc::new(book))))
    }

    pub fn current(&self) -> Arc<AgentBook> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).1.clone()
    }

    /// How often the book was replaced.
    pub fn generation(&self) -> u64 {
        self.0.read().unwrap_or_else(PoisonError::into_inner).0
    }

    pub fn replace(&self, book: AgentBook) {
        let mut agents = self.0.write().unwrap_or_else(PoisonError::into_inner);
        *agents = (agents.0 + 1, Arc::new(book));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tools_own_mode_wins_over_its_servers() {
        let mut agent = Agent::plain(AgentName::new("a").expect("valid"));
        let tool = |name: &str| ToolName { server: "s".into(), name: name.into() };
        assert_eq!(agent.tool_mode(&tool("t")), None);
        agent.servers.push(AgentServer {
            server: "s".into(),
            include: None,
            tools: BTreeMap::from([("t".into(), IncludeMode::Manual)]),
        });
        assert_eq!(agent.tool_mode(&tool("t")), Some(IncludeMode::Manual));
        assert_eq!(agent.tool_mode(&tool("u")), Some(IncludeMode::Always));
        agent.servers[0].include = Some(IncludeMode::Agent);
        assert_eq!(agent.tool_mode(&tool("u")), Some(IncludeMode::Agent));
    }

    #[test]
    fn a_star_matches_any_run() {
        for (pattern, text, expected) in [
            ("delete_*", "delete_device", true),
            ("delete_*", "undelete_device", false),
            ("*:update_*", "inventory:update_device", true),
            ("get_site", "get_site", true),
            ("get_site", "get_sites", false),
            ("*", "anything", true),
            ("a*b*c", "a-b-b-c", true),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }
}
