//! Server-sent events of a running turn.

use axum::response::sse::Event;
use serde::Serialize;
use serde_json::json;
use throughline_engine::events::TurnEvent;
use throughline_engine::receipt::{BudgetReport, Receipt};
use throughline_engine::turn::ReceiptId;
use utoipa::ToSchema;

use crate::http::shapes;

/// What the model saw, in brief; `…/turns/{turn}/context` has the details.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ContextBrief {
    /// Id of the receipt.
    pub id: String,
    /// One sentence for people.
    pub summary: String,
    /// Whether no model was asked; the summary is then about what a model would have been sent.
    pub no_model: bool,
    /// Prompt mode: `general`, `creation`, `search`, `modification` or `analysis`.
    pub mode: String,
    /// Why that mode was chosen.
    pub mode_why: String,
    /// Token budget.
    #[schema(value_type = shapes::BudgetView)]
    pub budget: BudgetReport,
    /// Tokens of the prefix that equals the previous request.
    pub stable_prefix_tokens: u32,
}

impl From<&Receipt> for ContextBrief {
    fn from(receipt: &Receipt) -> Self {
        Self {
            id: ReceiptId::of(receipt).to_string(),
            summary: receipt.summary(),
            no_model: receipt.no_model,
            mode: receipt.mode.as_str().into(),
            mode_why: receipt.mode_why.clone(),
            budget: receipt.budget,
            stable_prefix_tokens: receipt.stable_prefix_tokens,
        }
    }
}

/// Converts an event of the engine.
pub(super) fn wire(event: &TurnEvent) -> Event {
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
pub(super) fn named(name: &str, data: &impl Serialize) -> Event {
    let event = Event::default().event(name);
    event.json_data(data).expect("the data of events has text keys and serialises")
}
