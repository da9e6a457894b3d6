//! The items available to a session, and those in it.

use serde::Serialize;

use crate::access::{Action, Caller, authorize};
use crate::agent::Agent;
use crate::catalog::KnownTool;
use crate::error::{Error, Result};
use crate::id::{AgentName, SessionId};
use crate::item::{ItemName, SessionItem};
use crate::piece::IncludeMode;
use crate::pin::Pin;
use crate::session::LoadedSession;
use crate::session::sessions::Step;
use crate::tool::ToolName;

use super::Engine;
use crate::turn::check_version;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AgentItem {
    #[serde(flatten)]
    pub item: ItemName,
    /// How it gets into a session.
    pub include: IncludeMode,
    pub description: String,
    /// The text of a rule or reference; a tool's schema as JSON.
    pub text: String,
    /// Why it cannot be used now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SessionItemView {
    #[serde(flatten)]
    pub item: SessionItem,
    /// Whether the agent no longer has it.
    pub missing: bool,
}

impl Engine {
    pub async fn agent_items(&self, caller: &Caller, name: &AgentName) -> Result<Vec<AgentItem>> {
        authorize(caller, Action::Read)?;
        let agent = self.agents().get(Some(name))?;
        let tools = self.catalog.of(&agent).await?;
        Ok(items_of(&agent, &tools))
    }

    pub async fn session_items(
        &self,
        caller: &Caller,
        id: &SessionId,
    ) -> Result<(LoadedSession, Vec<SessionItemView>)> {
        let loaded = self.session(caller, id).await?;
        let agent = self.agents().get(loaded.head.agent.as_ref())?;
        let available = items_of(&agent, &self.catalog.of(&agent).await?);
        let items = loaded
            .head
            .items
            .iter()
            .map(|item| SessionItemView {
                item: item.clone(),
                missing: !available.iter().any(|a| a.item == item.item),
            })
            .collect();
        Ok((loaded, items))
    }

    /// Adds an item of the agent to a session, whatever its mode. Adding it again changes nothing.
    pub async fn add_item(
        &self,
        caller: &Caller,
        id: &SessionId,
        item: ItemName,
        expected: Option<u64>,
    ) -> Result<LoadedSession> {
        authorize(caller, Action::Write)?;
        let loaded = self.session(caller, id).await?;
        let agent = self.agents().get(loaded.head.agent.as_ref())?;
        let available = items_of(&agent, &self.catalog.of(&agent).await?);
        if !available.iter().any(|a| a.item == item) {
            let known = available.iter().map(|a| a.item.to_string()).collect();
            return Err(Error::Missing { kind: "item", name: item.to_string(), known });
        }
        let allowed = self.limits().session_items_max;
        let (loaded, ()) = self
            .sessions
            .update(&loaded.key, |head, version| {
                check_version(id, expected, version.number)?;
                if head.items.iter().any(|present| present.item == item) {
                    return Ok(Step::Leave(()));
                }
                if head.items.len() >= allowed {
                    return Err(Error::OverLimit {
                        what: "the number of session items".into(),
                        size: head.items.len() as u64 + 1,
                        limit: "session_items_max",
                        allowed: allowed as u64,
                    });
                }
                head.items.push(SessionItem { item: item.clone(), mode: IncludeMode::Manual });
                Ok(Step::Commit(None, ()))
            })
            .await?;
        Ok(loaded)
    }

    pub async fn remove_item(
        &self,
        caller: &Caller,
        id: &SessionId,
        item: &ItemName,
        expected: Option<u64>,
    ) -> Result<LoadedSession> {
        authorize(caller, Action::Write)?;
        let (loaded, ()) = self
            .sessions
            .update(&caller.session_key(id), |head, version| {
                check_version(id, expected, version.number)?;
                let before = head.items.len();
                head.items.retain(|present| present.item != *item);
                if head.items.len() == before {
                    let known = head.items.iter().map(|i| i.item.to_string()).collect();
                    return Err(Error::Missing { kind: "item", name: item.to_string(), known });
                }
                Ok(Step::Commit(None, ()))
            })
            .await?;
        Ok(loaded)
    }

    /// All upstream tools with their pin state, and the servers that could not be listed.
    pub async fn tools(&self, caller: &Caller) -> Result<(Vec<KnownTool>, Vec<(String, String)>)> {
        authorize(caller, Action::Read)?;
        self.catalog.all().await
    }

    /// Approves the current definition of a tool.
    pub async fn approve_tool(&self, caller: &Caller, tool: &ToolName) -> Result<Pin> {
        authorize(caller, Action::Administer)?;
        let (tools, _) = self.tools(caller).await?;
        let Some(known) = tools.iter().find(|known| known.definition.tool == *tool) else {
            let known = tools.iter().map(|k| k.definition.tool.to_string()).collect();
            return Err(Error::Missing { kind: "tool", name: tool.to_string(), known });
        };
        self.pins.approve(&known.definition, caller.scope.user.as_str()).await
    }
}

fn items_of(agent: &Agent, tools: &[KnownTool]) -> Vec<AgentItem> {
    let rules = agent.rules.iter().map(|rule| AgentItem {
        item: ItemName::Rule { name: rule.name.clone() },
        include: rule.include,
        description: rule.description.clone(),
        text: rule.text.to_string(),
        refused: None,
    });
    let references = agent.references.iter().map(|reference| AgentItem {
        item: ItemName::Reference { name: reference.name.clone() },
        include: reference.include,
        description: reference.description.clone(),
        text: reference.text.to_string(),
        refused: None,
    });
    let tools = tools.iter().map(|known| AgentItem {
        item: ItemName::tool(&known.definition.tool),
        include: agent.tool_mode(&known.definition.tool).unwrap_or(IncludeMode::Always),
        description: known.definition.description.clone(),
        text: known.definition.input_schema.to_string(),
        refused: known.pin.refusal(),
    });
    rules.chain(references).chain(tools).collect()
}
