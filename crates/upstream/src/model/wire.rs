//! One request to a model over HTTP, up to the first event of its answer.
//!
//! Whatever fails before that event is tried again when it may pass by itself, and no sooner than the
//! provider asks. After it nothing is tried again: words may have been shown.
//!
//! Invariant: no redirect is followed, and every message has passed the [`Redactor`].

use std::time::{Duration, SystemTime};

use backon::{ExponentialBuilder, Retryable};
use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use reqwest::header::{CONTENT_TYPE, HeaderMap, RETRY_AFTER};
use reqwest::{Client, Response, StatusCode, Url};
use serde_json::Value;
use sse_stream::{Sse, SseStream};
use throughline_engine::failure::{UpstreamError, UpstreamFault};
use tokio::time::Instant;

use super::ModelConfig;
use crate::redact::Redactor;

/// The longest explanation of a refusal that is read.
const REFUSAL_BYTES_MAX: usize = 64 * 1024;
/// The longest explanation that an error repeats.
const EXPLANATION_CHARACTERS_MAX: usize = 500;
const RETRY_DELAY_MAX: Duration = Duration::from_secs(10);

/// Server-sent events of one answer.
pub type Events = BoxStream<'static, Result<Sse, UpstreamError>>;

/// Where requests go, as whom, and how patiently.
#[derive(Clone)]
pub struct Wire {
    client: Client,
    url: Url,
    headers: HeaderMap,
    target: String,
    redactor: Redactor,
    /// The limits.
    pub config: ModelConfig,
}

impl Wire {
    /// A client for `path` under the configured address.
    pub fn new(
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
            .map_err(|error| refuse(format!("its address is not valid: {error}")))?;
        let client = Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(config.connect_timeout)
            .build()
            .map_err(|error| refuse(innermost(&error)))?;
        let config = config.clone();
        Ok(Self { client, url, headers, target, redactor, config })
    }

    /// Sends `body` and waits for the first event. `refusal` looks into that event: a provider may
    /// begin a stream only to say that it cannot.
    pub async fn open(
        &self,
        body: &Value,
        refusal: impl Fn(&Sse) -> Option<(UpstreamFault, String)>,
    ) -> Result<Events, UpstreamError> {
        let attempt = || async {
            let wait = self.config.first_token_timeout;
            let opened = tokio::time::timeout(wait, self.attempt(body)).await;
            let (first, rest) = opened.unwrap_or_else(|_| {
                let problem = format!("no answer within {} ms", wait.as_millis());
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
            .when(|error| may_pass(error) && error.retry_after.is_none_or(|wait| wait <= longest))
            .adjust(|error, delay| delay.map(|delay| error.retry_after.unwrap_or(delay)))
            .notify(|error, delay| {
                tracing::info!(
                    retry.delay_ms = delay.as_millis() as u64,
                    fault = ?error.fault,
                    "trying {} again",
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
            let problem = format!("it answered {kind}, not a stream of events");
            return Err(self.error(UpstreamFault::Malformed, &problem));
        }
        let mut events = self.events(response);
        match events.next().await {
            Some(Ok(first)) => Ok((first, events)),
            Some(Err(error)) => Err(error),
            None => Err(self.error(UpstreamFault::Malformed, "the answer ended before it began")),
        }
    }

    /// The events of a body, up to the limit in bytes. Comments and empty events are left out.
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
            let problem = format!("its stream of events is damaged: {error}");
            return self.error(UpstreamFault::Malformed, &problem);
        };
        match body.downcast_ref::<BodyProblem>() {
            Some(BodyProblem::TooLarge) => {
                let limit = self.config.reply_bytes_max;
                self.error(UpstreamFault::TooLarge, &format!("the reply is over {limit} bytes"))
            }
            _ => self.error(UpstreamFault::Malformed, &format!("the reply broke off: {body}")),
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
            true => format!("{status}: redirects are not followed; set the address it points to"),
            false => format!("{status}: {said}"),
        };
        UpstreamError {
            retry_after,
            ..self.error(fault_of(status), problem.trim_end_matches([':', ' ']))
        }
    }

    fn broken(&self, error: &reqwest::Error) -> UpstreamError {
        let (fault, what) = match error.is_timeout() {
            true => (UpstreamFault::TimedOut, "no connection in time"),
            false => (UpstreamFault::Unreachable, "it cannot be reached"),
        };
        self.error(fault, &format!("{what}: {}", innermost(error)))
    }

    /// An error of this model.
    pub fn error(&self, fault: UpstreamFault, problem: &str) -> UpstreamError {
        let problem: String = problem.chars().take(EXPLANATION_CHARACTERS_MAX).collect();
        UpstreamError::new(&self.target, fault, self.redactor.clean(&problem))
    }

    /// When a reply that starts now must be over.
    pub fn deadline(&self) -> Instant {
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

/// Whether the same request may succeed a little later.
fn may_pass(error: &UpstreamError) -> bool {
    match error.fault {
        UpstreamFault::Unreachable | UpstreamFault::RateLimited | UpstreamFault::Failed => true,
        UpstreamFault::TimedOut
        | UpstreamFault::Unauthorized
        | UpstreamFault::Rejected
        | UpstreamFault::Malformed
        | UpstreamFault::TooLarge
        | UpstreamFault::Cancelled => false,
    }
}

fn fault_of(status: StatusCode) -> UpstreamFault {
    match status.as_u16() {
        401 | 403 => UpstreamFault::Unauthorized,
        408 | 409 => UpstreamFault::Failed,
        413 => UpstreamFault::TooLarge,
        429 => UpstreamFault::RateLimited,
        500.. => UpstreamFault::Failed,
        _ => UpstreamFault::Rejected,
    }
}

/// What a provider says in the body of a refusal: its message, or the text as it is.
pub(super) fn explanation(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let value: Option<Value> = serde_json::from_str(&text).ok();
    let message = value.as_ref().and_then(|value| {
        let error = value.get("error").unwrap_or(value);
        error.get("message").unwrap_or(error).as_str()
    });
    message.unwrap_or(&text).trim().to_owned()
}

/// Seconds, or a date.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text).ok()?;
    SystemTime::from(date).duration_since(SystemTime::now()).ok()
}

/// The cause that says most; the outer ones repeat the address.
pub(super) fn innermost(error: &dyn std::error::Error) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}
