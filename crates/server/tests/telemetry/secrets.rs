//! The log at its most talkative, searched for everything that must not be in it.

use serde_json::json;
use throughline_testkit::scripted_mcp::Script;
use throughline_testkit::scripted_mcp::http::{Gate, HttpServer};
use throughline_testkit::scripted_model::{ScriptedModel, Turn};
use throughline_testkit::served::{Launch, Served};
use throughline_testkit::trust;

const MESSAGE: &str = "canary-message-4711";
const REPLY: &str = "canary-reply-4712";
const ARGUMENT: &str = "canary-argument-4713";
const URL_TOKEN: &str = "canary-token-4714";
const DEAD_TOKEN: &str = "canary-token-4715";
const PATH_TOKEN: &str = "canary-in-the-path-4716";
const HEADER: &str = "canary-header-4717";
const QUERY: &str = "canary-query-4718";
const MODEL_KEY: &str = "canary-key-4719";

#[tokio::test]
async fn nothing_that_was_said_called_or_entrusted_is_in_the_log_at_any_level() {
    let tools = HttpServer::start(Script::default(), Gate::Open).await;
    let call = Turn::call("c1", "inventory__echo", &json!({"word": ARGUMENT}).to_string());
    let model = ScriptedModel::playing([call, Turn::text(REPLY)]).await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("throughline.toml");
    let dead = "http://127.0.0.1:9";
    let config = format!(
        "[servers.inventory]\nurl = \"{}?token={URL_TOKEN}\"\nheaders = {{ authorization = \"Bearer {HEADER}\" }}\n\
         [servers.dead]\nurl = \"{dead}/mcp?token={DEAD_TOKEN}\"\n\
         [servers.path]\nurl = \"{dead}/{PATH_TOKEN}/mcp\"\n",
        tools.url()
    );
    std::fs::write(&file, config).unwrap();
    let launch = Launch::new(env!("CARGO_BIN_EXE_throughline"), "memory:")
        .with("THROUGHLINE_CONFIG", file.to_string_lossy())
        .with("THROUGHLINE_LOG__FILTER", "trace")
        .with("OPENAI_BASE_URL", model.openai_url())
        .with("OPENAI_API_KEY", MODEL_KEY)
        .with("THROUGHLINE_MODELS__OPENAI", "scripted-1");
    let served = Served::start(&launch).await;
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let body = json!({"conversation_id": "s1", "message": MESSAGE});
    let answer = client.post(served.url("/chat")).json(&body).send().await.unwrap();
    let answer: serde_json::Value = answer.json().await.unwrap();
    assert_eq!(answer["reply"], REPLY, "{answer}");
    assert_eq!(answer["tools_used"], json!(["inventory:echo"]), "{answer}");
    let found = client.get(served.url(&format!("/search?q={QUERY}"))).send().await.unwrap();
    assert!(found.status().is_success());
    let share = client.post(served.url("/conversations/s1/shares")).json(&json!({})).send().await;
    let share: serde_json::Value = share.unwrap().json().await.unwrap();
    let link = share["token"].as_str().unwrap().to_owned();
    let shown = client.get(served.url(&format!("/shared/{link}"))).send().await.unwrap();
    assert!(shown.status().is_success());
    let mistyped = client.get(served.url(&format!("/share/{link}"))).send().await.unwrap();
    assert_eq!(mistyped.status().as_u16(), 404);
    let listed: serde_json::Value =
        client.get(served.url("/tools")).send().await.unwrap().json().await.unwrap();
    let unavailable = listed["unavailable"].to_string();
    assert!(unavailable.contains("dead"), "the dead servers were tried: {listed}");
    let log = served.log();
    assert!(log.contains("TRACE") || log.contains("DEBUG"), "the log is talkative: {log}");
    let secrets = [
        ("a message", MESSAGE),
        ("a reply", REPLY),
        ("an argument", ARGUMENT),
        ("a token in a URL", URL_TOKEN),
        ("a token in a URL", DEAD_TOKEN),
        ("a token in a path", PATH_TOKEN),
        ("a header", HEADER),
        ("a query", QUERY),
        ("a model's key", MODEL_KEY),
        ("the token of a link", &link),
    ];
    let mut wrong = Vec::new();
    for (what, secret) in secrets {
        let line = log.lines().find(|line| line.contains(secret));
        wrong.extend(line.map(|line| format!("{what} is in the log: {line}")));
        if unavailable.contains(secret) {
            wrong.push(format!("{what} is in an answer: {unavailable}"));
        }
    }
    trust::settle("secrets at TRACE", "log and answers", secrets.len() as u64, &wrong);
}
