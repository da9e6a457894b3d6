//! The proxy against an HTTP server.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::json;
use throughline_engine::failure::UpstreamFault;
use throughline_engine::tool::{ToolName, Tools};
use throughline_testkit::scripted_mcp::http::{Gate, HttpServer};
use throughline_testkit::scripted_mcp::{Era, Script};
use throughline_upstream::mcp::{McpProxy, ServerConfig, ServerState, Transport};
use tokio_util::sync::CancellationToken;

/// Far above what a loaded machine needs; no test waits for it to expire.
const AMPLE: Duration = Duration::from_secs(60);
const KEY: &str = "Bearer sk-very-secret-value";

fn proxy(url: String) -> McpProxy {
    let headers = BTreeMap::from([("authorization".to_owned(), KEY.into())]);
    let mut config = ServerConfig::new("remote", Transport::Http { url, headers });
    (config.list_timeout, config.connect_timeout) = (AMPLE, AMPLE);
    McpProxy::new(vec![config]).unwrap()
}

fn tool(name: &str) -> ToolName {
    ToolName { server: "remote".into(), name: name.into() }
}

#[tokio::test]
async fn both_eras_are_spoken_over_http_with_our_headers() {
    for (era, expected) in [(Era::Newer, "2026-07-28"), (Era::Older, "2025-11-25")] {
        let server = HttpServer::start(Script { era, ..Script::default() }, Gate::Open).await;
        let proxy = proxy(server.url());
        let listing = proxy.list().await;
        assert_eq!((listing.tools.len(), listing.unavailable), (10, vec![]), "{era:?}");
        let output = proxy.call(&tool("echo"), &json!({"x": 1}), CancellationToken::new()).await;
        assert_eq!(output.unwrap().json, Some(json!({"x": 1})));
        let ServerState::Connected { protocol_version } = proxy.status().await.remove(0).state
        else {
            panic!("not connected");
        };
        assert_eq!(protocol_version, expected);
        assert!(server.seen().iter().all(|headers| headers["authorization"] == KEY));
        proxy.shutdown().await;
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed_so_our_headers_stay_with_the_origin() {
    let other = HttpServer::start(Script::default(), Gate::Open).await;
    for status in [301, 302, 307, 308] {
        let gate = Gate::Status(status, vec![("location", other.url())]);
        let server = HttpServer::start(Script::default(), gate).await;
        let proxy = proxy(server.url());
        let listing = proxy.list().await;
        assert_eq!(listing.unavailable.len(), 1, "{status}");
        assert!(!server.seen().is_empty(), "{status}");
    }
    assert_eq!(other.seen().len(), 0);
}

#[tokio::test]
async fn refusals_are_told_apart_and_show_no_secret() {
    let check = async |gate: Gate, fault: UpstreamFault, retry_after: Option<Duration>| {
        let server = HttpServer::start(Script::default(), gate).await;
        let url = format!("{}?token=another-secret", server.url());
        let failed = proxy(url).call(&tool("echo"), &json!({}), CancellationToken::new()).await;
        let error = failed.unwrap_err();
        assert_eq!((error.fault, error.retry_after), (fault, retry_after), "{error:?}");
        let shown = format!("{error} {error:?}");
        assert!(!shown.contains("secret"), "{shown}");
    };
    let challenge = vec![("www-authenticate", "Bearer".to_owned())];
    check(Gate::Status(401, challenge), UpstreamFault::Unauthorized, None).await;
    let later = vec![("retry-after", "7".to_owned())];
    check(Gate::Status(429, later), UpstreamFault::RateLimited, Some(Duration::from_secs(7))).await;
    check(Gate::Status(503, vec![]), UpstreamFault::Failed, None).await;

    let nobody = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp?token=another-secret", nobody.local_addr().unwrap());
    drop(nobody);
    let error =
        proxy(url).call(&tool("echo"), &json!({}), CancellationToken::new()).await.unwrap_err();
    assert_eq!(error.fault, UpstreamFault::Unreachable, "{error:?}");
    assert!(!format!("{error:?}").contains("secret"), "{error:?}");
}

#[tokio::test]
async fn an_endless_answer_ends_at_the_limit_in_whatever_form_it_comes() {
    const LIMIT: usize = 256 * 1024;
    for (status, kind) in [
        (200, "application/json"),
        (400, "application/json"),
        (400, "text/html"),
        (500, "application/json"),
        (200, "text/event-stream"),
    ] {
        let gate = Gate::EndlessCalls(status, kind);
        let server = HttpServer::start(Script::default(), gate).await;
        let transport = Transport::Http { url: server.url(), headers: BTreeMap::new() };
        let mut config = ServerConfig::new("remote", transport);
        (config.list_timeout, config.connect_timeout) = (AMPLE, AMPLE);
        config.message_bytes_max = LIMIT;
        let proxy = McpProxy::new(vec![config]).unwrap();
        let failed = proxy.call(&tool("echo"), &json!({}), CancellationToken::new()).await;
        let error = failed.expect_err("no such answer is one");
        // Includes what the socket buffers hold.
        let taken = server.endless_bytes();
        assert!(taken < LIMIT + 16 * 1024 * 1024, "{status} {kind}: {taken} bytes, {error}");
        if kind != "text/event-stream" {
            assert_eq!(error.fault, UpstreamFault::TooLarge, "{status} {kind}: {error:?}");
        }
        proxy.shutdown().await;
    }
}
