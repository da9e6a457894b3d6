//! No secret is logged, at any level, by us or by our libraries.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use throughline_engine::tool::{ToolName, Tools};
use throughline_testkit::scripted_mcp::http::{Gate, HttpServer};
use throughline_testkit::scripted_mcp::{Script, stdio};
use throughline_testkit::scripted_model::{ScriptedModel, Turn};
use throughline_upstream::mcp::{McpProxy, ServerConfig, Transport};
use throughline_upstream::model::{ModelConfig, Provider, connect};
use tokio_util::sync::CancellationToken;

use crate::model::{events, question};

const SECRET: &str = "hunter2-and-then-some";

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Runs `work` and returns what was logged meanwhile. Tests run on one thread, so nothing escapes.
async fn logged(work: impl Future<Output = ()>) -> String {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    let guard = tracing::subscriber::set_default(subscriber);
    work.await;
    drop(guard);
    let bytes = log.0.lock().unwrap().clone();
    String::from_utf8(bytes).unwrap()
}

async fn use_tools(transport: Transport) {
    use_tools_of(ServerConfig::new("peer", transport)).await;
}

async fn use_tools_of(mut config: ServerConfig) {
    let ample = Duration::from_secs(60);
    (config.list_timeout, config.connect_timeout, config.probe_timeout) = (ample, ample, ample);
    let proxy = McpProxy::new(vec![config]).unwrap();
    proxy.list().await;
    let tool = ToolName { server: "peer".into(), name: "echo".into() };
    proxy.call(&tool, &json!({}), CancellationToken::new()).await.unwrap();
    proxy.shutdown().await;
}

#[tokio::test]
async fn a_child_that_prints_its_secret_does_not_bring_it_into_the_log() {
    let (program, args) = stdio::command("scripted_mcp_entry");
    let script = serde_json::to_string(&Script { noisy: true, ..Script::default() }).unwrap();
    let env = BTreeMap::from([
        (stdio::SCRIPT_VARIABLE.to_owned(), script.into()),
        ("SECRET".to_owned(), SECRET.into()),
    ]);
    let command = program.to_str().unwrap().to_owned();
    let transport = Transport::Stdio { command, args, env, cwd: None };
    let log = logged(use_tools(transport.clone())).await;
    assert!(!log.contains("eee"), "what a child says is logged only if that is asked for");
    let asked_for = ServerConfig { log_stderr: true, ..ServerConfig::new("peer", transport) };
    let log = logged(use_tools_of(asked_for)).await;
    assert!(log.contains("stderr of the MCP server: [redacted] eee"), "standard error is logged");
    assert!(!log.contains(SECRET));
    let longest = log.lines().map(str::len).max().unwrap();
    assert!(longest < 10_000, "a line of {longest} bytes");
}

#[tokio::test]
async fn headers_and_addresses_of_servers_are_not_logged() {
    let server = HttpServer::start(Script::default(), Gate::Open).await;
    let headers = BTreeMap::from([("authorization".to_owned(), format!("Bearer {SECRET}").into())]);
    let log = logged(use_tools(Transport::Http { url: server.url(), headers })).await;
    assert!(log.contains("connected to an MCP server"));
    assert!(!log.contains(SECRET));
    assert!(server.seen().iter().all(|headers| headers.contains_key("authorization")));
}

#[tokio::test]
async fn keys_prompts_and_replies_of_models_are_not_logged() {
    for provider in crate::model::BOTH {
        let turns = [Turn::refuse(503, SECRET), Turn::text("a-most-private-reply")];
        let server = ScriptedModel::playing(turns).await;
        let mut config = ModelConfig::new(provider, "test-model");
        config.base_url = match provider {
            Provider::Anthropic => server.anthropic_url(),
            Provider::OpenAi => server.openai_url(),
        };
        config.api_key = Some(SECRET.into());
        config.retry_delay = Duration::from_millis(1);
        let log = logged(async {
            let model = connect(config).unwrap();
            let (_, error) = events(&*model, &question("a-most-private-question")).await;
            assert!(error.is_none(), "{error:?}");
        })
        .await;
        assert!(log.contains("trying model"), "{log}");
        for secret in [SECRET, "a-most-private-reply", "a-most-private-question"] {
            assert!(!log.contains(secret), "{provider:?} logged {secret}");
        }
    }
}
