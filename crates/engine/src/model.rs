//! The port of a language model: a request goes in, a stream of events comes out.
//!
//! Providers are in `throughline-upstream`. A receipt rebuilds the request, so nothing here depends on a
//! provider's wire format.
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

#[async_trait]
pub trait Model: Send + Sync + 'static {
    /// `provider/model`, for receipts, logs and metrics.
    fn name(&self) -> &str;

    /// The model's context window, if known.
    fn context_tokens(&self) -> Option<u32> {
        None
    }

    /// Starts a reply. Dropping the stream or cancelling ends the upstream call at once. Retries, honouring
    /// `Retry-After`, happen inside and only before the first event.
    async fn stream(
        &self,
        request: &ModelRequest,
        cancel: CancellationToken,
    ) -> Result<BoxStream<'static, Result<ModelEvent, UpstreamError>>, UpstreamError>;
}

/// A client's own model for one turn (MCP sampling). It is used if no model is configured.
#[derive(Clone)]
pub struct LentModel(pub Arc<dyn Model>);

impl std::fmt::Debug for LentModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "LentModel({})", self.0.name())
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
pub struct ModelRequest {
    /// Instructions, most stable first.
    pub system: Vec<SystemBlock>,
    /// Oldest first; the last one is the user's.
    pub messages: Vec<Message>,
    pub tools: Vec<ToolSpec>,
    /// Maximum reply.
    pub reply_tokens_max: u32,
    /// 0.0–1.0.
    pub temperature: f32,
}

/// A part of the instructions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SystemBlock {
    pub text: String,
    /// Whether a provider should cache the prompt up to here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cache_breakpoint: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The user, or text quoted for them.
    User,
    Assistant,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    pub role: Role,
    pub content: Vec<Block>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Block {
    Text {
        text: String,
        /// Whether a provider should cache the prompt up to here.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        cache_breakpoint: bool,
    },
    /// A picture that came with a message.
    Image {
        media_type: String,
        /// In base64.
        data: String,
    },
    ToolUse {
        id: String,
        /// The tool's name as shown to the model.
        name: String,
        input: Value,
    },
    ToolResult {
        id: String,
        content: String,
        is_error: bool,
    },
}

impl Block {
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into(), cache_breakpoint: false }
    }
}

/// A tool as shown to a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// `server__tool`, at most 64 characters of `A–Z a–z 0–9 _ -`.
    pub name: String,
    pub description: String,
    /// JSON Schema of its arguments.
    pub input_schema: Value,
}

/// An event of a reply.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelEvent {
    /// The next part of the text.
    Text(String),
    /// A complete tool call.
    ToolUse {
        id: String,
        /// The tool's name as shown to the model.
        name: String,
        /// The arguments, or the raw text if it is not valid JSON.
        input: Result<Value, String>,
    },
    /// Tokens so far; the last event counts.
    Usage(Usage),
    /// The last event.
    Done(StopReason),
}

/// Why a model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// It finished.
    EndTurn,
    /// It waits for tool results.
    ToolUse,
    /// It reached the maximum length.
    MaxTokens,
    /// The provider refused to continue.
    Refusal,
}

/// Tokens as counted by the provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the request, including cached ones.
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// Part of the input read from the provider's cache.
    #[serde(default)]
    pub cache_read_tokens: u64,
    /// Part of the input written to the provider's cache.
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
