//! A client for `/v1/embeddings` of OpenAI, Ollama, llama.cpp, vLLM and others.
//!
//! Sends texts in batches and validates the response: number, order and length of the vectors. It follows no
//! redirects, so the key reaches no other origin, and does not retry: a turn continues with keyword search alone when
//! an embedder fails.
//!
//! Invariant: texts are sent only to the configured URL; no error contains the key.

use std::fmt;
use std::sync::OnceLock;
use std::time::Duration;

use async_trait::async_trait;
use futures::StreamExt;
use reqwest::{Client, Response, StatusCode, header, redirect};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use throughline_engine::embed::{Embedder, Vector};
use throughline_engine::failure::{UpstreamError, UpstreamFault};

use super::normalize;

/// Maximum number of texts per request.
const BATCH_MAX: usize = 64;
/// Maximum size of a text; the rest is not sent.
const TEXT_BYTES_MAX: usize = 16 << 10;
/// Maximum size of a response.
const ANSWER_BYTES_MAX: usize = 32 << 20;
/// Maximum number of dimensions.
const DIMENSIONS_MAX: usize = 8_192;
/// Maximum length of the server's explanation in our error message.
const EXPLANATION_CHARACTERS_MAX: usize = 300;

/// Settings of an endpoint.
#[derive(Debug, Clone)]
pub struct OpenAiEmbedderSettings {
    /// The base URL with its version: `https://api.openai.com/v1`, `http://127.0.0.1:11434/v1`.
    pub base_url: String,
    pub model: String,
    /// Sent as a bearer token, if set.
    pub key: Option<SecretString>,
    /// Timeout of a request.
    pub timeout: Duration,
}

/// Embeds through an OpenAI-compatible endpoint.
pub struct OpenAiEmbedder {
    client: Client,
    url: String,
    name: String,
    settings: OpenAiEmbedderSettings,
    /// Set by the first response.
    dimensions: OnceLock<usize>,
}

impl fmt::Debug for OpenAiEmbedder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAiEmbedder").field("name", &self.name).finish_non_exhaustive()
    }
}

#[derive(Serialize)]
struct Question<'a> {
    model: &'a str,
    input: &'a [&'a str],
    encoding_format: &'static str,
}

#[derive(Deserialize)]
struct Answer {
    data: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    index: usize,
    embedding: Vector,
}

impl OpenAiEmbedder {
    /// Creates a client and requests one vector, to find out whether it works.
    pub async fn connect(settings: OpenAiEmbedderSettings) -> Result<Self, UpstreamError> {
        let embedder = Self::new(settings)?;
        embedder.probe().await?;
        Ok(embedder)
    }

    /// Creates a client. The first response says how many dimensions the vectors have.
    pub fn new(settings: OpenAiEmbedderSettings) -> Result<Self, UpstreamError> {
        let base = settings.base_url.trim_end_matches('/');
        let name = format!("{base}#{}", settings.model);
        let client = Client::builder()
            .timeout(settings.timeout)
            .redirect(redirect::Policy::none())
            .build()
            .map_err(|error| failure(&name, UpstreamFault::Rejected, error.to_string()))?;
        let url = format!("{base}/embeddings");
        Ok(Self { client, url, name, settings, dimensions: OnceLock::new() })
    }

    /// Requests one vector, and fails as a turn's request would.
    pub async fn probe(&self) -> Result<(), UpstreamError> {
        self.request(&["length"]).await.map(drop)
    }

    async fn request(&self, texts: &[&str]) -> Result<Vec<Vector>, UpstreamError> {
        let question =
            Question { model: &self.settings.model, input: texts, encoding_format: "float" };
        let mut request = self.client.post(&self.url).json(&question);
        if let Some(key) = &self.settings.key {
            request = request.bearer_auth(key.expose_secret());
        }
        let response = request.send().await.map_err(|error| self.unreachable(&error))?;
        let status = response.status();
        let retry_after = response.headers().get(header::RETRY_AFTER).and_then(seconds);
        let body = self.read(response).await?;
        if !status.is_success() {
            return Err(self.refused(status, retry_after, &body));
        }
        let answer: Answer = serde_json::from_slice(&body)
            .map_err(|error| self.fail(UpstreamFault::Malformed, error.to_string()))?;
        self.check(answer, texts.len())
    }

    /// Reads the body, up to the limit.
    async fn read(&self, response: Response) -> Result<Vec<u8>, UpstreamError> {
        let mut body = Vec::new();
        let mut chunks = response.bytes_stream();
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk.map_err(|error| self.unreachable(&error))?;
            if body.len() + chunk.len() > ANSWER_BYTES_MAX {
                let problem = format!("its response exceeds {ANSWER_BYTES_MAX} bytes");
                return Err(self.fail(UpstreamFault::TooLarge, problem));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }

    /// Validates the vectors, sorts them in the order of the texts and normalizes them.
    fn check(&self, answer: Answer, expected: usize) -> Result<Vec<Vector>, UpstreamError> {
        let malformed = |problem: String| Err(self.fail(UpstreamFault::Malformed, problem));
        if answer.data.len() != expected {
            return malformed(format!("{} vectors for {expected} texts", answer.data.len()));
        }
        let mut rows = answer.data;
        let found = rows.first().map_or(0, |row| row.embedding.len());
        if !(1..=DIMENSIONS_MAX).contains(&found) {
            return malformed(format!(
                "its vectors have {found} dimensions; 1 to {DIMENSIONS_MAX} are supported"
            ));
        }
        let dimensions = *self.dimensions.get().unwrap_or(&found);
        rows.sort_by_key(|row| row.index);
        for (place, row) in rows.iter_mut().enumerate() {
            if row.index != place {
                return malformed(format!("no vector for text {place}"));
            }
            if row.embedding.len() != dimensions {
                return malformed(format!(
                    "a vector has {} dimensions instead of {}",
                    row.embedding.len(),
                    dimensions
                ));
            }
            normalize(&mut row.embedding);
        }
        self.dimensions.get_or_init(|| dimensions);
        Ok(rows.into_iter().map(|row| row.embedding).collect())
    }

    fn unreachable(&self, error: &reqwest::Error) -> UpstreamError {
        let fault =
            if error.is_timeout() { UpstreamFault::TimedOut } else { UpstreamFault::Unreachable };
        let problem = match fault {
            UpstreamFault::TimedOut => format!("no response within {:?}", self.settings.timeout),
            _ => format!("it cannot be reached ({})", innermost(error)),
        };
        self.fail(fault, problem)
    }

    fn refused(
        &self,
        status: StatusCode,
        retry_after: Option<Duration>,
        body: &[u8],
    ) -> UpstreamError {
        let fault = match status.as_u16() {
            401 | 403 => UpstreamFault::Unauthorized,
            429 => UpstreamFault::RateLimited,
            500.. => UpstreamFault::Failed,
            _ => UpstreamFault::Rejected,
        };
        let said: String =
            String::from_utf8_lossy(body).chars().take(EXPLANATION_CHARACTERS_MAX).collect();
        let mut error = self.fail(fault, format!("{status}: {}", said.trim()));
        error.retry_after = retry_after;
        error
    }

    fn fail(&self, fault: UpstreamFault, mut problem: String) -> UpstreamError {
        if let Some(key) = &self.settings.key
            && !key.expose_secret().is_empty()
        {
            problem = problem.replace(key.expose_secret(), "(key)");
        }
        failure(&self.name, fault, problem)
    }
}

#[async_trait]
impl Embedder for OpenAiEmbedder {
    fn name(&self) -> &str {
        &self.name
    }

    fn dimensions(&self) -> usize {
        self.dimensions.get().copied().unwrap_or_default()
    }

    /// Blank texts are not sent; their vectors are all zero.
    async fn embed(&self, texts: &[&str]) -> Result<Vec<Vector>, UpstreamError> {
        let mut vectors = vec![Vector::new(); texts.len()];
        let sent: Vec<usize> =
            (0..texts.len()).filter(|place| !texts[*place].trim().is_empty()).collect();
        for batch in sent.chunks(BATCH_MAX) {
            let texts: Vec<&str> = batch.iter().map(|place| beginning(texts[*place])).collect();
            for (place, vector) in batch.iter().zip(self.request(&texts).await?) {
                vectors[*place] = vector;
            }
        }
        if self.dimensions.get().is_none() {
            // Only blank texts so far, and how long their vectors are is not known yet.
            self.probe().await?;
        }
        for vector in &mut vectors {
            vector.resize(self.dimensions(), 0.0);
        }
        Ok(vectors)
    }
}

fn failure(name: &str, fault: UpstreamFault, problem: String) -> UpstreamError {
    UpstreamError::new(format!("embedder {name}"), fault, problem)
}

fn beginning(text: &str) -> &str {
    &text[..text.floor_char_boundary(TEXT_BYTES_MAX)]
}

fn seconds(value: &header::HeaderValue) -> Option<Duration> {
    value.to_str().ok()?.trim().parse().ok().map(Duration::from_secs)
}

fn innermost(error: &dyn std::error::Error) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}

#[cfg(test)]
#[path = "openai_tests.rs"]
mod tests;
