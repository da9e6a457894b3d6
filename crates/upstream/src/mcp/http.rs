//! The HTTP transport of an MCP server: client and headers.
//!
//! Invariant: no redirect is followed, so our headers reach only the configured origin.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use reqwest::header::{HeaderName, HeaderValue};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use secrecy::{ExposeSecret, SecretString};
use throughline_engine::failure::{UpstreamError, UpstreamFault};

use super::bounded::BoundedClient;
use super::config::ServerConfig;

/// Timeout of opening a TCP and TLS connection.
const TCP_CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Creates a transport to `url`; sets `session_lost` when the server no longer knows our session.
pub(super) fn open(
    config: &ServerConfig,
    url: &str,
    headers: &BTreeMap<String, SecretString>,
    session_lost: Arc<AtomicBool>,
) -> Result<StreamableHttpClientTransport<BoundedClient>, UpstreamError> {
    let refuse = |message: String| {
        UpstreamError::new(format!("server {}", config.name), UpstreamFault::Rejected, message)
    };
    let headers = header_map(headers).map_err(|name| refuse(format!("invalid header {name}")))?;
    // No idle connections: reusing one whose last response was not read completely stalls.
    let client = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(TCP_CONNECT_TIMEOUT)
        .pool_max_idle_per_host(0)
        .build()
        .map_err(|error| refuse(error.without_url().to_string()))?;
    let settings = StreamableHttpClientTransportConfig::with_uri(url)
        .custom_headers(headers)
        .max_sse_event_size(config.message_bytes_max);
    let client = BoundedClient::new(client, &config.name, config.message_bytes_max, session_lost);
    Ok(StreamableHttpClientTransport::with_client(client, settings))
}

/// Converts headers, or returns the name of an invalid one.
pub(super) fn header_map(
    headers: &BTreeMap<String, SecretString>,
) -> Result<HashMap<HeaderName, HeaderValue>, String> {
    let mut map = HashMap::new();
    for (name, value) in headers {
        let key = HeaderName::try_from(name.as_str()).map_err(|_| name.clone())?;
        let mut value = HeaderValue::try_from(value.expose_secret()).map_err(|_| name.clone())?;
        value.set_sensitive(true);
        map.insert(key, value);
    }
    Ok(map)
}

/// Returns what is wrong with a URL without repeating it, because it may contain a secret.
pub(super) fn check_address(url: &str) -> Result<(), String> {
    let parsed = reqwest::Url::parse(url).map_err(|error| error.to_string())?;
    match parsed.scheme() {
        "http" | "https" if parsed.has_host() => Ok(()),
        scheme => Err(format!("it needs http or https and a host, not {scheme}:")),
    }
}
