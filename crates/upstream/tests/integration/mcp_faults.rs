//! The proxy against a misbehaving stdio server.

use std::collections::BTreeMap;
use std::time::Duration;

use futures::FutureExt as _;
use serde_json::json;
use throughline_engine::failure::{UpstreamError, UpstreamFault};
use throughline_engine::tool::{ToolName, ToolOutput, Tools};
use throughline_testkit::scripted_mcp::{Era, Script, stdio};
use throughline_upstream::mcp::{InvalidServers, McpProxy, ServerConfig, ServerState, Transport};
use tokio_util::sync::CancellationToken;

use crate::is_running;

/// Far above what a loaded machine needs; no test waits for it to expire.
const AMPLE: Duration = Duration::from_secs(60);

pub(crate) fn config(script: Script) -> ServerConfig {
    let (program, args) = stdio::command("scripted_mcp_entry");
    let era = script.era;
    let script = serde_json::to_string(&script).unwrap();
    let env = BTreeMap::from([
        (stdio::SCRIPT_VARIABLE.to_owned(), script.into()),
        ("SECRET".to_owned(), "hunter2hunter2".into()),
    ]);
    let command = program.to_str().unwrap().to_owned();
    let mut config =
        ServerConfig::new("scripted", Transport::Stdio { command, args, env, cwd: None });
    (config.list_timeout, config.connect_timeout, config.call_timeout) = (AMPLE, AMPLE, AMPLE);
    config.probe_timeout = match era {
        // They never answer the probe in time, however long the wait.
        Era::OlderAndSilent | Era::OlderAndLate => Duration::from_millis(300),
        Era::Newer | Era::Older | Era::OlderAndFragile => AMPLE,
    };
    config
}

pub(crate) fn proxy(script: Script) -> McpProxy {
    McpProxy::new(vec![config(script)]).unwrap()
}

pub(crate) async fn call(
    proxy: &McpProxy,
    name: &str,
    arguments: serde_json::Value,
) -> Result<ToolOutput, UpstreamError> {
    let tool = ToolName { server: "scripted".into(), name: name.into() };
    proxy.call(&tool, &arguments, CancellationToken::new()).await
}

#[track_caller]
pub(crate) fn fails(
    outcome: Result<ToolOutput, UpstreamError>,
    fault: UpstreamFault,
    message: &str,
) {
    let error = outcome.unwrap_err();
    assert_eq!((error.fault, error.message.as_str()), (fault, message));
}

/// A signal was sent; the kernel may need a moment.
async fn all_end(pids: &[u64]) {
    let gone = async {
        while pids.iter().any(|pid| is_running(*pid)) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(AMPLE, gone).await.unwrap();
}

pub(crate) async fn version(proxy: &McpProxy) -> String {
    match proxy.status().await.remove(0).state {
        ServerState::Connected { protocol_version } => protocol_version,
        other => panic!("not connected: {other:?}"),
    }
}

#[tokio::test]
async fn all_eras_of_servers_are_listed_and_called() {
    let eras = [
        (Era::Newer, "2026-07-28"),
        (Era::Older, "2025-11-25"),
        (Era::OlderAndSilent, "2025-11-25"),
        (Era::OlderAndFragile, "2025-11-25"),
        (Era::OlderAndLate, "2025-11-25"),
    ];
    for (era, expected) in eras {
        let proxy = proxy(Script { era, page: Some(3), noisy: true, ..Script::default() });
        let listing = proxy.list().await;
        assert_eq!(listing.unavailable, [], "{era:?}");
        let names: Vec<&str> = listing.tools.iter().map(|tool| tool.tool.name.as_str()).collect();
        assert_eq!(names.len(), 10, "{era:?}: {names:?}");
        assert_eq!(names[..2], ["echo", "fail"]);
        assert_eq!(listing.tools[0].effects.read_only, Some(true));
        let output = call(&proxy, "echo", json!({"a": [1, "ü"]})).await.unwrap();
        assert_eq!(
            output,
            ToolOutput {
                text: "{\"a\":[1,\"ü\"]}".into(),
                json: Some(json!({"a": [1, "ü"]})),
                ..ToolOutput::default()
            }
        );
        assert_eq!(version(&proxy).await, expected, "{era:?}");
        proxy.shutdown().await;
    }
}

#[tokio::test]
async fn errors_of_the_tool_and_of_the_protocol_are_told_apart() {
    for era in [Era::Newer, Era::Older] {
        let proxy = proxy(Script { era, ..Script::default() });
        let output = call(&proxy, "fail", json!({})).await.unwrap();
        assert_eq!((output.text.as_str(), output.is_error), ("it did not work", true));
        fails(
            call(&proxy, "refuse", json!({})).await,
            UpstreamFault::Failed,
            "the server is not well",
        );
        fails(call(&proxy, "none", json!({})).await, UpstreamFault::Rejected, "unknown tool");
        fails(
            call(&proxy, "echo", json!([1])).await,
            UpstreamFault::Rejected,
            "arguments must be an object",
        );
        proxy.shutdown().await;
    }
}

#[tokio::test]
async fn a_tool_that_asks_for_input_is_declined() {
    let proxy = proxy(Script::default());
    fails(
        call(&proxy, "ask", json!({})).await,
        UpstreamFault::Failed,
        "the tool requests more input while running, which is not supported",
    );
    proxy.shutdown().await;
}

#[tokio::test]
async fn a_call_without_an_answer_ends_at_the_limit_or_when_cancelled() {
    let mut config = config(Script::default());
    config.call_timeout = Duration::from_millis(200);
    let proxy = McpProxy::new(vec![config]).unwrap();
    fails(call(&proxy, "slow", json!({})).await, UpstreamFault::TimedOut, "no reply within 200 ms");

    let cancel = CancellationToken::new();
    cancel.cancel();
    let tool = ToolName { server: "scripted".into(), name: "slow".into() };
    fails(
        proxy.call(&tool, &json!({}), cancel).await,
        UpstreamFault::Cancelled,
        "the call was cancelled",
    );
    proxy.shutdown().await;
}

#[tokio::test]
async fn a_server_that_ends_fails_the_call_and_is_started_again_for_the_next() {
    let proxy = proxy(Script::default());
    let first = call(&proxy, "pids", json!({})).await.unwrap().json.unwrap();
    let failed = call(&proxy, "crash", json!({})).await.unwrap_err();
    assert_eq!(failed.fault, UpstreamFault::Unreachable);
    assert_eq!(failed.target, "tool scripted:crash");
    let second = call(&proxy, "pids", json!({})).await.unwrap().json.unwrap();
    assert_ne!(first["server"], second["server"]);
    proxy.shutdown().await;
}

#[tokio::test]
async fn a_long_answer_is_cut_at_a_character_and_a_huge_one_ends_the_connection() {
    let mut config = config(Script::default());
    (config.output_bytes_max, config.message_bytes_max) = (1_001, 100_000);
    let proxy = McpProxy::new(vec![config]).unwrap();
    let whole = call(&proxy, "huge", json!({"bytes": 1_000})).await.unwrap();
    assert_eq!((whole.text.len(), whole.truncated), (1_000, false));
    let cut = call(&proxy, "huge", json!({"bytes": 50_000})).await.unwrap();
    assert_eq!((cut.text.len(), cut.truncated), (1_000, true));
    fails(
        call(&proxy, "huge", json!({"bytes": 500_000})).await,
        UpstreamFault::TooLarge,
        "it sent a message of more than 100000 bytes",
    );
    call(&proxy, "echo", json!({})).await.unwrap();
    proxy.shutdown().await;
}

#[tokio::test]
async fn changed_tools_are_listed_once_the_server_says_so() {
    for era in [Era::Newer, Era::Older] {
        let proxy = proxy(Script { era, ..Script::default() });
        let before = proxy.list().await.tools.remove(0);
        call(&proxy, "change", json!({})).await.unwrap();
        // The subscription of the current protocol opens concurrently with the first call; the notification may come later.
        let after = tokio::time::timeout(AMPLE, async {
            loop {
                let now = proxy.list().await.tools.remove(0);
                if now.fingerprint() != before.fingerprint() {
                    return now;
                }
                call(&proxy, "change", json!({})).await.unwrap();
                tokio::task::yield_now().await;
            }
        });
        let after = after.await.unwrap();
        assert_eq!(after.description, "Answers its arguments, and something else.", "{era:?}");
        proxy.shutdown().await;
    }
}

#[tokio::test]
async fn lists_beyond_the_limits_are_cut_or_refused() {
    let mut few = config(Script::default());
    few.tools_max = 4;
    let listing = McpProxy::new(vec![few]).unwrap().list().await;
    assert_eq!(listing.tools.len(), 4);
    let listing = proxy(Script { description_bytes: 70_000, ..Script::default() }).list().await;
    assert_eq!(listing.tools, []);
    let listing = proxy(Script { doubled: true, ..Script::default() }).list().await;
    assert_eq!(listing.tools.len(), 10);
    for era in [Era::Older, Era::Newer] {
        let script = Script { malformed: true, era, ..Script::default() };
        let listing = proxy(script).list().await;
        assert_eq!(listing.tools.len(), 10, "{era:?}: {:?}", listing.unavailable);
    }
    let listing = proxy(Script { endless_list: true, ..Script::default() }).list().await;
    assert_eq!(listing.unavailable, [("scripted".into(), "more than 100 pages of tools".into())]);
}

#[tokio::test]
async fn an_unavailable_server_is_named_and_the_others_are_listed() {
    let mut silent = ServerConfig::stdio("silent", "sleep", ["600"]);
    silent.connect_timeout = Duration::from_millis(200);
    let missing = ServerConfig::stdio("missing", "no-such-program-anywhere", ["x"]);
    let proxy = McpProxy::new(vec![missing, config(Script::default()), silent]).unwrap();
    for _ in 0..2 {
        let listing = proxy.list().await;
        assert_eq!(listing.tools.len(), 10);
        let [missing, silent] = &listing.unavailable[..] else {
            panic!("{:?}", listing.unavailable)
        };
        assert_eq!(missing.0, "missing");
        assert!(
            missing.1.starts_with("cannot start \"no-such-program-anywhere\": "),
            "{}",
            missing.1
        );
        assert_eq!(*silent, ("silent".into(), "it did not start in time".into()));
    }
    let states: Vec<bool> = (proxy.status().await.iter())
        .map(|status| matches!(status.state, ServerState::Failed { .. }))
        .collect();
    assert_eq!(states, [true, false, true]);
    proxy.shutdown().await;
}

#[tokio::test]
async fn a_list_that_does_not_come_is_waited_for_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("unlisted");
    std::fs::write(&file, "").unwrap();
    let mut config = config(Script { unlisted_by: Some(file.clone()), ..Script::default() });
    config.list_timeout = Duration::from_millis(400);
    // Listing is given up after a while, so that another attempt follows.
    config.call_timeout = Duration::from_millis(800);
    let proxy = McpProxy::new(vec![config]).unwrap();
    call(&proxy, "echo", json!({})).await.unwrap();
    let [(_, reason)] = &proxy.list().await.unavailable[..] else { panic!("it has a list") };
    assert_eq!(reason, "it has not listed its tools within 400 ms");
    let again = proxy.list().now_or_never().expect("nobody waits a second time");
    assert_eq!(again.unavailable.len(), 1);
    let ServerState::Failed { reason } = proxy.status().await.remove(0).state else {
        panic!("it is not told as failed")
    };
    assert!(reason.starts_with("it "), "{reason}");

    std::fs::remove_file(file).unwrap();
    let listed = async {
        while proxy.list().await.tools.is_empty() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(AMPLE, listed).await.unwrap();
    assert_eq!(version(&proxy).await, "2026-07-28");
    proxy.shutdown().await;
}

#[tokio::test]
async fn a_child_sees_only_its_own_variables_and_no_process_of_its_group_outlives_the_proxy() {
    let proxy = proxy(Script { grandchild: true, ..Script::default() });
    let names = call(&proxy, "environment", json!({})).await.unwrap().text;
    let names: Vec<&str> = names.split(' ').collect();
    assert!(names.contains(&"SECRET") && names.contains(&"PATH"), "{names:?}");
    assert!(!names.iter().any(|name| name.starts_with("CARGO")), "{names:?}");

    let pids = call(&proxy, "pids", json!({})).await.unwrap().json.unwrap();
    let pids = [pids["server"].as_u64().unwrap(), pids["grandchild"].as_u64().unwrap()];
    assert_eq!(pids.map(is_running), [true, true]);
    proxy.shutdown().await;
    all_end(&pids).await;
    fails(
        call(&proxy, "echo", json!({})).await,
        UpstreamFault::Cancelled,
        "the proxy is shut down",
    );
}

#[tokio::test]
async fn dropping_the_proxy_ends_its_children_too() {
    let proxy = proxy(Script { grandchild: true, ..Script::default() });
    let pids = call(&proxy, "pids", json!({})).await.unwrap().json.unwrap();
    let pids = [pids["server"].as_u64().unwrap(), pids["grandchild"].as_u64().unwrap()];
    drop(proxy);
    all_end(&pids).await;
}

#[test]
fn names_that_clash_or_cannot_be_shown_are_refused() {
    let check = |names: &[&str]| {
        let configs = names.iter().map(|name| ServerConfig::stdio(*name, "x", ["y"])).collect();
        McpProxy::new(configs).err()
    };
    assert_eq!(check(&["a", "b"]), None);
    assert_eq!(check(&["a", "b", "a"]), Some(InvalidServers::SameName("a".into())));
    assert_eq!(check(&["a b"]), Some(InvalidServers::Name("a b".into())));
    let address =
        McpProxy::new(vec![ServerConfig::http("a", "ftp://host/?key=secret")]).err().unwrap();
    assert_eq!(
        address.to_string(),
        "the address of the MCP server a is not valid: it needs http or https and a host, not ftp:"
    );
    let secret = format!("{:?}", config(Script::default()));
    assert!(!secret.contains("hunter2"), "{secret}");
}

#[tokio::test]
async fn a_server_that_cannot_start_is_told_with_what_it_wrote_last() {
    let script =
        "for n in 1 2 3 4 5 6; do echo \"line $n\" >&2; done; echo \"no key $SECRET\" >&2; exit 3";
    let env = BTreeMap::from([("SECRET".to_owned(), "hunter2hunter2".into())]);
    let args = vec!["-c".to_owned(), script.to_owned()];
    let transport = Transport::Stdio { command: "sh".into(), args, env, cwd: None };
    let mut config = ServerConfig::new("broken", transport);
    (config.list_timeout, config.connect_timeout) = (AMPLE, AMPLE);
    let proxy = McpProxy::new(vec![config]).unwrap();
    let (_, said) = proxy.list().await.unavailable.remove(0);
    assert!(
        said.contains("its last output: line 3 | line 4 | line 5 | line 6 | no key "),
        "{said}"
    );
    assert!(!said.contains("hunter2"), "{said}");
}

/// A server in a few lines of shell, whose answers are texts: a JSON value cannot have such a number.
const NUMBERS: &str = r#"
while read -r line; do
  id=$(printf %s "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*) result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"n","version":"1"}}';;
    *'"tools/list"'*) result='{"tools":[{"name":"number","inputSchema":{"type":"object"}}]}';;
    *'"tools/call"'*) result='{"content":[],"structuredContent":{"id":18446744073709551616,"share":0.30000000000000004}}';;
    *) result='';;
  esac
  case "$id$result" in
    '') ;;
    "$id") printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown"}}\n' "$id";;
    *) printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result";;
  esac
done
"#;

#[tokio::test]
async fn a_number_that_cannot_be_held_keeps_its_digits() {
    let mut config = config(Script::default());
    config.transport = Transport::Stdio {
        command: "sh".into(),
        args: vec!["-c".into(), NUMBERS.into()],
        env: BTreeMap::new(),
        cwd: None,
    };
    let proxy = McpProxy::new(vec![config]).unwrap();
    assert_eq!(proxy.list().await.tools.len(), 1);
    let output = call(&proxy, "number", json!({})).await.unwrap();
    let expected = json!({"id": "18446744073709551616", "share": 0.30000000000000004});
    assert_eq!(output.json, Some(expected));
    assert!(output.text.contains("18446744073709551616"), "{}", output.text);
}
