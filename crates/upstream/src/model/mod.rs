//! Language models over HTTP: Anthropic's Messages and OpenAI-compatible chat completions.
//!
//! Our own thin clients, so that what the engine asked for is what is sent: cache breakpoints where it
//! put them, its tools in its order. What a reply means to a turn is decided in the engine.
//!
//! Invariant: a reply that is not over when the connection is, is an error; nothing is made up to end it.
//!
//! # Layout
//!
//! - [`anthropic`], [`openai`]: a provider's requests and events each.
//! - [`conversation`]: what both need of the engine's messages.
//! - [`wire`]: one request over HTTP, with retries before the first event.
//! - [`reply`]: the stream of events, with its limits.
//! - [`pass_through`], [`parsed_answer`]: a client's own request handed on as it is, and what its answer said. [`api`]: the formats of
//!   clients. [`responses`]: OpenAI's Responses, also where a provider serves chat completions only.

mod anthropic;
mod api;
mod conversation;
mod openai;
pub mod parsed_answer;
pub mod pass_through;
mod reply;
pub mod responses;
mod wire;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use futures::stream::BoxStream;
use secrecy::SecretString;
use serde_json::Value;
use throughline_engine::failure::{UpstreamError, UpstreamFault};
use throughline_engine::model::{Model, ModelEvent, ModelRequest};
use tokio_util::sync::CancellationToken;

pub use api::Api;
use wire::Wire;

/// Whose wire format is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provider {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI chat completions, as many servers offer them.
    OpenAi,
}

impl Provider {
    /// The provider's name in configuration, receipts and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
        }
    }

    /// Where the provider itself serves.
    pub fn default_base_url(self) -> &'static str {
        match self {
            Self::Anthropic => "https://api.anthropic.com",
            Self::OpenAi => "https://api.openai.com/v1",
        }
    }
}

/// A model and how to reach it.
#[derive(Debug, Clone)]
pub struct ModelConfig {
    /// Whose wire format is spoken.
    pub provider: Provider,
    /// The model's name there.
    pub model: String,
    /// Where it is served: for Anthropic without `/v1`, for OpenAI-compatible servers with it, as their
    /// own clients take it.
    pub base_url: String,
    /// Sent with each request where there is one; local servers need none.
    pub api_key: Option<SecretString>,
    /// Whether the temperature is sent; some models refuse it.
    pub sends_temperature: bool,
    /// Tokens of its context window, where they are known.
    pub context_tokens: Option<u32>,
    /// Whether it serves Responses itself; otherwise they are made from chat completions.
    pub serves_responses: bool,
    /// The longest time to open a connection.
    pub connect_timeout: Duration,
    /// The longest time until the head of the answer to a client's own request that is to be streamed.
    pub head_timeout: Duration,
    /// The longest time from a request of the engine's own to the first word or tool call.
    pub first_token_timeout: Duration,
    /// The longest silence within a stream.
    pub idle_timeout: Duration,
    /// The longest time for a whole reply to the engine, retries included. Clients have limits of their own.
    pub total_timeout: Duration,
    /// The largest reply, in bytes on the wire.
    pub reply_bytes_max: usize,
    /// How often a request is tried again before its first event.
    pub retries_max: usize,
    /// The wait before the first retry; doubled for each one after, unless the provider asks for more.
    pub retry_delay: Duration,
    /// The longest wait that a provider may ask for; beyond it the request fails at once.
    pub retry_after_max: Duration,
}

impl ModelConfig {
    /// A model at its provider with the default limits.
    pub fn new(provider: Provider, model: impl Into<String>) -> Self {
        Self {
            provider,
            model: model.into(),
            base_url: provider.default_base_url().to_owned(),
            api_key: None,
            sends_temperature: true,
            context_tokens: None,
            connect_timeout: Duration::from_secs(10),
            serves_responses: provider == Provider::OpenAi,
            head_timeout: Duration::from_secs(600),
            first_token_timeout: Duration::from_secs(60),
            idle_timeout: Duration::from_secs(300),
            total_timeout: Duration::from_secs(600),
            reply_bytes_max: 16 * 1024 * 1024,
            retries_max: 3,
            retry_delay: Duration::from_millis(500),
            retry_after_max: Duration::from_secs(30),
        }
    }
}

/// What a request is in the provider's own format; its JSON text is what is sent.
pub fn body(config: &ModelConfig, request: &ModelRequest) -> Value {
    match config.provider {
        Provider::Anthropic => anthropic::body(config, request),
        Provider::OpenAi => openai::body(config, request),
    }
}

/// A model ready for requests. Nothing is sent yet; a wrong address or key is refused here only when
/// it cannot be sent at all.
pub fn connect(config: ModelConfig) -> Result<Arc<dyn Model>, UpstreamError> {
    let name = format!("{}/{}", config.provider.as_str(), config.model);
    let headers = match config.provider {
        Provider::Anthropic => anthropic::headers(&config),
        Provider::OpenAi => openai::headers(&config),
    };
    let headers = headers.map_err(|_| {
        let problem = "the API key holds characters that cannot be sent";
        UpstreamError::new(format!("model {name}"), UpstreamFault::Rejected, problem)
    })?;
    let path = match config.provider {
        Provider::Anthropic => anthropic::PATH,
        Provider::OpenAi => openai::PATH,
    };
    let wire = Wire::new(&name, path, headers, &config)?;
    let refuses_temperature = AtomicBool::new(!config.sends_temperature);
    Ok(Arc::new(HttpModel { name, wire, config, refuses_temperature }))
}

struct HttpModel {
    name: String,
    wire: Wire,
    config: ModelConfig,
    /// Newer models take no temperature; this is learnt from the first refusal.
    refuses_temperature: AtomicBool,
}

impl HttpModel {
    async fn ask(
        &self,
        request: &ModelRequest,
        cancel: CancellationToken,
    ) -> Result<BoxStream<'static, Result<ModelEvent, UpstreamError>>, UpstreamError> {
        let mut body = body(&self.config, request);
        if self.refuses_temperature.load(Ordering::Relaxed)
            && let Some(body) = body.as_object_mut()
        {
            body.remove("temperature");
        }
        match self.config.provider {
            Provider::Anthropic => {
                reply::start(&self.wire, &body, anthropic::Reader::default(), cancel).await
            }
            Provider::OpenAi => {
                reply::start(&self.wire, &body, openai::Reader::default(), cancel).await
            }
        }
    }
}

#[async_trait]
impl Model for HttpModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn context_tokens(&self) -> Option<u32> {
        self.config.context_tokens
    }

    async fn stream(
        &self,
        request: &ModelRequest,
        cancel: CancellationToken,
    ) -> Result<BoxStream<'static, Result<ModelEvent, UpstreamError>>, UpstreamError> {
        match self.ask(request, cancel.clone()).await {
            Err(error)
                if error.fault == UpstreamFault::Rejected
                    && error.message.contains("temperature")
                    && !self.refuses_temperature.swap(true, Ordering::Relaxed) =>
            {
                tracing::info!(model = self.name, "it takes no temperature; asking without one");
                self.ask(request, cancel).await
            }
            answered => answered,
        }
    }
}
