//! People's decisions about tools: for a session, for themselves, for everyone.

use jiff::Timestamp;
use serde::Serialize;

use crate::access::{Action, Caller, authorize, system_scope};
use crate::catalog::KnownTool;
use crate::error::{Error, Result};
use crate::id::SessionId;
use crate::permission::{Effect, Permission, Taint};
use crate::reply::call::permission_as_pinned;
use crate::rule::{self, Decision, Rule};
use crate::session::LoadedSession;
use crate::session::head::TOOL_RULES_MAX;
use crate::session::sessions::Step;
use crate::tool::ToolName;

use super::Engine;

/// The scope of a decision beyond one session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecisionScope {
    User,
    /// All users of this server; admins only.
    Everyone,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RuleInForce {
    /// The tool, or the pattern of an agent's rule.
    pub tool: String,
    pub rule: Rule,
    /// `operator`, `agent`, `everyone`, `user` or `session`.
    pub scope: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// Whether it applies: a permission ends when the tool's definition changes.
    pub in_force: bool,
}

impl Engine {
    /// Whether a call of each of these tools runs without approval, and if not, why.
    pub async fn tool_permissions(
        &self,
        caller: &Caller,
        tools: &[KnownTool],
    ) -> Result<Vec<Permission>> {
        let agent = self.agents().get(None)?;
        let policy = self.turns.rules.of(&caller.scope, agent, &[]).await?;
        let nothing = serde_json::json!({});
        let judge = |KnownTool { definition, pin }: &KnownTool| {
            permission_as_pinned(definition, &nothing, pin, &policy, &Taint::default())
        };
        Ok(tools.iter().map(judge).collect())
    }

    /// All rules that apply in a session.
    pub async fn rules_in_force(
        &self,
        caller: &Caller,
        id: &SessionId,
    ) -> Result<(LoadedSession, Vec<RuleInForce>)> {
        let session = self.session(caller, id).await?;
        let agent = self.agents().get(session.head.agent.as_ref())?;
        let (tools, _) = self.catalog.all().await?;
        let policy =
            self.turns.rules.of(&caller.scope, agent.clone(), &session.head.tool_rules).await?;
        let mut rules = Vec::new();
        let fixed = |tool: String, rule, scope| RuleInForce {
            tool,
            rule,
            scope,
            by: None,
            at: None,
            in_force: true,
        };
        for (server, of_server) in policy.operator.iter() {
            if agent.servers.iter().any(|used| used.server == *server) {
                if of_server.reads_only {
                    rules.push(fixed(format!("{server}:*"), Rule::Reads, "operator"));
                }
                let own = of_server.tools.iter();
                rules.extend(
                    own.map(|(name, rule)| fixed(format!("{server}:{name}"), *rule, "operator")),
                );
            }
        }
        let patterns = [
            (&agent.deny, Rule::Deny),
            (&agent.approve, Rule::Ask),
            (&agent.allow, Rule::Allow),
            (&agent.reads, Rule::Reads),
        ];
        for (patterns, rule) in patterns {
            rules.extend(patterns.iter().map(|pattern| fixed(pattern.clone(), rule, "agent")));
        }
        let decided = [
            (policy.everyone.as_ref(), "everyone"),
            (policy.user.as_ref(), "user"),
            (policy.session.as_slice(), "session"),
        ];
        for (decisions, scope) in decided {
            rules.extend(decisions.iter().map(|decision| RuleInForce {
                tool: decision.tool.to_string(),
                rule: decision.rule,
                scope,
                by: Some(decision.by.clone()),
                at: Some(decision.at),
                in_force: tools.iter().any(|known| decision.holds_for(&known.definition)),
            }));
        }
        Ok((session, rules))
    }

    /// Decides about a tool in a session.
    pub async fn set_session_rule(
        &self,
        caller: &Caller,
        id: &SessionId,
        tool: &ToolName,
        rule: Rule,
    ) -> Result<LoadedSession> {
        authorize(caller, Action::Write)?;
        let decision = self.decision(caller, tool, rule).await?;
        let (session, ()) = self
            .sessions
            .update(&caller.session_key(id), |head, _| {
                rule::decide(&mut head.tool_rules, decision.clone(), TOOL_RULES_MAX);
                Ok(Step::Commit(None, ()))
            })
            .await?;
        Ok(session)
    }

    /// Revokes a decision in a session.
    pub async fn revoke_session_rule(
        &self,
        caller: &Caller,
        id: &SessionId,
        tool: &ToolName,
    ) -> Result<LoadedSession> {
        authorize(caller, Action::Write)?;
        let (session, ()) = self
            .sessions
            .update(&caller.session_key(id), |head, _| {
                let known = head.tool_rules.iter().map(|known| known.tool.to_string()).collect();
                let before = head.tool_rules.len();
                head.tool_rules.retain(|known| known.tool != *tool);
                if head.tool_rules.len() == before {
                    return Err(Error::Missing {
                        kind: "permission",
                        name: tool.to_string(),
                        known,
                    });
                }
                Ok(Step::Commit(None, ()))
            })
            .await?;
        Ok(session)
    }

    /// Decides about a tool beyond one session.
    pub async fn set_tool_rule(
        &self,
        caller: &Caller,
        tool: &ToolName,
        rule: Rule,
        scope: DecisionScope,
    ) -> Result<Decision> {
        let place = self.decision_scope(caller, scope)?;
        let decision = self.decision(caller, tool, rule).await?;
        self.turns.rules.decisions.keep(&place, decision.clone()).await?;
        Ok(decision)
    }

    /// Revokes a decision beyond one session.
    pub async fn revoke_tool_rule(
        &self,
        caller: &Caller,
        tool: &ToolName,
        scope: DecisionScope,
    ) -> Result<()> {
        let place = self.decision_scope(caller, scope)?;
        if self.turns.rules.decisions.revoke(&place, tool).await? {
            return Ok(());
        }
        let decisions = self.turns.rules.decisions.read(&place).await?;
        let known = decisions.iter().map(|decision| decision.tool.to_string()).collect();
        Err(Error::Missing { kind: "permission", name: tool.to_string(), known })
    }

    fn decision_scope(&self, caller: &Caller, scope: DecisionScope) -> Result<crate::store::Scope> {
        match scope {
            DecisionScope::User => {
                authorize(caller, Action::Write)?;
                Ok(caller.scope.clone())
            }
            DecisionScope::Everyone => {
                authorize(caller, Action::Administer)?;
                Ok(system_scope())
            }
        }
    }

    /// A decision about the tool's current definition.
    async fn decision(&self, caller: &Caller, tool: &ToolName, rule: Rule) -> Result<Decision> {
        let (tools, _) = self.catalog.all().await?;
        let Some(known) = tools.iter().find(|known| known.definition.tool == *tool) else {
            let known = tools.iter().map(|known| known.definition.tool.to_string()).collect();
            return Err(Error::Missing { kind: "tool", name: tool.to_string(), known });
        };
        Ok(Decision {
            tool: tool.clone(),
            rule,
            fingerprint: known.definition.fingerprint(),
            at: self.now(),
            by: caller.scope.user.to_string(),
        })
    }
}

pub fn permission_name(permission: &Permission) -> (&'static str, Option<&str>) {
    match permission {
        Permission::Run(Effect::Reads) => ("reads", None),
        Permission::Run(Effect::Changes) => ("allowed", None),
        Permission::Ask(reason) => ("asks", Some(reason)),
        Permission::Deny(reason) => ("denied", Some(reason)),
    }
}
