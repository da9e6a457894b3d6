//! Creates new, empty sessions. Imports and forks create theirs with turns.

use std::sync::Arc;

use crate::access::{Action, Caller, authorize};
use crate::agent::{Agent, Agents};
use crate::catalog::{KnownTool, ToolCatalog};
use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::id::{AgentName, SessionId};
use crate::item::{ItemName, SessionItem};
use crate::limits::Limits;
use crate::persona::Persona;
use crate::piece::IncludeMode;
use crate::preset::Presets;
use crate::session::apply::RequestKey;
use crate::session::head::{AnsweredKey, SessionHead, Settings};
use crate::session::{LoadedSession, Sessions};

#[derive(Debug, Clone, Default)]
pub struct NewSession {
    /// Generated if absent.
    pub id: Option<SessionId>,
    /// The default agent if absent.
    pub agent: Option<AgentName>,
    pub title: Option<String>,
    pub tags: Vec<String>,
    pub persona: Option<Persona>,
    /// The preset for the persona; the agent's if neither is given.
    pub preset: Option<String>,
    pub settings: Settings,
    /// The idempotency key of the request.
    pub key: Option<RequestKey>,
}

pub struct SessionCreator {
    pub sessions: Arc<Sessions>,
    pub agents: Arc<Agents>,
    pub catalog: Arc<ToolCatalog>,
    pub presets: Arc<Presets>,
    pub clock: Arc<dyn Clock>,
    pub limits: Arc<Limits>,
}

impl SessionCreator {
    /// Creates a session with the agent's `always` items.
    pub async fn create(&self, caller: &Caller, new: NewSession) -> Result<LoadedSession> {
        authorize(caller, Action::Write)?;
        let agent = self.agents.current().get(new.agent.as_ref())?;
        let id = match new.id {
            Some(id) => id,
            None => SessionId::new(self.clock.id().to_string())?,
        };
        let now = self.clock.now();
        let mut head = SessionHead::new(id.clone(), now);
        head.agent = new.agent;
        head.title = checked_title(new.title, &self.limits)?;
        head.tags = checked_tags(new.tags, &self.limits)?;
        head.settings = new.settings;
        let preset = new.preset.or_else(|| agent.preset.clone());
        head.persona = match (new.persona, preset) {
            (Some(persona), _) => Some(persona),
            (None, Some(preset)) => Some(self.presets.active(caller, &preset).await?.persona()),
            (None, None) => None,
        };
        if let Some(persona) = &head.persona {
            persona.validate()?;
        }
        if let Some(RequestKey { key, body, .. }) = new.key {
            head.answered.push_back(AnsweredKey { key, body, turn: 0, version: 1 });
        }
        self.items_of(&agent).await?.put_into(&mut head);
        head.touch(now);
        self.sessions.create(&caller.session_key(&id), head, Vec::new()).await
    }

    /// What a session gets from its agent.
    pub async fn items_of(&self, agent: &Agent) -> Result<AgentItems> {
        let (tools, unavailable) = self.catalog.with_unavailable(agent).await?;
        let unlisted_servers = unavailable.into_iter().map(|(server, _)| server).collect();
        Ok(AgentItems { always: always_items(agent, &tools), unlisted_servers })
    }
}

/// The `always` items of an agent, and its servers whose tools are not known yet.
pub struct AgentItems {
    always: Vec<SessionItem>,
    unlisted_servers: Vec<String>,
}

impl AgentItems {
    /// They take the place of another agent's; what was added by hand stays.
    pub(crate) fn put_into(&self, head: &mut SessionHead) {
        head.items.retain(|own| own.mode != IncludeMode::Always);
        for item in &self.always {
            if !head.items.iter().any(|own| own.item == item.item) {
                head.items.push(item.clone());
            }
        }
        head.unlisted_servers.clone_from(&self.unlisted_servers);
    }
}

/// The session's items, plus `always` tools of servers that could not be listed when it was created.
pub(crate) fn session_items(
    agent: &Agent,
    head: &SessionHead,
    tools: &[KnownTool],
) -> Vec<SessionItem> {
    let mut items = head.items.clone();
    let late = tools.iter().map(|known| &known.definition.tool).filter(|tool| {
        head.unlisted_servers.contains(&tool.server)
            && agent.tool_mode(tool) == Some(IncludeMode::Always)
    });
    for item in late.map(ItemName::tool) {
        if !items.iter().any(|own| own.item == item) {
            items.push(SessionItem { item, mode: IncludeMode::Always });
        }
    }
    items
}

/// Stores the tools of servers that could not be listed when the session was created.
pub(crate) fn keep_late_items(agent: &Agent, head: &mut SessionHead, tools: &[KnownTool]) {
    if head.unlisted_servers.is_empty() {
        return;
    }
    head.items = session_items(agent, head, tools);
    let listed = |server: &String| tools.iter().any(|t| t.definition.tool.server == *server);
    head.unlisted_servers.retain(|server| !listed(server));
}

/// Items included in every session of the agent.
fn always_items(agent: &Agent, tools: &[KnownTool]) -> Vec<SessionItem> {
    let always = |item| SessionItem { item, mode: IncludeMode::Always };
    let rules = agent.rules.iter().filter(|rule| rule.include == IncludeMode::Always);
    let references = agent.references.iter().filter(|r| r.include == IncludeMode::Always);
    let tools = tools
        .iter()
        .map(|known| &known.definition.tool)
        .filter(|tool| agent.tool_mode(tool) == Some(IncludeMode::Always));
    rules
        .map(|rule| always(ItemName::Rule { name: rule.name.clone() }))
        .chain(references.map(|r| always(ItemName::Reference { name: r.name.clone() })))
        .chain(tools.map(|tool| always(ItemName::tool(tool))))
        .collect()
}

pub(crate) fn checked_title(title: Option<String>, limits: &Limits) -> Result<Option<String>> {
    match title {
        Some(title) if title.chars().count() > limits.title_characters_max => {
            Err(Error::OverLimit {
                what: "the title's length in characters".into(),
                size: title.chars().count() as u64,
                limit: "title_characters_max",
                allowed: limits.title_characters_max as u64,
            })
        }
        title => Ok(title),
    }
}

pub(crate) fn checked_tags(tags: Vec<String>, limits: &Limits) -> Result<Vec<String>> {
    if tags.len() > limits.tags_max {
        return Err(Error::OverLimit {
            what: "the number of tags".into(),
            size: tags.len() as u64,
            limit: "tags_max",
            allowed: limits.tags_max as u64,
        });
    }
    let mut unique = Vec::with_capacity(tags.len());
    for tag in tags {
        if tag.trim().is_empty() || tag.chars().count() > limits.title_characters_max {
            return Err(Error::invalid("tags", "a tag must have 1-200 characters"));
        }
        if !unique.contains(&tag) {
            unique.push(tag);
        }
    }
    Ok(unique)
}
