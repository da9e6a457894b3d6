//! Upstream tools for a caller outside a turn: found by meaning, and called with the same checks as in a turn.
//!
//! A call that names a session uses its tools, rules and names given by tools; other calls use the agent's tools
//! and the strict default. What tools named in the user's recent calls applies to both.
//!
//! Invariant: a call that needs approval is made only if the request says that somebody approved it.

use std::sync::Mutex;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::access::{Action, Caller, authorize};
use crate::catalog::KnownTool;
use crate::creation::session_items;
use crate::error::{Error, Result};
use crate::events::Events;
use crate::failure::{UpstreamError, UpstreamFault};
use crate::id::{AgentName, SessionId};
use crate::permission::{Named, Policy, Taint};
use crate::piece::IncludeMode;
use crate::reply::TurnCalls;
use crate::reply::call::{RequestedCall, Verdict, tell_definition};
use crate::session::LoadedSession;
use crate::session::apply::RequestKey;
use crate::session::pending::AwaitedCall;
use crate::session::record::CallRecord;
use crate::session::sessions::Step;
use crate::session::tool_words::ToolWords;
use crate::tool::{ToolDefinition, ToolName, ToolOutput};
use crate::tool_search::{self, SearchRequest};
use crate::tool_spec::spec_name;
use crate::turn::{check_message, session_tools};

use super::Engine;

/// Maximum tools per search.
pub(super) const FOUND_MAX: usize = 50;

#[derive(Debug, Clone)]
pub struct FoundTool {
    pub tool: KnownTool,
    /// How well it matches, 0–1.
    pub score: f32,
}

#[derive(Debug, Clone)]
pub struct ToolRequest {
    /// The session whose tools and rules apply.
    pub session: Option<SessionId>,
    /// The agent whose tools and rules apply outside a session; the default one if absent.
    pub agent: Option<AgentName>,
    /// Whether a person at a terminal makes the call, who may also use `manual` tools.
    pub by_hand: bool,
    pub tool: ToolName,
    pub arguments: Value,
    /// Repeating a key returns the stored result and runs nothing.
    pub key: Option<RequestKey>,
    /// Whether a person has approved exactly this call.
    pub approved: bool,
}

/// A call as a model requests it.
#[derive(Debug, Clone)]
pub struct NamedCall {
    /// The tool's name in the request: that of its declaration, `find_tools` or `call_tool`.
    pub name: String,
    pub arguments: Value,
    /// Repeating a key returns the stored result and runs nothing.
    pub key: Option<RequestKey>,
    /// Whether a person has approved exactly this call.
    pub approved: bool,
}

#[derive(Debug, Clone)]
pub enum Called {
    /// It was made or failed, as recorded.
    Made(CallRecord),
    /// It needs approval. Nothing was run.
    Waits(AwaitedCall),
}

impl Engine {
    /// Upstream tools that match `query`, best first.
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

    /// Makes a call that the model of an application requested, by the name that a prepared request has for the tool.
    /// `find_tools` and `call_tool` are answered as in a turn.
    pub async fn call_by_name(
        &self,
        caller: &Caller,
        session: &SessionId,
        call: NamedCall,
        cancel: CancellationToken,
    ) -> Result<Called> {
        authorize(caller, Action::Write)?;
        let loaded = self.session(caller, session).await?;
        let agent = self.agents().get(loaded.head.agent.as_ref())?;
        let (tools, unavailable) = self.catalog.with_unavailable(&agent).await?;
        let tools = session_tools(&agent, &session_items(&agent, &loaded.head, &tools), tools);
        let tools: Vec<ToolDefinition> = tools.into_iter().map(|known| known.definition).collect();
        let NamedCall { name, arguments, key, approved } = call;
        let (name, arguments) = match tool_search::read(&name, &arguments) {
            None => (name, arguments),
            Some(SearchRequest::Call(name, arguments)) => (name, arguments),
            Some(SearchRequest::Wrong(reason)) => return Err(Error::invalid("arguments", reason)),
            Some(SearchRequest::Find(query)) => {
                let selector = &self.turns.selector;
                let found = selector.find_tools(&tools, &query, tool_search::FOUND).await;
                let output = tool_search::found(&found);
                return Ok(Called::Made(CallRecord {
                    id: self.new_id().to_string(),
                    tool: tool_search::search_name(),
                    arguments,
                    output: Some(ToolOutput { text: output, ..ToolOutput::default() }),
                    round: 1,
                    ..CallRecord::default()
                }));
            }
        };
        let Some(meant) = tool_search::meant(&tools, &name) else {
            let is_of = |(server, _): &(String, String)| {
                ["__", ":"].iter().any(|end| name.starts_with(&format!("{server}{end}")))
            };
            if let Some((server, reason)) = unavailable.into_iter().find(is_of) {
                return Err(unreachable(&server, reason));
            }
            let known = tools.iter().map(|definition| spec_name(&definition.tool)).collect();
            return Err(Error::Missing { kind: "tool", name, known });
        };
        let request = ToolRequest {
            session: Some(session.clone()),
            agent: None,
            by_hand: false,
            tool: meant.tool.clone(),
            arguments,
            key,
            approved,
        };
        let mut called = self.call_tool(caller, request, cancel).await?;
        if let Called::Made(record) = &mut called {
            tell_definition(record, meant);
        }
        Ok(called)
    }

    /// Why there is no such tool: its server does not answer, or does not offer it.
    async fn no_tool(
        &self,
        session: Option<&LoadedSession>,
        request: &ToolRequest,
        known: Vec<String>,
    ) -> Result<Error> {
        let name = session.map_or(request.agent.as_ref(), |session| session.head.agent.as_ref());
        let agent = self.agents().get(name)?;
        let tool = &request.tool;
        let (_, mut unavailable) = self.catalog.all().await?;
        unavailable.retain(|(name, _)| agent.servers.iter().any(|own| own.server == *name));
        let server = unavailable.into_iter().find(|(name, _)| *name == tool.server);
        Ok(match server {
            Some((name, reason)) => unreachable(&name, reason),
            None => Error::Missing { kind: "tool", name: tool.to_string(), known },
        })
    }

    /// Calls an upstream tool, at most once per key.
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
            return Err(self.no_tool(session.as_ref(), &request, known).await?);
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
            self.remember_named(caller, session.as_ref(), &record).await?;
            return Ok(Called::Made(record));
        };
        let Some(reserved) = self.reserve_call(caller, key).await? else {
            // Another server is making it, or has made it by now.
            return match self.called_before(caller, key).await? {
                Some(record) => Ok(Called::Made(record)),
                None => Err(Error::UnderWay { key: key.shown.clone() }),
            };
        };
        let record = calls.make(call).await;
        self.remember_call(reserved, &record).await?;
        self.remember_named(caller, session.as_ref(), &record).await?;
        Ok(Called::Made(record))
    }

    /// The tools, rules and earlier text that apply to a call.
    async fn place(
        &self,
        caller: &Caller,
        session: Option<&LoadedSession>,
        request: &ToolRequest,
    ) -> Result<CallPlace> {
        let name = session.map_or(request.agent.as_ref(), |session| session.head.agent.as_ref());
        let agent = self.agents().get(name)?;
        let tools = self.catalog.of(&agent).await?;
        let heard = self.overheard.of(&caller.scope);
        let Some(session) = session else {
            let by_hand = |known: &KnownTool| {
                agent.tool_mode(&known.definition.tool) == Some(IncludeMode::Manual)
            };
            let tools =
                tools.into_iter().filter(|known| request.by_hand || !by_hand(known)).collect();
            let policy = self.turns.rules.of(&caller.scope, agent, &[]).await?;
            let heard = if request.by_hand { ToolWords::default() } else { heard };
            return Ok(CallPlace { tools, policy, taint: Mutex::new(Taint::new(&heard)) });
        };
        let head = &session.head;
        let policy = self.turns.rules.of(&caller.scope, agent.clone(), &head.tool_rules).await?;
        let mut taint = Taint::new(&head.tool_words.and(&heard));
        for record in self.sessions.turns(session, head.imported_turns..head.turns).await? {
            taint.said(&record.message);
        }
        let tools = session_tools(&agent, &session_items(&agent, head, &tools), tools);
        Ok(CallPlace { tools, policy, taint: Mutex::new(taint) })
    }

    /// Keeps what a tool named outside turns, and stores it with the session.
    async fn remember_named(
        &self,
        caller: &Caller,
        session: Option<&LoadedSession>,
        record: &CallRecord,
    ) -> Result<()> {
        let named = Named::of_call(record);
        self.overheard.remember(&caller.scope, &named);
        let Some(session) = session else { return Ok(()) };
        self.sessions
            .update(&session.key, |head, _| {
                named.remember(&mut head.tool_words);
                Ok(Step::Commit(None, ()))
            })
            .await?;
        Ok(())
    }
}

struct CallPlace {
    tools: Vec<KnownTool>,
    policy: Policy,
    taint: Mutex<Taint>,
}

fn unreachable(server: &str, reason: String) -> Error {
    UpstreamError::new(format!("server {server}"), UpstreamFault::Unreachable, reason).into()
}
