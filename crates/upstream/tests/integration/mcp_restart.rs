//! A restarted server may be a different one.

use std::time::Duration;

use serde_json::json;
use throughline_engine::failure::UpstreamFault;
use throughline_engine::tool::Tools;
use throughline_testkit::scripted_mcp::http::{Gate, HttpServer};
use throughline_testkit::scripted_mcp::{Era, Script};
use throughline_upstream::mcp::{McpProxy, ServerConfig};

use crate::mcp_faults::{call, fails, proxy, version};

#[tokio::test]
async fn a_tool_that_changed_while_its_server_was_away_does_not_run_before_it_was_seen_again() {
    for era in [Era::Newer, Era::Older] {
        let folder = tempfile::tempdir().unwrap();
        let update = folder.path().join("update");
        let proxy = proxy(Script { era, changed_by: Some(update.clone()), ..Script::default() });
        let before = proxy.list().await.tools.remove(0);
        call(&proxy, "crash", json!({})).await.unwrap_err();
        call(&proxy, "echo", json!({})).await.expect("the same tool, after a restart");

        std::fs::write(&update, "").unwrap();
        call(&proxy, "crash", json!({})).await.unwrap_err();
        fails(
            call(&proxy, "echo", json!({})).await,
            UpstreamFault::Rejected,
            "its definition has changed since it was listed",
        );
        let after = proxy.list().await.tools.remove(0);
        assert_ne!(after.fingerprint(), before.fingerprint(), "{era:?}");
        call(&proxy, "echo", json!({})).await.expect("whoever calls has seen the new one");
        call(&proxy, "fail", json!({})).await.expect("the others did not change");
        proxy.shutdown().await;
    }
}

#[tokio::test]
async fn a_server_that_has_forgotten_our_session_is_spoken_to_anew_and_its_tools_are_seen_first() {
    for status in [404, 400] {
        let folder = tempfile::tempdir().unwrap();
        let update = folder.path().join("update");
        let script =
            Script { era: Era::Older, changed_by: Some(update.clone()), ..Script::default() };
        let server = HttpServer::start(script, Gate::Sessions(status)).await;
        let mut config = ServerConfig::http("scripted", server.url());
        // Long enough for any machine, and shorter than a test waits for one that hangs.
        config.call_timeout = Duration::from_secs(20);
        let proxy = McpProxy::new(vec![config]).unwrap();
        assert_eq!(proxy.list().await.tools.len(), 10, "{status}");
        server.forget();
        call(&proxy, "echo", json!({})).await.expect("the same tool, in another session");
        std::fs::write(&update, "").unwrap();
        server.forget();
        fails(
            call(&proxy, "echo", json!({})).await,
            UpstreamFault::Rejected,
            "its definition has changed since it was listed",
        );
        call(&proxy, "fail", json!({})).await.expect("the others did not change");
        proxy.shutdown().await;
    }
}

#[tokio::test]
async fn an_older_server_that_agrees_to_every_version_stays_of_the_older_era() {
    let proxy = proxy(Script { era: Era::Older, agrees: true, ..Script::default() });
    for _ in 0..3 {
        call(&proxy, "echo", json!({})).await.unwrap();
        assert_eq!(version(&proxy).await, "2025-11-25");
        call(&proxy, "crash", json!({})).await.unwrap_err();
    }
    proxy.shutdown().await;
}
