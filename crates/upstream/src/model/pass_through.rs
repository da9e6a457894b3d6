//! A client's own request, handed on to a provider as it is.
//!
//! Nothing is read into the body or the answer, nothing is tried again: the client does that itself.
//! Headers are the few that matter to a provider; the credential is ours, or the one that the caller of
//! this module lends.
//!
//! Invariant: no redirect is followed, and no header goes on that is not named here.

use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Method, Response, Url};
use secrecy::{ExposeSecret, SecretString};
use throughline_engine::failure::{UpstreamError, UpstreamFault};

use super::wire::innermost;
use super::{ModelConfig, Provider, anthropic, openai};
use crate::redact::Redactor;

/// Headers of a client that go on to the provider.
const PASSED: [&str; 7] = [
    "accept",
    "content-type",
    "user-agent",
    "anthropic-version",
    "anthropic-beta",
    "openai-organization",
    "openai-project",
];
const API_VERSION: &str = "2023-06-01";

/// A credential that a client lends for one request.
pub type LentKey = SecretString;

/// A provider that requests are handed on to.
#[derive(Debug, Clone)]
pub struct PassThrough {
    client: Client,
    target: String,
    redactor: Redactor,
    config: ModelConfig,
}

impl PassThrough {
    /// A provider at the configured address.
    pub fn new(config: ModelConfig) -> Result<Self, UpstreamError> {
        let target = format!("model {}/{}", config.provider.as_str(), config.model);
        let client = Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(config.connect_timeout)
            .build()
            .map_err(|error| {
                UpstreamError::new(&target, UpstreamFault::Rejected, innermost(&error))
            })?;
        let redactor = Redactor::new(&config.api_key).with_address(&config.base_url);
        Ok(Self { client, target, redactor, config })
    }

    /// The model and its limits.
    pub fn config(&self) -> &ModelConfig {
        &self.config
    }

    /// Where a reply to a conversation is asked for, under the base address.
    pub fn reply_path(&self) -> &'static str {
        match self.config.provider {
            Provider::Anthropic => anthropic::PATH,
            Provider::OpenAi => openai::PATH,
        }
    }

    /// Sends a request and waits for the head of its answer.
    pub async fn send(
        &self,
        method: Method,
        path: &str,
        client_headers: &HeaderMap,
        lent: Option<&LentKey>,
        body: Option<Bytes>,
    ) -> Result<Response, UpstreamError> {
        let address = format!("{}{path}", self.config.base_url.trim_end_matches('/'));
        let url = Url::parse(&address)
            .map_err(|_| self.error(UpstreamFault::Rejected, "its address is not valid"))?;
        let headers = self.headers(client_headers, lent)?;
        let mut request = self.client.request(method, url).headers(headers);
        if let Some(body) = body {
            request = request.body(body);
        }
        let wait = self.config.first_token_timeout;
        match tokio::time::timeout(wait, request.send()).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) => {
                let fault = match error.is_timeout() {
                    true => UpstreamFault::TimedOut,
                    false => UpstreamFault::Unreachable,
                };
                Err(self.error(fault, &format!("it cannot be reached: {}", innermost(&error))))
            }
            Err(_) => Err(self.late(wait)),
        }
    }

    /// A refusal of the provider without the configured key, should it repeat it; else as it is.
    pub fn cleaned(&self, refusal: Bytes) -> Bytes {
        match std::str::from_utf8(&refusal) {
            Ok(text) => self.redactor.clean(text).into(),
            Err(_) => refusal,
        }
    }

    /// An error of this provider, without secrets.
    pub fn error(&self, fault: UpstreamFault, problem: &str) -> UpstreamError {
        UpstreamError::new(&self.target, fault, self.redactor.clean(problem))
    }

    fn late(&self, wait: Duration) -> UpstreamError {
        self.error(UpstreamFault::TimedOut, &format!("no answer within {} ms", wait.as_millis()))
    }

    fn headers(
        &self,
        client: &HeaderMap,
        lent: Option<&LentKey>,
    ) -> Result<HeaderMap, UpstreamError> {
        let mut headers = HeaderMap::new();
        for name in PASSED {
            for value in client.get_all(name) {
                headers.append(HeaderName::from_static(name), value.clone());
            }
        }
        headers.entry(CONTENT_TYPE).or_insert(HeaderValue::from_static("application/json"));
        headers.entry(ACCEPT).or_insert(HeaderValue::from_static("*/*"));
        let (name, prefix) = match self.config.provider {
            Provider::Anthropic => (HeaderName::from_static("x-api-key"), ""),
            Provider::OpenAi => (AUTHORIZATION, "Bearer "),
        };
        if self.config.provider == Provider::Anthropic {
            let version = HeaderValue::from_static(API_VERSION);
            headers.entry("anthropic-version").or_insert(version);
        }
        if let Some(key) = self.config.api_key.as_ref().or(lent) {
            let text = format!("{prefix}{}", key.expose_secret());
            let mut value = HeaderValue::from_str(&text).map_err(|_| {
                let problem = "the API key holds characters that cannot be sent";
                self.error(UpstreamFault::Rejected, problem)
            })?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        Ok(headers)
    }
}
