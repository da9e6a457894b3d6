//! A tool server whose schemas ask for endless work: its tools are refused by name, and nobody waits.

use serde_json::{Map, Value, json};
use throughline::config::ServerEntry;
use throughline_testkit::scripted_mcp::Script;
use throughline_testkit::scripted_mcp::http::{Gate, HttpServer};

use crate::app::TestApp;

/// A server all of whose tools have this schema, and an app that uses it.
async fn with_schema(schema: Value) -> (HttpServer, TestApp) {
    let script = Script { input_schema: Some(schema), ..Script::default() };
    let server = HttpServer::start(script, Gate::Open).await;
    let entry = ServerEntry { url: server.url(), ..ServerEntry::default() };
    let app = TestApp::builder().set(|config| {
        config.servers.insert("hostile".into(), entry);
    });
    let app = app.start().await;
    (server, app)
}

/// The chain of issue 20: 4 KB that mean 2^60 validations.
fn bomb(keyword: &str) -> Value {
    let definitions: Map<String, Value> = (0..60)
        .map(|at| {
            let next = json!({"$ref": format!("#/$defs/d{}", at + 1)});
            (format!("d{at}"), json!({keyword: [next, next]}))
        })
        .chain([("d60".to_owned(), json!({"type": "object"}))])
        .collect();
    json!({"type": "object", "$ref": "#/$defs/d0", "$defs": definitions})
}

async fn echo(app: &TestApp) -> Value {
    let listed = app.get("/tools").await.expect(200);
    let tools = listed["tools"].as_array().unwrap().clone();
    tools.into_iter().find(|tool| tool["name"] == "echo").expect("the tool is listed")
}

#[tokio::test]
async fn a_schema_bomb_is_refused_at_pinning_and_the_server_goes_on() {
    for keyword in ["allOf", "anyOf", "oneOf"] {
        let (_server, app) = with_schema(bomb(keyword)).await;
        let tool = echo(&app).await;
        assert_eq!(tool["approved"], false);
        let reason = tool["refused"].as_str().unwrap();
        assert!(reason.starts_with("its schema"), "{reason}");
        let approving = app.post("/tools/hostile/echo/approve", json!({})).await;
        assert_eq!((approving.status, approving.code()), (400, "invalid".to_owned()));
        assert!(approving.text.contains(reason), "{}", approving.text);
        let query = json!({"query": "echo the word hello"});
        let answer = app.post("/query", query).await.expect(200);
        assert_eq!(answer["success"], false, "{answer}");
    }
}

#[tokio::test]
async fn a_pattern_bomb_is_refused_too_and_a_plain_schema_is_not() {
    let pattern = json!({"type": "object", "properties": {"a": {"pattern": "((a{99}){99}){99}"}}});
    let (_server, app) = with_schema(pattern).await;
    assert!(echo(&app).await["refused"].as_str().unwrap().contains("pattern"));
    let plain = json!({"type": "object", "properties": {"a": {"pattern": "^[a-z]{1,63}$"}}});
    let (_server, app) = with_schema(plain).await;
    assert_eq!(echo(&app).await["approved"], true);
}
