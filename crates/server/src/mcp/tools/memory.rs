//! `memory-search`: searches the caller's conversations.

use rmcp::model::{CallToolResult, Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use throughline_engine::error::Result;

use super::{Call, answered, define};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Arguments {
    query: String,
    limit: Option<usize>,
    offset: Option<usize>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Answer {
    /// The hits, best first.
    hits: Vec<Hit>,
    /// Conversations whose last changes are not indexed yet.
    sessions_behind: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Hit {
    /// Id of the conversation.
    session_id: String,
    /// Title of the conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    /// Turn, from 1; 0 for the title.
    turn: u64,
    /// `title`, `message` or `reply`.
    part: String,
    /// The excerpt, with the matching words in **bold**.
    snippet: String,
    /// Relevance, higher is better; comparable only within one result.
    score: f64,
}

pub(super) fn tool() -> Tool {
    define::<Arguments, Answer>(
        "memory-search",
        "Search conversations",
        "Finds words, \"phrases\" and meaning in the user's earlier conversations.",
        ToolAnnotations::new().read_only(true).open_world(false),
    )
}

pub(super) async fn run(call: &Call<'_>) -> Result<CallToolResult> {
    let arguments: Arguments = call.arguments()?;
    let (limit, offset) = (arguments.limit.unwrap_or(10), arguments.offset.unwrap_or(0));
    let found = call.mcp.engine.search(&call.caller, &arguments.query, limit, offset).await?;
    let hits: Vec<Hit> = found
        .hits
        .into_iter()
        .map(|found| Hit {
            session_id: found.hit.session.to_string(),
            title: found.title,
            turn: found.hit.turn,
            part: serde_json::to_value(found.hit.part)
                .ok()
                .and_then(|part| part.as_str().map(str::to_owned))
                .unwrap_or_default(),
            snippet: found.snippet.marked("**", "**", str::to_owned),
            score: found.hit.score,
        })
        .collect();
    let lines: Vec<String> = hits
        .iter()
        .map(|hit| format!("{} turn {} ({}): {}", hit.session_id, hit.turn, hit.part, hit.snippet))
        .collect();
    let text = if lines.is_empty() { "nothing was found".to_owned() } else { lines.join("\n") };
    Ok(answered(&Answer { hits, sessions_behind: found.sessions_behind }, text))
}
