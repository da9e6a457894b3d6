//! The proxy against third-party servers, with both protocols and over both transports.
//!
//! `scripts/setup/mcp-peers.sh` installs them and names them in the environment.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use throughline_engine::tool::{MediaKind, ToolName, ToolOutput, Tools};
use throughline_upstream::mcp::{McpProxy, ServerConfig, ServerState, Transport};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio_util::sync::CancellationToken;

const OLDER: &str = "2025-11-25";
const NEWER: &str = "2026-07-28";

/// The value of a variable; prints what is skipped without it.
fn needed(variable: &str, what: &str) -> Option<String> {
    let value = std::env::var(variable).ok();
    if value.is_none() {
        println!("skipped: {what} ({variable} is not set; see scripts/setup/mcp-peers.sh)");
    }
    value
}

fn peer(file: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/integration/peers");
    folder.join(file).to_str().unwrap().to_owned()
}

fn npm_server(name: &str, what: &str) -> Option<(String, Vec<String>)> {
    let node = needed("THROUGHLINE_TEST_NODE", what)?;
    let folder = PathBuf::from(needed("THROUGHLINE_TEST_NPM_DIR", what)?);
    let entry = folder.join("node_modules/@modelcontextprotocol").join(name).join("dist/index.js");
    Some((node, vec![entry.to_str().unwrap().to_owned()]))
}

fn patient(mut config: ServerConfig) -> McpProxy {
    let ample = Duration::from_secs(60);
    (config.list_timeout, config.connect_timeout, config.probe_timeout) = (ample, ample, ample);
    McpProxy::new(vec![config]).unwrap()
}

async fn call(proxy: &McpProxy, name: &str, arguments: Value) -> ToolOutput {
    let tool = ToolName { server: "peer".into(), name: name.into() };
    proxy.call(&tool, &arguments, CancellationToken::new()).await.unwrap()
}

async fn names(proxy: &McpProxy, version: &str) -> Vec<String> {
    let listing = proxy.list().await;
    assert_eq!(listing.unavailable, []);
    let state = proxy.status().await.remove(0).state;
    assert_eq!(state, ServerState::Connected { protocol_version: version.to_owned() });
    listing.tools.into_iter().map(|tool| tool.tool.name).collect()
}

/// Starts a server that prints its port.
async fn start(mut command: Command) -> (Child, String) {
    let mut child = command.stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
    let mut line = String::new();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.read_line(&mut line).await.unwrap();
    (child, format!("http://127.0.0.1:{}/mcp", line.trim()))
}

#[tokio::test]
async fn the_official_everything_server_is_spoken_to_in_the_older_era() {
    let Some((node, mut args)) = npm_server("server-everything", "server-everything") else {
        return;
    };
    args.push("stdio".to_owned());
    let proxy = patient(ServerConfig::stdio("peer", node, args));
    let names = names(&proxy, OLDER).await;
    assert!(names.iter().any(|name| name == "echo"), "{names:?}");
    let output = call(&proxy, "echo", json!({"message": "hällo"})).await;
    assert_eq!((output.text.as_str(), output.is_error), ("Echo: hällo", false));
    let image = call(&proxy, "get-tiny-image", json!({})).await;
    assert!(image.text.contains("[image image/png, about "), "{}", image.text);
    let media: Vec<_> = image.media.iter().map(|media| (media.kind, &*media.mime_type)).collect();
    assert_eq!(media, [(MediaKind::Image, "image/png")]);
    assert!(image.media[0].data.starts_with("iVBOR"), "a PNG in base64");
    let wrong = call(&proxy, "echo", json!({})).await;
    assert!(wrong.is_error, "{}", wrong.text);
    proxy.shutdown().await;
}

#[tokio::test]
async fn the_official_memory_server_keeps_what_it_is_told() {
    let Some((node, args)) = npm_server("server-memory", "server-memory") else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("memory.jsonl").to_str().unwrap().to_owned();
    let env = BTreeMap::from([("MEMORY_FILE_PATH".to_owned(), file.into())]);
    let transport = Transport::Stdio { command: node, args, env, cwd: None };
    let proxy = patient(ServerConfig::new("peer", transport));
    assert!(names(&proxy, OLDER).await.contains(&"create_entities".to_owned()));
    let entity = json!({"name": "fra1", "entityType": "site", "observations": ["in Frankfurt"]});
    call(&proxy, "create_entities", json!({"entities": [entity]})).await;
    let graph = call(&proxy, "read_graph", json!({})).await.json.unwrap();
    assert_eq!(graph["entities"][0]["observations"], json!(["in Frankfurt"]));
    proxy.shutdown().await;
}

async fn speaks_newer(proxy: McpProxy) {
    assert_eq!(names(&proxy, NEWER).await, ["add", "fail"]);
    assert_eq!(
        call(&proxy, "add", json!({"a": 2, "b": 40})).await.json,
        Some(json!({"result": 42}))
    );
    let failed = call(&proxy, "fail", json!({})).await;
    assert!(failed.is_error, "{failed:?}");
    proxy.shutdown().await;
}

#[tokio::test]
async fn the_official_python_sdk_is_spoken_to_in_the_newer_era() {
    let Some(python) = needed("THROUGHLINE_TEST_PYTHON", "the Python SDK over stdio") else {
        return;
    };
    // Loading the SDK for the first time can take longer than the probe timeout.
    let loaded = Command::new(&python).args(["-c", "import mcp.server.mcpserver"]).status().await;
    assert!(loaded.unwrap().success());
    let args = [peer("newer.py"), "stdio".to_owned()];
    speaks_newer(patient(ServerConfig::stdio("peer", python, args))).await;
}

#[tokio::test]
async fn the_official_python_sdk_is_spoken_to_in_the_newer_era_over_http() {
    let Some(python) = needed("THROUGHLINE_TEST_PYTHON", "the Python SDK over HTTP") else {
        return;
    };
    let mut command = Command::new(python);
    command.arg(peer("newer.py")).arg("http");
    let (_child, url) = start(command).await;
    speaks_newer(patient(ServerConfig::http("peer", url))).await;
}

#[tokio::test]
async fn the_official_typescript_sdk_is_spoken_to_in_the_older_era_over_http() {
    let what = "the TypeScript SDK over HTTP";
    let Some(node) = needed("THROUGHLINE_TEST_NODE", what) else { return };
    let Some(npm) = needed("THROUGHLINE_TEST_NPM_DIR", what) else { return };
    let mut command = Command::new(node);
    command.arg(peer("older_http.cjs")).env("NODE_PATH", Path::new(&npm).join("node_modules"));
    let (_child, url) = start(command).await;
    let proxy = patient(ServerConfig::http("peer", url));
    assert_eq!(names(&proxy, OLDER).await, ["hello"]);
    assert_eq!(call(&proxy, "hello", json!({})).await.text, "hello");
    proxy.shutdown().await;
}
