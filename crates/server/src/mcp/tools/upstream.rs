//! `tools-search` and `tools-call`: all upstream tools behind two.

use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use throughline_engine::engine::{Called, ToolRequest};
use throughline_engine::error::{Error, Result};
use throughline_engine::id::{AgentName, SessionId};
use throughline_engine::session::pending::AwaitedCall;
use throughline_engine::session::record::CallRecord;
use throughline_engine::tool::{MediaKind, ToolName};

use super::{Call, answered, define};
use crate::mcp::approval::{self, Decision};
use crate::persona_view::plain;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SearchArguments {
    query: String,
    limit: Option<usize>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SearchAnswer {
    /// Matching tools, best first.
    tools: Vec<FoundTool>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct FoundTool {
    /// The server, for tools-call.
    server: String,
    /// Name of the tool, for tools-call.
    name: String,
    /// Description by its server.
    description: String,
    /// JSON Schema of its arguments.
    #[schemars(with = "Map<String, Value>")]
    input_schema: Value,
    /// Relevance, 0-1.
    score: f64,
    /// Why it may not be called; absent if it may.
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct CallArguments {
    server: String,
    name: String,
    arguments: Option<Map<String, Value>>,
    agent: Option<String>,
    /// Session whose tools, rules and memory apply; not with agent.
    #[serde(alias = "session_id", alias = "contextId")]
    session_id: Option<String>,
    idempotency_key: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CallAnswer {
    /// `server:name`.
    tool: String,
    /// Whether it succeeded.
    success: bool,
    /// The result as text.
    text: String,
    /// The result as JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    json: Option<Value>,
    /// Whether the result was cut at the limit.
    truncated: bool,
    /// Duration in milliseconds.
    took_ms: u64,
}

pub(super) fn search_tool() -> Tool {
    define::<SearchArguments, SearchAnswer>(
        "tools-search",
        "Find upstream tools",
        "Finds tools of the configured MCP servers for a task, with their schemas, for tools-call.",
        ToolAnnotations::new().read_only(true).open_world(false),
    )
}

pub(super) fn call_tool() -> Tool {
    define::<CallArguments, CallAnswer>(
        "tools-call",
        "Call an upstream tool",
        "Calls a tool that tools-search found. Where a person has to approve, they are asked through the client.",
        ToolAnnotations::new().read_only(false).destructive(true).open_world(true),
    )
}

pub(super) async fn search(call: &Call<'_>) -> Result<CallToolResult> {
    let arguments: SearchArguments = call.arguments()?;
    let limit = arguments.limit.unwrap_or(10);
    let found = call.mcp.engine.search_tools(&call.caller, &arguments.query, limit).await?;
    let tools: Vec<FoundTool> = found
        .into_iter()
        .map(|found| {
            let refused = found.tool.pin.refusal();
            let definition = found.tool.definition;
            FoundTool {
                server: definition.tool.server,
                name: definition.tool.name,
                description: definition.description,
                input_schema: definition.input_schema,
                score: plain(found.score),
                refused,
            }
        })
        .collect();
    let answer = SearchAnswer { tools };
    let text = match answer.tools.is_empty() {
        true => "no upstream tools are configured".to_owned(),
        false => serde_json::to_string_pretty(&answer).unwrap_or_default(),
    };
    Ok(answered(&answer, text))
}

pub(super) async fn call(call: &Call<'_>) -> Result<CallToolResponse> {
    let arguments: CallArguments = call.arguments()?;
    if arguments.agent.is_some() && arguments.session_id.is_some() {
        return Err(Error::invalid("agent", "not allowed with sessionId"));
    }
    let mut request = ToolRequest {
        session: arguments.session_id.map(SessionId::new).transpose()?,
        by_hand: false,
        agent: arguments.agent.map(AgentName::new).transpose()?,
        key: call.key(arguments.idempotency_key.as_ref())?,
        tool: ToolName { server: arguments.server, name: arguments.name },
        arguments: Value::Object(arguments.arguments.unwrap_or_default()),
        approved: false,
    };
    let engine = &call.mcp.engine;
    let cancel = || call.context.ct.clone();
    let awaited = match engine.call_tool(&call.caller, request.clone(), cancel()).await? {
        Called::Made(record) => return Ok(made(record).into()),
        Called::Waits(awaited) => awaited,
    };
    match approval::decide(call, &awaited).await? {
        Decision::Ask(question) => Ok((*question).into()),
        Decision::Refused => Err(not_approved(&awaited, "the user refused")),
        Decision::Nobody => {
            let reason =
                "a person must approve each call, and this client does not offer elicitation";
            Err(not_approved(&awaited, reason))
        }
        Decision::Approved => {
            request.approved = true;
            match engine.call_tool(&call.caller, request, cancel()).await? {
                Called::Made(record) => Ok(made(record).into()),
                Called::Waits(awaited) => {
                    Err(not_approved(&awaited, "the rules changed meanwhile"))
                }
            }
        }
    }
}

fn not_approved(awaited: &AwaitedCall, reason: &str) -> Error {
    let reason = format!("{} ({reason})", awaited.reason);
    Error::ToolNotApproved { tool: awaited.tool.to_string(), reason }
}

fn made(record: CallRecord) -> CallToolResult {
    let success = record.ok();
    let text = record.result_text();
    let mut output = record.output;
    let media = output.as_mut().map(|output| std::mem::take(&mut output.media));
    let answer = CallAnswer {
        tool: record.tool.to_string(),
        success,
        truncated: output.as_ref().is_some_and(|output| output.truncated),
        json: output.and_then(|output| output.json),
        took_ms: record.took_ms,
        text: text.clone(),
    };
    let mut result = answered(&answer, text);
    let media = media.unwrap_or_default().into_iter();
    result.content.extend(media.map(|media| match media.kind {
        MediaKind::Image => ContentBlock::image(media.data, media.mime_type),
        MediaKind::Audio => ContentBlock::audio(media.data, media.mime_type),
    }));
    result.is_error = Some(!success);
    result
}
