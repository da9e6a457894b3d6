//! The rules for a call: the operator's, the agent's, everyone's, the user's, the session's.
//!
//! Invariant: deny takes precedence over ask, and ask over allow, whoever decided it.

use std::sync::Arc;

use crate::agent::{self, Agent};
use crate::pack::PackSet;
use crate::rule::{Decision, OperatorRules, Rule};
use crate::tool::ToolDefinition;

#[derive(Clone)]
pub struct Policy {
    /// From the configuration.
    pub operator: Arc<OperatorRules>,
    /// The agent with its own rules.
    pub agent: Arc<Agent>,
    /// Decisions by admins for everyone.
    pub everyone: Arc<[Decision]>,
    pub user: Arc<[Decision]>,
    pub session: Vec<Decision>,
    /// Packs know some read-only tools.
    pub packs: Arc<PackSet>,
}

/// The rules that apply to a tool, each with its author.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ruling {
    pub deny: Option<String>,
    /// Each call needs approval.
    pub ask: Option<String>,
    /// It is known to be read-only.
    pub reads: Option<Voucher>,
    pub allow: Option<String>,
}

/// Who vouches that a tool is read-only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Voucher {
    /// Somebody who vouched for all tools of the server.
    OfServer,
    /// Somebody who vouched for this tool.
    OfTool,
}

impl Policy {
    /// The rules of the operator and the agent alone.
    pub fn configured(
        operator: Arc<OperatorRules>,
        agent: Arc<Agent>,
        packs: Arc<PackSet>,
    ) -> Self {
        let none: Arc<[Decision]> = Arc::new([]);
        Self { operator, agent, everyone: none.clone(), user: none, session: Vec::new(), packs }
    }

    /// Whether any changing call could run without approval.
    pub fn allows_anything(&self) -> bool {
        let decided = [self.everyone.as_ref(), self.user.as_ref(), self.session.as_slice()];
        let mut decisions = decided.into_iter().flatten();
        let mut configured = self.operator.values().flat_map(|server| server.tools.values());
        !self.agent.allow.is_empty()
            || decisions.any(|decision| decision.rule == Rule::Allow)
            || configured.any(|rule| *rule == Rule::Allow)
    }

    /// The rules that apply to a tool.
    pub fn of(&self, definition: &ToolDefinition) -> Ruling {
        let mut ruling = Ruling::default();
        let tool = &definition.tool;
        if let Some(server) = self.operator.get(&tool.server) {
            if let Some(rule) = server.tools.get(&tool.name) {
                ruling.add(*rule, "the operator's rule");
            }
            if server.reads_only {
                ruling.reads.get_or_insert(Voucher::OfServer);
            }
        }
        let named = tool.to_string();
        let patterns = [
            (&self.agent.deny, Rule::Deny),
            (&self.agent.approve, Rule::Ask),
            (&self.agent.allow, Rule::Allow),
            (&self.agent.reads, Rule::Reads),
        ];
        for (patterns, rule) in patterns {
            let fits = |pattern: &&String| {
                agent::matches(pattern, &named) || agent::matches(pattern, &tool.name)
            };
            if let Some(pattern) = patterns.iter().find(fits) {
                ruling.add(rule, &format!("the agent's rule {pattern}"));
            }
        }
        let decided = [
            (self.everyone.as_ref(), "an administrator's decision"),
            (self.user.as_ref(), "your decision"),
            (self.session.as_slice(), "a decision in this session"),
        ];
        for (decisions, by) in decided {
            for decision in decisions.iter().filter(|decision| decision.holds_for(definition)) {
                ruling.add(decision.rule, by);
            }
        }
        if self.packs.knows_reader(definition, &self.agent.packs) {
            ruling.reads.get_or_insert(Voucher::OfTool);
        }
        ruling
    }
}

impl Ruling {
    fn add(&mut self, rule: Rule, by: &str) {
        match rule {
            Rule::Deny => drop(self.deny.get_or_insert_with(|| by.to_owned())),
            Rule::Ask => drop(self.ask.get_or_insert_with(|| by.to_owned())),
            Rule::Allow => drop(self.allow.get_or_insert_with(|| by.to_owned())),
            // A rule about this tool outweighs one about the server.
            Rule::Reads => self.reads = Some(Voucher::OfTool),
        }
    }

    /// Whether somebody has vouched for or allowed exactly this tool.
    pub fn is_vouched_for(&self) -> bool {
        self.allow.is_some() || self.reads.is_some()
    }
}
