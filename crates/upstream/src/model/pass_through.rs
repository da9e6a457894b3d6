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
use super::{ModelConfig, Provider};
use crate::redact::Redactor;

/// Headers of a client that go on to the provider.
const PASSED: [&str; 6] =
    ["accept", "content-type", "user-agent", "originator", "x-app", "x-client-request-id"];
/// Beginnings of headers that go on.
const PASSED_BEGINNINGS: [&str; 3] = ["anthropic-", "openai-", "x-stainless-"];
const API_VERSION: &str = "2023-06-01";

/// A credential that a client lends for one request, in the form that it came in.
#[derive(Debug, Clone)]
pub enum LentKey {
    /// `Authorization: Bearer`.
    Bearer(SecretString),
    /// `x-api-key`.
    ApiKey(SecretString),
}

/// A client's request on its way to the provider.
#[derive(Debug, Clone)]
pub struct ClientCall {
    /// The method.
    pub method: Method,
    /// Path and query under the base address.
    pub path: String,
    /// The client's headers.
    pub headers: HeaderMap,
    /// Its own key for the provider.
    pub lent: Option<LentKey>,
    /// The body.
    pub body: Option<Bytes>,
    /// Whether the answer is to be streamed: its head then comes early.
    pub streams: bool,
}

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

    /// Sends a request and waits for the head of its answer. The head of an answer in one piece comes when the answer is
    /// whole, and how long that may take is the client's own decision.
    pub async fn send(&self, call: &ClientCall) -> Result<Response, UpstreamError> {
        let address = format!("{}{}", self.config.base_url.trim_end_matches('/'), call.path);
        let url = Url::parse(&address)
            .map_err(|_| self.error(UpstreamFault::Rejected, "its address is not valid"))?;
        let headers = self.headers(&call.headers, call.lent.as_ref())?;
        let mut request = self.client.request(call.method.clone(), url).headers(headers);
        if let Some(body) = &call.body {
            request = request.body(body.clone());
        }
        let wait = self.config.head_timeout;
        let sent = match call.streams {
            true => {
                tokio::time::timeout(wait, request.send()).await.map_err(|_| self.late(wait))?
            }
            false => request.send().await,
        };
        sent.map_err(|error| {
            let fault = match error.is_timeout() {
                true => UpstreamFault::TimedOut,
                false => UpstreamFault::Unreachable,
            };
            self.error(fault, &format!("it cannot be reached: {}", innermost(&error)))
        })
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
        let passes = |name: &str| {
            PASSED.contains(&name) || PASSED_BEGINNINGS.iter().any(|start| name.starts_with(start))
        };
        for (name, value) in client.iter().filter(|(name, _)| passes(name.as_str())) {
            headers.append(name.clone(), value.clone());
        }
        headers.entry(CONTENT_TYPE).or_insert(HeaderValue::from_static("application/json"));
        headers.entry(ACCEPT).or_insert(HeaderValue::from_static("*/*"));
        if self.config.provider == Provider::Anthropic {
            let version = HeaderValue::from_static(API_VERSION);
            headers.entry("anthropic-version").or_insert(version);
        }
        let usual = match self.config.provider {
            Provider::Anthropic => LentKey::ApiKey,
            Provider::OpenAi => LentKey::Bearer,
        };
        let key = match (&self.config.api_key, lent) {
            (Some(own), _) => Some(usual(own.clone())),
            // A token of a person's account is a bearer token wherever it goes.
            (None, Some(LentKey::Bearer(token))) => Some(LentKey::Bearer(token.clone())),
            (None, Some(LentKey::ApiKey(key))) => Some(usual(key.clone())),
            (None, None) => None,
        };
        if let Some(key) = key {
            let (name, text) = match &key {
                LentKey::Bearer(token) => {
                    (AUTHORIZATION, format!("Bearer {}", token.expose_secret()))
                }
                LentKey::ApiKey(key) => {
                    (HeaderName::from_static("x-api-key"), key.expose_secret().to_owned())
                }
            };
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
