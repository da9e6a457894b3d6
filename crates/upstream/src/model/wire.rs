//! One HTTP request to a model, up to the first event of its reply.
//!
//! A transient failure before that event is retried, no sooner than the provider requests. Nothing is retried after
//! it, because text may already have been shown.
//!
//! Invariant: no redirect is followed, and every message has passed the [`Redactor`].

use std::time::{Duration, SystemTime};

use backon::{ExponentialBuilder, Retryable};
use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use reqwest::header::{CONTENT_TYPE, HeaderMap, RETRY_AFTER};
use reqwest::{Client, Response, Url};
use serde_json::Value;
use sse_stream::{Sse, SseStream};
use throughline_engine::failure::{UpstreamError, UpstreamFault};
use tokio::time::Instant;

use super::ModelConfig;
use crate::redact::Redactor;

/// Maximum number of bytes read of an error response.
const REFUSAL_BYTES_MAX: usize = 64 * 1024;
/// Maximum length of the provider's explanation in our error message.
const EXPLANATION_CHARACTERS_MAX: usize = 500;
const RETRY_DELAY_MAX: Duration = Duration::from_secs(10);

/// The server-sent events of one reply.
pub(super) type Events = BoxStream<'static, Result<Sse, UpstreamError>>;

/// A client for one endpoint, with its credentials and limits.
#[derive(Clone)]
pub(super) struct Wire {
    client: Client,
    url: Url,
    headers: HeaderMap,
    target: String,
    redactor: Redactor,
    pub config: ModelConfig,
}

impl Wire {
    /// A client for `path` under the configured base URL.
    pub(super) fn new(
        name: &str,
        path: &str,
        headers: HeaderMap,
        config: &ModelConfig,
    ) -> Result<Self, UpstreamError> {
        let target = format!("model {name}");
        let redactor = Redactor::new(&config.api_key).with_address(&config.base_url);
        let refuse = |problem: String| {
            UpstreamError::new(&target, UpstreamFault::Rejected, redactor.clean(&problem))
        };
        let address = format!("{}{path}", config.base_url.trim_end_matches('/'));
        let url = Url::parse(&address)
            .map_err(|error| refuse(format!("its URL is not valid: {error}")))?;
        let client = Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(config.connect_timeout)
            .build()
            .map_err(|error| refuse(innermost(&error)))?;
        let config = config.clone();
        Ok(Self { client, url, headers, target, redactor, config })
    }

    /// Sends `body` and waits for the first event. `refusal` checks whether that event is an error: a provider may
    /// start a stream only to report one.
    pub(super) async fn open(
        &self,
        body: &Value,
        refusal: impl Fn(&Sse) -> Option<(UpstreamFault, String)>,
    ) -> Result<Events, UpstreamError> {
        let attempt = || async {
            let wait = self.config.first_token_timeout;
            let opened = tokio::time::timeout(wait, self.attempt(body)).await;
            let (first, rest) = opened.unwrap_or_else(|_| {
                let problem = format!("no response within {} ms", wait.as_millis());
                Err(self.error(UpstreamFault::TimedOut, &problem))
            })?;
            match refusal(&first) {
                Some((fault, problem)) => Err(self.error(fault, &problem)),
                None => Ok(futures::stream::iter([Ok(first)]).chain(rest).boxed()),
            }
        };
        let backoff = ExponentialBuilder::new()
            .with_min_delay(self.config.retry_delay)
            .with_max_delay(RETRY_DELAY_MAX)
            .with_max_times(self.config.retries_max)
            .with_jitter();
        let longest = self.config.retry_after_max;
        attempt
            .retry(backoff)
            .when(|error| {
                is_transient(error) && error.retry_after.is_none_or(|wait| wait <= longest)
            })
            .adjust(|error, delay| delay.map(|delay| error.retry_after.unwrap_or(delay)))
            .notify(|error, delay| {
                tracing::info!(
                    retry.delay_ms = delay.as_millis() as u64,
                    fault = ?error.fault,
                    "retrying {}",
                    self.target
                );
            })
            .await
    }

    async fn attempt(&self, body: &Value) -> Result<(Sse, Events), UpstreamError> {
        let request = self.client.post(self.url.clone()).headers(self.headers.clone()).json(body);
        let response = request.send().await.map_err(|error| self.broken(&error))?;
        let status = response.status();
        if !status.is_success() {
            return Err(self.refused(response).await);
        }
        let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        if let Some(kind) = kind.filter(|kind| !kind.starts_with("text/event-stream")) {
            let problem = format!("it responded with {kind} instead of an event stream");
            return Err(self.error(UpstreamFault::Malformed, &problem));
        }
        let mut events = self.events(response);
        match events.next().await {
            Some(Ok(first)) => Ok((first, events)),
            Some(Err(error)) => Err(error),
            None => Err(self.error(UpstreamFault::Malformed, "the response has no events")),
        }
    }

    /// The events of a body, up to the size limit, without comments and empty events.
    fn events(&self, response: Response) -> Events {
        let limit = self.config.reply_bytes_max;
        let mut read = 0_usize;
        let bytes = response.bytes_stream().map(move |chunk: Result<Bytes, reqwest::Error>| {
            let chunk = chunk.map_err(|error| BodyProblem::Broken(innermost(&error)))?;
            read += chunk.len();
            if read > limit { Err(BodyProblem::TooLarge) } else { Ok(chunk) }
        });
        let wire = self.clone();
        SseStream::from_bytes_stream(bytes)
            .map_err(move |error| wire.stream_problem(&error))
            .try_filter(|event| std::future::ready(event.data.is_some()))
            .boxed()
    }

    fn stream_problem(&self, error: &sse_stream::Error) -> UpstreamError {
        let sse_stream::Error::Body(body) = error else {
            let problem = format!("its event stream is damaged: {error}");
            return self.error(UpstreamFault::Malformed, &problem);
        };
        match body.downcast_ref::<BodyProblem>() {
            Some(BodyProblem::TooLarge) => {
                let limit = self.config.reply_bytes_max;
                self.error(UpstreamFault::TooLarge, &format!("the reply exceeds {limit} bytes"))
            }
            _ => self.error(UpstreamFault::Malformed, &format!("the reply was cut off: {body}")),
        }
    }

    async fn refused(&self, response: Response) -> UpstreamError {
        let status = response.status();
        let retry_after = retry_after(response.headers());
        let mut body = Vec::new();
        let mut chunks = response.bytes_stream();
        while let Some(Ok(chunk)) = chunks.next().await {
            body.extend_from_slice(&chunk);
            if body.len() > REFUSAL_BYTES_MAX {
                break;
            }
        }
        let said = explanation(&body);
        let problem = match status.is_redirection() {
            true => {
                format!("{status}: redirects are not followed; configure the target URL instead")
            }
            false => format!("{status}: {said}"),
        };
        UpstreamError {
            retry_after,
            ..self.error(fault_of(status.as_u16()), problem.trim_end_matches([':', ' ']))
        }
    }

    fn broken(&self, error: &reqwest::Error) -> UpstreamError {
        let (fault, what) = match error.is_timeout() {
            true => (UpstreamFault::TimedOut, "no connection in time"),
            false => (UpstreamFault::Unreachable, "it cannot be reached"),
        };
        self.error(fault, &format!("{what}: {}", innermost(error)))
    }

    pub(super) fn error(&self, fault: UpstreamFault, problem: &str) -> UpstreamError {
        let problem: String = problem.chars().take(EXPLANATION_CHARACTERS_MAX).collect();
        UpstreamError::new(&self.target, fault, self.redactor.clean(&problem))
    }

    /// The deadline of a reply that starts now.
    pub(super) fn deadline(&self) -> Instant {
        Instant::now() + self.config.total_timeout
    }
}

#[derive(Debug, thiserror::Error)]
enum BodyProblem {
    #[error("too large")]
    TooLarge,
    #[error("{0}")]
    Broken(String),
}

/// Whether the same request may succeed later.
fn is_transient(error: &UpstreamError) -> bool {
    match error.fault {
        UpstreamFault::Unreachable | UpstreamFault::RateLimited | UpstreamFault::Failed => true,
        UpstreamFault::TimedOut
        | UpstreamFault::Unauthorized
        | UpstreamFault::Rejected
        | UpstreamFault::NotFound
        | UpstreamFault::Malformed
        | UpstreamFault::TooLarge
        | UpstreamFault::Cancelled => false,
    }
}

/// What a status of a provider says of the failure.
pub fn fault_of(status: u16) -> UpstreamFault {
    match status {
        401 | 403 => UpstreamFault::Unauthorized,
        404 => UpstreamFault::NotFound,
        408 | 409 => UpstreamFault::Failed,
        413 => UpstreamFault::TooLarge,
        429 => UpstreamFault::RateLimited,
        500.. => UpstreamFault::Failed,
        _ => UpstreamFault::Rejected,
    }
}

/// Extracts the provider's message from an error response, or returns its text.
pub(super) fn explanation(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let value: Option<Value> = serde_json::from_str(&text).ok();
    let message = value.as_ref().and_then(|value| {
        let error = value.get("error").unwrap_or(value);
        error.get("message").unwrap_or(error).as_str()
    });
    message.unwrap_or(&text).trim().to_owned()
}

/// Parses `Retry-After`: seconds or a date.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text).ok()?;
    SystemTime::from(date).duration_since(SystemTime::now()).ok()
}

/// The innermost error: it says most, and the outer ones repeat the URL.
pub(super) fn innermost(error: &dyn std::error::Error) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}
