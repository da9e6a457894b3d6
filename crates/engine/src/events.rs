//! Events of a running turn.

use serde_json::Value;
use tokio::sync::mpsc::UnboundedSender;

use crate::model::Usage;
use crate::receipt::Receipt;
use crate::session::pending::AwaitedCall;
use crate::tool::ToolName;

#[derive(Debug, Clone)]
pub enum TurnEvent {
    /// The request has been assembled.
    Context(Box<Receipt>),
    /// A tool is called.
    ToolCall { id: String, tool: ToolName, arguments: Value },
    /// A tool has returned.
    ToolResult { id: String, tool: ToolName, ok: bool, text: String },
    /// A call waits for approval.
    Approval(AwaitedCall),
    /// The next part of the reply.
    Delta(String),
    /// Tokens used so far.
    Usage(Usage),
}

/// Receives the events of a turn.
#[derive(Debug, Clone, Default)]
pub struct Events(Option<UnboundedSender<TurnEvent>>);

impl Events {
    pub fn to(sender: UnboundedSender<TurnEvent>) -> Self {
        Self(Some(sender))
    }

    /// Discards all events.
    pub fn nowhere() -> Self {
        Self(None)
    }

    /// Sends an event; a closed receiver is ignored, because the turn must go on.
    pub fn tell(&self, event: TurnEvent) {
        if let Some(sender) = &self.0 {
            let _ = sender.send(event);
        }
    }
}
