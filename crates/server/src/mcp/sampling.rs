//! Replies by the client's own model.
//!
//! With a session, the server asks the client within the call ([`AskedClient`]). Without one, the call ends
//! with `input_required`, and the client repeats it with its model's reply ([`AnsweredClient`]). Such requests
//! have no tools: a client's model could not call them through this server.
//!
//! Sampling is deprecated in the protocol and stays as long as clients offer it.
//!
//! Invariant: the recorded request is what the client's model was sent.

#![expect(
    deprecated,
    reason = "sampling is deprecated in the protocol, and still what clients offer"
)]

use std::sync::OnceLock;
use std::time::Duration;

use async_trait::async_trait;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use rmcp::RoleServer;
use rmcp::model::{
    CreateMessageRequest, CreateMessageRequestParams, CreateMessageResult, Role as McpRole,
    SamplingMessage, SamplingMessageContentBlock,
};
use rmcp::service::Peer;
use throughline_engine::failure::{UpstreamError, UpstreamFault};
use throughline_engine::hash::ContentHash;
use throughline_engine::model::{Block, Model, ModelEvent, ModelRequest, Role, StopReason};
use throughline_engine::request::hash_of;
use tokio_util::sync::CancellationToken;

/// Time limit for the client, in seconds; it may ask a person first.
const ANSWER_SECONDS_MAX: u64 = 240;

type Events = BoxStream<'static, Result<ModelEvent, UpstreamError>>;

/// A client that is asked while the call runs.
pub struct AskedClient {
    peer: Peer<RoleServer>,
    model: OnceLock<String>,
}

impl AskedClient {
    /// The client of `peer`.
    pub fn new(peer: Peer<RoleServer>) -> Self {
        Self { peer, model: OnceLock::new() }
    }
}

#[async_trait]
impl Model for AskedClient {
    fn name(&self) -> &str {
        self.model.get().map_or("client", String::as_str)
    }

    async fn stream(
        &self,
        request: &ModelRequest,
        cancel: CancellationToken,
    ) -> Result<Events, UpstreamError> {
        let asked = self.peer.create_message(asked_for(request));
        let limit = Duration::from_secs(ANSWER_SECONDS_MAX);
        let answered = tokio::select! {
            answered = tokio::time::timeout(limit, asked) => answered,
            () = cancel.cancelled() => return Err(failed(UpstreamFault::Cancelled, "it was stopped")),
        };
        match answered {
            Ok(Ok(result)) => {
                let (model, events) = said(&result)?;
                // The first reply names the model; later rounds keep that name.
                let _ = self.model.set(model);
                Ok(events)
            }
            Ok(Err(error)) => Err(failed(UpstreamFault::Rejected, error.to_string())),
            Err(_) => Err(failed(UpstreamFault::TimedOut, "the client did not answer in time")),
        }
    }
}

/// A client that has already replied.
pub struct AnsweredClient {
    asked: ContentHash,
    result: CreateMessageResult,
    model: String,
}

impl AnsweredClient {
    /// The client's reply to the request with that hash.
    pub fn new(asked: ContentHash, result: CreateMessageResult) -> Self {
        Self { asked, model: result.model.clone(), result }
    }
}

#[async_trait]
impl Model for AnsweredClient {
    fn name(&self) -> &str {
        &self.model
    }

    async fn stream(
        &self,
        request: &ModelRequest,
        _: CancellationToken,
    ) -> Result<Events, UpstreamError> {
        if hash_of(request).is_ok_and(|hash| hash != self.asked) {
            let message = "the conversation continued while the client was replying";
            return Err(failed(UpstreamFault::Rejected, message));
        }
        said(&self.result).map(|(_, events)| events)
    }
}

/// The request for an `input_required` result.
pub fn input_request(request: &ModelRequest) -> CreateMessageRequest {
    CreateMessageRequest::new(asked_for(request))
}

/// Parses the client's reply.
pub fn input_response(value: &serde_json::Value) -> Result<CreateMessageResult, serde_json::Error> {
    serde_json::from_value(value.clone())
}

/// The request in terms of the protocol.
fn asked_for(request: &ModelRequest) -> CreateMessageRequestParams {
    let system: Vec<&str> = request.system.iter().map(|block| block.text.as_str()).collect();
    let messages = request.messages.iter().map(|message| {
        let texts = message.content.iter().filter_map(|block| match block {
            Block::Text { text, .. } => Some(text.as_str()),
            Block::Image { .. } | Block::ToolUse { .. } => None,
            Block::ToolResult { content, .. } => Some(content.as_str()),
        });
        let text = texts.collect::<Vec<_>>().join("\n\n");
        match message.role {
            Role::User => SamplingMessage::user_text(text),
            Role::Assistant => SamplingMessage::assistant_text(text),
        }
    });
    let mut params = CreateMessageRequestParams::new(messages.collect(), request.reply_tokens_max)
        .with_temperature(request.temperature);
    if !system.is_empty() {
        params = params.with_system_prompt(system.join("\n\n"));
    }
    params
}

fn said(result: &CreateMessageResult) -> Result<(String, Events), UpstreamError> {
    if result.message.role != McpRole::Assistant {
        return Err(failed(
            UpstreamFault::Malformed,
            "the client replied with the role of the user",
        ));
    }
    let texts = result.message.content.iter().filter_map(|block| match block {
        SamplingMessageContentBlock::Text(text) => Some(text.text.as_str()),
        _ => None,
    });
    let text = texts.collect::<Vec<_>>().join("\n\n");
    if text.trim().is_empty() {
        return Err(failed(UpstreamFault::Malformed, "the reply of the client's model is empty"));
    }
    let stop = match result.stop_reason.as_deref() {
        Some(CreateMessageResult::STOP_REASON_END_MAX_TOKEN) => StopReason::MaxTokens,
        _ => StopReason::EndTurn,
    };
    let events = [ModelEvent::Text(text), ModelEvent::Done(stop)].map(Ok);
    Ok((result.model.clone(), stream::iter(events).boxed()))
}

fn failed(fault: UpstreamFault, message: impl Into<String>) -> UpstreamError {
    UpstreamError::new("the client's model", fault, message)
}
