//! Forwards a client's own request to a provider unchanged.
//!
//! Body and response are not inspected, and nothing is retried: that is up to the client. Only the headers that matter
//! to a provider are forwarded; the credential is ours, or one lent by the client.
//!
//! Invariant: no redirect is followed, and only the headers listed here are forwarded.

use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Method, Response, Url};
use secrecy::{ExposeSecret, SecretString};
use throughline_engine::failure::{UpstreamError, UpstreamFault};

use super::wire::innermost;
use super::{ModelConfig, Provider};
use crate::redact::Redactor;

/// Client headers that are forwarded.
const FORWARDED: [&str; 6] =
    ["accept", "content-type", "user-agent", "originator", "x-app", "x-client-request-id"];
/// Prefixes of client headers that are forwarded.
const FORWARDED_PREFIXES: [&str; 3] = ["anthropic-", "openai-", "x-stainless-"];
const API_VERSION: &str = "2023-06-01";

/// A credential that a client lends for one request, in its original form.
#[derive(Debug, Clone)]
pub enum LentKey {
    /// `Authorization: Bearer`.
    Bearer(SecretString),
    /// `x-api-key`.
    ApiKey(SecretString),
}

/// A client's request to be forwarded.
#[derive(Debug, Clone)]
pub struct ClientCall {
    pub method: Method,
    /// Path and query under the base URL.
    pub path: String,
    pub headers: HeaderMap,
    /// The client's own key for the provider.
    pub lent: Option<LentKey>,
    pub body: Option<Bytes>,
    /// Whether the response will be streamed, so that its head comes early.
    pub streams: bool,
}

/// A provider that requests are forwarded to.
#[derive(Debug, Clone)]
pub struct PassThrough {
    client: Client,
    target: String,
    redactor: Redactor,
    config: ModelConfig,
}

impl PassThrough {
    /// Creates a client for the configured provider.
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

    /// Sends a request and waits for the response head. Without streaming, the head arrives only with the complete
    /// response, and its timeout is up to the client.
    pub async fn send(&self, call: &ClientCall) -> Result<Response, UpstreamError> {
        let address = format!("{}{}", self.config.base_url.trim_end_matches('/'), call.path);
        let url = Url::parse(&address)
            .map_err(|_| self.error(UpstreamFault::Rejected, "its URL is not valid"))?;
        let headers = self.headers(&call.headers, call.lent.as_ref())?;
        let mut request = self.client.request(call.method.clone(), url).headers(headers);
        if let Some(body) = &call.body {
            request = request.body(body.clone());
        }
        let wait = self.config.head_timeout;
        let sent = match call.streams {
            true => tokio::time::timeout(wait, request.send())
                .await
                .map_err(|_| self.timeout_error(wait))?,
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

    /// Redacts the configured key in an error response, in case the provider repeats it.
    pub fn cleaned(&self, refusal: Bytes) -> Bytes {
        match std::str::from_utf8(&refusal) {
            Ok(text) => self.redactor.clean(text).into(),
            Err(_) => refusal,
        }
    }

    /// An error of this provider, redacted.
    pub fn error(&self, fault: UpstreamFault, problem: &str) -> UpstreamError {
        UpstreamError::new(&self.target, fault, self.redactor.clean(problem))
    }

    fn timeout_error(&self, wait: Duration) -> UpstreamError {
        self.error(UpstreamFault::TimedOut, &format!("no response within {} ms", wait.as_millis()))
    }

    fn headers(
        &self,
        client: &HeaderMap,
        lent: Option<&LentKey>,
    ) -> Result<HeaderMap, UpstreamError> {
        let mut headers = HeaderMap::new();
        let is_forwarded = |name: &str| {
            FORWARDED.contains(&name)
                || FORWARDED_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        };
        for (name, value) in client.iter().filter(|(name, _)| is_forwarded(name.as_str())) {
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
            // An account token is always a bearer token.
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
                let problem = "the API key contains characters that cannot be sent in a header";
                self.error(UpstreamFault::Rejected, problem)
            })?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        Ok(headers)
    }
}
