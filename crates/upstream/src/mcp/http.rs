//! An MCP server behind an address: the client and its headers.
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

use super::bounded::Bounded;
use super::config::ServerConfig;

/// The longest time to open a TCP and TLS connection.
const TCP_CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A transport to `url`; `over` is set when the server has forgotten our session.
pub fn open(
    config: &ServerConfig,
    url: &str,
    headers: &BTreeMap<String, SecretString>,
    over: Arc<AtomicBool>,
) -> Result<StreamableHttpClientTransport<Bounded>, UpstreamError> {
    let refuse = |message: String| {
        UpstreamError::new(format!("server {}", config.name), UpstreamFault::Rejected, message)
    };
    let headers = header_map(headers).map_err(|name| refuse(format!("bad header {name}")))?;
    // Idle connections are not kept: reusing one whose last answer was not read to its end stalls.
    let client = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(TCP_CONNECT_TIMEOUT)
        .pool_max_idle_per_host(0)
        .build()
        .map_err(|error| refuse(error.without_url().to_string()))?;
    let settings = StreamableHttpClientTransportConfig::with_uri(url)
        .custom_headers(headers)
        .max_sse_event_size(config.message_bytes_max);
    let client = Bounded::new(client, config.message_bytes_max, over);
    Ok(StreamableHttpClientTransport::with_client(client, settings))
}

/// Headers in the form the client takes, or the name of one that HTTP does not allow.
pub fn header_map(
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

/// Says what is wrong with an address, without repeating it: it may hold a secret.
pub fn check_address(url: &str) -> Result<(), String> {
    let parsed = reqwest::Url::parse(url).map_err(|error| error.to_string())?;
    match parsed.scheme() {
        "http" | "https" if parsed.has_host() => Ok(()),
        scheme => Err(format!("it needs http or https and a host, not {scheme}:")),
    }
}
