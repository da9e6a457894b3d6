//! What a stream says while a turn runs.

use axum::response::sse::Event;
use serde::Serialize;
use serde_json::json;
use throughline_engine::events::TurnEvent;
use throughline_engine::receipt::Receipt;
use utoipa::ToSchema;

use crate::http::conversations::view::{self, Raw};
use crate::http::shapes;

/// What the model saw, in brief; `…/turns/{turn}/context` has it all.
#[derive(Debug, Serialize, ToSchema)]
pub struct ContextBrief {
    /// Names the receipt.
    pub id: String,
    /// One line for people.
    pub summary: String,
    /// The prompt mode.
    pub mode: String,
    /// Why that mode.
    pub mode_why: String,
    /// What there was to spend, and what was spent.
    #[schema(value_type = shapes::BudgetView)]
    pub budget: Raw,
    /// Tokens at the start that are the same as in the turn before.
    pub stable_prefix_tokens: u32,
}

impl From<&Receipt> for ContextBrief {
    fn from(receipt: &Receipt) -> Self {
        Self {
            id: receipt.request_hash.to_string(),
            summary: receipt.summary(),
            mode: receipt.mode.as_str().into(),
            mode_why: receipt.mode_why.clone(),
            budget: view::json(&receipt.budget),
            stable_prefix_tokens: receipt.stable_prefix_tokens,
        }
    }
}

/// An event of a turn on the wire.
pub fn wire(event: &TurnEvent) -> Event {
    match event {
        TurnEvent::Context(receipt) => named("context", &ContextBrief::from(receipt.as_ref())),
        TurnEvent::ToolCall { id, tool, arguments } => named(
            "tool_call",
            &json!({"id": id, "server": tool.server, "name": tool.name, "arguments": arguments}),
        ),
        TurnEvent::ToolResult { id, tool, ok, text } => named(
            "tool_result",
            &json!({"id": id, "server": tool.server, "name": tool.name, "ok": ok, "result": text}),
        ),
        TurnEvent::Approval(call) => named("approval", call),
        TurnEvent::Delta(text) => named("delta", &json!({"text": text})),
        TurnEvent::Usage(usage) => named("usage", usage),
    }
}

/// An event with a name and JSON data.
pub fn named(name: &str, data: &impl Serialize) -> Event {
    // Data goes out as one line: JSON has no raw line break.
    Event::default().event(name).data(view::json(data).get())
}
