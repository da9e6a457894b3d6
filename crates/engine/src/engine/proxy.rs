//! Upstream tools for a caller that is not in a conversation: found by meaning, called through the same
//! checks as a turn's calls.
//!
//! Invariant: a call that somebody has to approve is not made here; nobody is there to be asked.

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::access::{Action, Caller, authorize};
use crate::error::{Error, Result};
use crate::id::AgentName;
use crate::reply::call::{self, Checked, Wanted};
use crate::select::KnownTool;
use crate::session::record::CallRecord;
use crate::tool::ToolName;
use crate::turn::Events;

use super::Engine;

/// The most tools in one answer.
pub const FOUND_MAX: usize = 50;

/// A tool that fits a query.
#[derive(Debug, Clone)]
pub struct FoundTool {
    /// The tool.
    pub tool: KnownTool,
    /// How well it fits, 0–1.
    pub score: f32,
}

impl Engine {
    /// Upstream tools that fit `query`, best first.
    pub async fn search_tools(
        &self,
        caller: &Caller,
        query: &str,
        limit: usize,
    ) -> Result<Vec<FoundTool>> {
        if !(1..=FOUND_MAX).contains(&limit) {
            return Err(Error::invalid("limit", format!("{limit} is outside 1-{FOUND_MAX}")));
        }
        self.check_message(query)?;
        let (tools, _) = self.tools(caller).await?;
        let definitions: Vec<_> = tools.iter().map(|known| known.definition.clone()).collect();
        if definitions.is_empty() {
            return Ok(Vec::new());
        }
        let ranked = self.selector.rank_tools(&definitions, query, limit, &[]).await?;
        let found = ranked.into_iter().filter_map(|(name, hit)| {
            let tool = tools.iter().find(|known| known.definition.tool == name)?.clone();
            Some(FoundTool { tool, score: hit.score })
        });
        Ok(found.take(limit).collect())
    }

    /// Calls an upstream tool. `agent` says which calls need approval; the default one when absent.
    pub async fn call_tool(
        &self,
        caller: &Caller,
        agent: Option<&AgentName>,
        tool: &ToolName,
        arguments: Value,
        cancel: CancellationToken,
    ) -> Result<CallRecord> {
        authorize(caller, Action::Write)?;
        let agent = self.agents().get(agent)?;
        let (tools, _) = self.tools(caller).await?;
        let Some(known) = tools.iter().find(|known| known.definition.tool == *tool) else {
            let known = tools.iter().map(|k| k.definition.tool.to_string()).collect();
            return Err(Error::Missing { kind: "tool", name: tool.to_string(), known });
        };
        let events = Events::nowhere();
        let calls = call::Caller { engine: self, agent: &agent, events: &events, cancel: &cancel };
        let wanted = Wanted {
            id: self.new_id().to_string(),
            tool: Ok(known.definition.clone()),
            arguments: Ok(arguments),
            round: 1,
            said_before: String::new(),
            approved: false,
            suspicion: None,
        };
        match calls.check(wanted) {
            Checked::Ready(wanted) => Ok(calls.make(wanted).await),
            Checked::Refused(record) => Ok(*record),
            Checked::Waits(awaited) => Err(Error::ToolNotApproved {
                tool: tool.to_string(),
                reason: format!("a person has to approve each call: {}", awaited.reason),
            }),
        }
    }
}
