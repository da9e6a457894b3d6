//! Upstream tools for a caller that is not in a conversation: found by meaning, called through the same
//! checks as a turn's calls.
//!
//! A call that names a session has that session's tools, rules and memory of what tools named; one that names
//! none has the agent's tools and the strict default.
//!
//! Invariant: a call that somebody has to approve is made only when the request says that somebody has.

use std::sync::Mutex;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::access::{Action, Caller, authorize};
use crate::catalog::KnownTool;
use crate::creation::session_items;
use crate::error::{Error, Result};
use crate::events::Events;
use crate::id::{AgentName, SessionId};
use crate::permission::{Named, Policy, Taint};
use crate::piece::IncludeMode;
use crate::reply::TurnCalls;
use crate::reply::call::{RequestedCall, Verdict};
use crate::session::LoadedSession;
use crate::session::apply::RequestKey;
use crate::session::pending::AwaitedCall;
use crate::session::record::CallRecord;
use crate::session::sessions::Step;
use crate::tool::ToolName;
use crate::turn::{check_message, session_tools};

use super::Engine;

/// The most tools in one answer.
pub const FOUND_MAX: usize = 50;

/// A tool that fits a query.
#[derive(Debug, Clone)]
pub struct FoundTool {
    pub tool: KnownTool,
    /// How well it fits, 0–1.
    pub score: f32,
}

/// A call that is asked for.
#[derive(Debug, Clone)]
pub struct ToolRequest {
    /// The session whose tools and rules hold.
    pub session: Option<SessionId>,
    /// The agent whose tools and rules hold outside a session; the default one when absent.
    pub agent: Option<AgentName>,
    /// Whether a person at a terminal asks for it, who may also call tools that are added by hand.
    pub by_hand: bool,
    pub tool: ToolName,
    pub arguments: Value,
    /// The same key answers the same, and runs nothing again.
    pub key: Option<RequestKey>,
    /// Whether a person has approved this very call.
    pub approved: bool,
}

/// What became of it.
#[derive(Debug, Clone)]
pub enum Called {
    /// It was made, or could not be; the record says.
    Made(CallRecord),
    /// A person has to approve it first. Nothing was run.
    Waits(AwaitedCall),
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
        check_message(query, &self.limits)?;
        let (tools, _) = self.tools(caller).await?;
        let definitions: Vec<_> = tools.iter().map(|known| known.definition.clone()).collect();
        if definitions.is_empty() {
            return Ok(Vec::new());
        }
        let ranked = self.turns.selector.rank_tools(&definitions, query, limit, &[]).await?;
        let found = ranked.into_iter().filter_map(|(name, hit)| {
            let tool = tools.iter().find(|known| known.definition.tool == name)?.clone();
            Some(FoundTool { tool, score: hit.score })
        });
        Ok(found.take(limit).collect())
    }

    /// Calls an upstream tool, once for each key.
    pub async fn call_tool(
        &self,
        caller: &Caller,
        request: ToolRequest,
        cancel: CancellationToken,
    ) -> Result<Called> {
        authorize(caller, Action::Write)?;
        if let Some(key) = &request.key
            && let Some(record) = self.called_before(caller, key).await?
        {
            return Ok(Called::Made(record));
        }
        let session = match &request.session {
            Some(id) => Some(self.session(caller, id).await?),
            None => None,
        };
        let place = self.place(caller, session.as_ref(), &request).await?;
        let tool = &request.tool;
        let Some(known) = place.tools.iter().find(|known| known.definition.tool == *tool) else {
            let known = place.tools.iter().map(|k| k.definition.tool.to_string()).collect();
            return Err(Error::Missing { kind: "tool", name: tool.to_string(), known });
        };
        let events = Events::nowhere();
        let calls = TurnCalls {
            runner: &self.turns.replying.runner,
            policy: &place.policy,
            taint: &place.taint,
            notes: None,
            events: &events,
            cancel: &cancel,
        };
        let call = RequestedCall {
            id: self.new_id().to_string(),
            tool: Ok(known.definition.clone()),
            arguments: Ok(request.arguments),
            round: 1,
            said_before: String::new(),
            approved: request.approved,
            suspicion: None,
        };
        let call = match calls.check(call).await {
            Verdict::Ready(call) => call,
            Verdict::Refused(record) => return Ok(Called::Made(*record)),
            Verdict::Waits(awaited) => return Ok(Called::Waits(awaited)),
        };
        let Some(key) = &request.key else {
            let record = calls.make(call).await;
            self.remember_named(session.as_ref(), &record).await?;
            return Ok(Called::Made(record));
        };
        let Some(reserved) = self.reserve_call(caller, key).await? else {
            // Another copy makes it, or has made it by now.
            return match self.called_before(caller, key).await? {
                Some(record) => Ok(Called::Made(record)),
                None => Err(Error::UnderWay { key: key.shown.clone() }),
            };
        };
        let record = calls.make(call).await;
        self.remember_call(reserved, &record).await?;
        self.remember_named(session.as_ref(), &record).await?;
        Ok(Called::Made(record))
    }

    /// The tools, the rules and what was said, where a call is made.
    async fn place(
        &self,
        caller: &Caller,
        session: Option<&LoadedSession>,
        request: &ToolRequest,
    ) -> Result<CallPlace> {
        let name = session.map_or(request.agent.as_ref(), |session| session.head.agent.as_ref());
        let agent = self.agents().get(name)?;
        let tools = self.catalog.of(&agent).await?;
        let Some(session) = session else {
            let by_hand = |known: &KnownTool| {
                agent.tool_mode(&known.definition.tool) == Some(IncludeMode::Manual)
            };
            let tools =
                tools.into_iter().filter(|known| request.by_hand || !by_hand(known)).collect();
            let policy = self.turns.rules.of(&caller.scope, agent, &[]).await?;
            return Ok(CallPlace { tools, policy, taint: Mutex::default() });
        };
        let head = &session.head;
        let policy = self.turns.rules.of(&caller.scope, agent.clone(), &head.tool_rules).await?;
        let mut taint = Taint::new(&head.tool_words);
        for record in self.sessions.turns(session, head.imported_turns..head.turns).await? {
            taint.said(&record.message);
        }
        let tools = session_tools(&agent, &session_items(&agent, head, &tools), tools);
        Ok(CallPlace { tools, policy, taint: Mutex::new(taint) })
    }

    /// Remembers, with the session, what a tool named outside its turns.
    async fn remember_named(
        &self,
        session: Option<&LoadedSession>,
        record: &CallRecord,
    ) -> Result<()> {
        let Some(session) = session else { return Ok(()) };
        let named = Named::of_call(record);
        self.sessions
            .update(&session.key, |head, _| {
                named.remember(&mut head.tool_words);
                Ok(Step::Commit(None, ()))
            })
            .await?;
        Ok(())
    }
}

/// Where a call is made.
struct CallPlace {
    tools: Vec<KnownTool>,
    policy: Policy,
    taint: Mutex<Taint>,
}
