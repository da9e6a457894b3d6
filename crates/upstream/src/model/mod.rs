//! Language models over HTTP: Anthropic's Messages and OpenAI-compatible chat completions.
//!
//! Thin clients, so that exactly what the engine requested is sent: cache breakpoints where it put them, its tools in
//! its order. The engine decides what a reply means.
//!
//! Invariant: a reply that is incomplete when the connection ends is an error; it is never completed artificially.
//!
//! # Layout
//!
//! - [`anthropic`], [`openai`]: requests and events of each provider.
//! - [`conversation`]: what both need of the engine's messages.
//! - [`wire`]: one HTTP request, with retries before the first event.
//! - [`reply`]: the stream of events, with its limits.
//! - [`pass_through`], [`parsed_answer`]: forwarding a client's own request, and parsing its answer. [`api`]: wire
//!   formats. [`responses`]: OpenAI's Responses, also for providers that serve only chat completions.

mod anthropic;
mod api;
mod conversation;
mod openai;
pub mod parsed_answer;
pub mod pass_through;
mod price;
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
pub use price::{Cost, Price};
use wire::Wire;
pub use wire::fault_of;

/// A provider's wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provider {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI chat completions, as offered by many servers.
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

    /// The provider's public endpoint.
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
    pub provider: Provider,
    /// The provider's name for the model.
    pub model: String,
    /// The base URL: without `/v1` for Anthropic, with it for OpenAI-compatible servers, as their own clients
    /// expect.
    pub base_url: String,
    /// Sent with each request; local servers need none.
    pub api_key: Option<SecretString>,
    /// Whether to send the temperature; some models reject it.
    pub sends_temperature: bool,
    /// Size of the context window, if known.
    pub context_tokens: Option<u32>,
    /// What it costs, if that is configured.
    pub price: Option<Price>,
    /// Whether the provider serves Responses; otherwise they are converted from chat completions.
    pub serves_responses: bool,
    /// Timeout of opening a connection.
    pub connect_timeout: Duration,
    /// Timeout until the response head of a client's own streaming request.
    pub head_timeout: Duration,
    /// Timeout from an engine request to the first text or tool call.
    pub first_token_timeout: Duration,
    /// Maximum silence within a stream.
    pub idle_timeout: Duration,
    /// Timeout of a whole reply to the engine, retries included. Clients have their own limits.
    pub total_timeout: Duration,
    /// Maximum size of a reply in bytes on the wire.
    pub reply_bytes_max: usize,
    /// Maximum number of retries before the first event.
    pub retries_max: usize,
    /// Delay before the first retry; doubled for each further one, unless the provider requests more.
    pub retry_delay: Duration,
    /// Maximum delay that a provider may request; beyond it the request fails at once.
    pub retry_after_max: Duration,
}

impl ModelConfig {
    /// A model with default limits.
    pub fn new(provider: Provider, model: impl Into<String>) -> Self {
        Self {
            provider,
            model: model.into(),
            base_url: provider.default_base_url().to_owned(),
            api_key: None,
            sends_temperature: true,
            context_tokens: None,
            price: None,
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

/// The request in the provider's own format.
pub fn body(config: &ModelConfig, request: &ModelRequest) -> Value {
    match config.provider {
        Provider::Anthropic => anthropic::body(config, request),
        Provider::OpenAi => openai::body(config, request),
    }
}

/// Creates a client for a model. Nothing is sent yet; an invalid URL or key is rejected only if it cannot be sent
/// at all.
pub fn connect(config: ModelConfig) -> Result<Arc<dyn Model>, UpstreamError> {
    let name = format!("{}/{}", config.provider.as_str(), config.model);
    let headers = match config.provider {
        Provider::Anthropic => anthropic::headers(&config),
        Provider::OpenAi => openai::headers(&config),
    };
    let headers = headers.map_err(|_| {
        let problem = "the API key contains characters that cannot be sent in a header";
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
    /// Newer models reject the temperature; learnt from the first rejection.
    refuses_temperature: AtomicBool,
}

impl HttpModel {
    async fn request(
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
        match self.request(request, cancel.clone()).await {
            Err(error)
                if error.fault == UpstreamFault::Rejected
                    && error.message.contains("temperature")
                    && !self.refuses_temperature.swap(true, Ordering::Relaxed) =>
            {
                tracing::info!(
                    model = self.name,
                    "the model rejects a temperature; retrying without"
                );
                self.request(request, cancel).await
            }
            answered => answered,
        }
    }
}
