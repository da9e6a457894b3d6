//! A language model, as the engine sees it: a request goes in, a stream of events comes out.
//!
//! Providers live in `throughline-upstream`. The request is what the receipt rebuilds, so nothing here
//! depends on a provider's wire format.
//!
//! Invariant: every [`Block::ToolUse`] in a request is followed by its [`Block::ToolResult`] in the next
//! user message.

use std::sync::Arc;

use async_trait::async_trait;
use futures::stream::BoxStream;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::failure::UpstreamError;

/// Streams replies to requests.
#[async_trait]
pub trait Model: Send + Sync + 'static {
    /// `provider/model`, for receipts, logs and metrics.
    fn name(&self) -> &str;

    /// Tokens of the model's context window, where they are known.
    fn context_tokens(&self) -> Option<u32> {
        None
    }

    /// Starts the reply. Dropping the stream or cancelling ends the upstream call at once. Retries, with
    /// `Retry-After`, happen inside and only before the first event.
    async fn stream(
        &self,
        request: &ModelRequest,
        cancel: CancellationToken,
    ) -> Result<BoxStream<'static, Result<ModelEvent, UpstreamError>>, UpstreamError>;
}

/// A client's own model, lent for one turn (MCP sampling). It is used where no model is configured.
#[derive(Clone)]
pub struct LentModel(pub Arc<dyn Model>);

impl std::fmt::Debug for LentModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "LentModel({})", self.0.name())
    }
}

/// Everything a model is shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
pub struct ModelRequest {
    /// Instructions, stablest first.
    pub system: Vec<SystemBlock>,
    /// The conversation, oldest first; the last one is the user's.
    pub messages: Vec<Message>,
    /// Tools that may be called.
    pub tools: Vec<ToolSpec>,
    /// The longest reply.
    pub reply_tokens_max: u32,
    /// 0.0–1.0.
    pub temperature: f32,
}

/// A stretch of instructions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SystemBlock {
    pub text: String,
    /// Whether a provider's prompt cache should keep all up to here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cache_breakpoint: bool,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The person, or what was quoted for them.
    User,
    /// The model.
    Assistant,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said, called and answered.
    pub content: Vec<Block>,
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Block {
    /// Words.
    Text {
        /// The words.
        text: String,
        /// Whether a provider's prompt cache should keep all up to here.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        cache_breakpoint: bool,
    },
    /// The model calls a tool.
    ToolUse {
        /// The call's id.
        id: String,
        /// The tool's name as the model was shown it.
        name: String,
        /// The arguments.
        input: Value,
    },
    /// What the tool answered.
    ToolResult {
        /// The call's id.
        id: String,
        /// The answer as text.
        content: String,
        /// Whether the call failed.
        is_error: bool,
    },
}

impl Block {
    /// Plain words.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into(), cache_breakpoint: false }
    }
}

/// A tool as a model is shown it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// `server__tool`, at most 64 characters of `A–Z a–z 0–9 _ -`.
    pub name: String,
    /// What it does.
    pub description: String,
    /// JSON Schema of its arguments.
    pub input_schema: Value,
}

/// What a model says while it replies.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelEvent {
    /// More words.
    Text(String),
    /// A complete tool call. `input` is `Err` with the raw text when the model wrote invalid JSON.
    ToolUse {
        /// The call's id.
        id: String,
        /// The tool's name as the model was shown it.
        name: String,
        /// The arguments, or the text that was no JSON.
        input: Result<Value, String>,
    },
    /// Tokens so far; the last one counts.
    Usage(Usage),
    /// The reply is over. Nothing follows.
    Done(StopReason),
}

/// Why a model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// It had said all.
    EndTurn,
    /// It waits for tool results.
    ToolUse,
    /// It reached the longest reply.
    MaxTokens,
    /// The provider refused to go on.
    Refusal,
}

/// Tokens as the provider counted them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the request, cached ones included.
    pub input_tokens: u64,
    /// Tokens of the reply.
    pub output_tokens: u64,
    /// Of the input: read from the provider's cache.
    #[serde(default)]
    pub cache_read_tokens: u64,
    /// Of the input: written to the provider's cache.
    #[serde(default)]
    pub cache_write_tokens: u64,
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input_tokens += other.input_tokens;
        self.output_tokens += other.output_tokens;
        self.cache_read_tokens += other.cache_read_tokens;
        self.cache_write_tokens += other.cache_write_tokens;
    }
}
