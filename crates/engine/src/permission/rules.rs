//! The sources of the rules for a call.

use std::sync::Arc;

use super::decisions::Decisions;
use super::policy::Policy;
use crate::agent::Agent;
use crate::error::Result;
use crate::pack::PackSet;
use crate::rule::{Decision, OperatorRules};
use crate::store::Scope;

pub struct Rules {
    operator: Arc<OperatorRules>,
    packs: Arc<PackSet>,
    /// Decisions beyond one session.
    pub decisions: Decisions,
}

impl Rules {
    pub fn new(operator: OperatorRules, packs: Arc<PackSet>, decisions: Decisions) -> Self {
        Self { operator: Arc::new(operator), packs, decisions }
    }

    /// The rules for a user in a session with an agent.
    pub async fn of(
        &self,
        scope: &Scope,
        agent: Arc<Agent>,
        session: &[Decision],
    ) -> Result<Policy> {
        let (everyone, user) = self.decisions.of(scope).await?;
        let (operator, packs) = (self.operator.clone(), self.packs.clone());
        Ok(Policy { operator, agent, everyone, user, session: session.to_vec(), packs })
    }

    /// The rules of the operator and the agent alone.
    pub fn configured(&self, agent: Arc<Agent>) -> Policy {
        Policy::configured(self.operator.clone(), agent, self.packs.clone())
    }
}
