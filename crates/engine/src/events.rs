//! What a turn tells while it runs, and to whom.

use serde_json::Value;
use tokio::sync::mpsc::UnboundedSender;

use crate::model::Usage;
use crate::receipt::Receipt;
use crate::session::pending::AwaitedCall;
use crate::tool::ToolName;

/// What happens while a turn runs.
#[derive(Debug, Clone)]
pub enum TurnEvent {
    /// The request is assembled.
    Context(Box<Receipt>),
    /// A tool is called.
    ToolCall {
        /// The call's id.
        id: String,
        tool: ToolName,
        arguments: Value,
    },
    /// A tool has answered.
    ToolResult {
        /// The call's id.
        id: String,
        tool: ToolName,
        /// Whether it succeeded.
        ok: bool,
        /// The answer.
        text: String,
    },
    /// A call waits for approval.
    Approval(AwaitedCall),
    /// More words of the reply.
    Delta(String),
    /// Tokens so far.
    Usage(Usage),
}

/// Where the events of a turn go.
#[derive(Debug, Clone, Default)]
pub struct Events(Option<UnboundedSender<TurnEvent>>);

impl Events {
    /// Events go to `sender`.
    pub fn to(sender: UnboundedSender<TurnEvent>) -> Self {
        Self(Some(sender))
    }

    /// Nobody listens.
    pub fn nowhere() -> Self {
        Self(None)
    }

    /// Tells whoever listens; a listener that has gone is no reason to stop.
    pub fn tell(&self, event: TurnEvent) {
        if let Some(sender) = &self.0 {
            let _ = sender.send(event);
        }
    }
}
