//! What the server says about itself.

use reqwest::Method;
use serde_json::json;

use crate::app::{TestApp, send};

#[tokio::test]
async fn health_names_the_store_and_what_it_promises() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", folder.path().join("t.db").display());
    let app = TestApp::builder().set(|config| config.store.url = url).start().await;
    let health = app.get("/health").await.expect(200);
    assert_eq!(health["status"], "ok");
    assert_eq!(health["store"]["backend"], "sqlite");
    assert_eq!(health["store"]["durability"], "fsync");
    assert_eq!(health["models"], json!([]));
    app.post("/chat", json!({"message": "hello"})).await.expect(200);
    let health = app.get("/health").await.expect(200);
    assert_eq!(health["context"]["turns"], 1);
    assert!(health["context"]["last_share"].as_f64().unwrap() > 0.0);
}

#[tokio::test]
async fn memory_and_metrics_are_counted() {
    let app = TestApp::start().await;
    app.post("/conversations", json!({"id": "a"})).await.expect(201);
    for _ in 0..2 {
        app.get("/conversations/a").await.expect(200);
    }
    let stats = app.get("/memory/stats").await.expect(200);
    assert!(stats["hits"].as_u64().unwrap() >= 1, "{stats}");
    let metrics = send(app.request(Method::GET, "/metrics")).await;
    assert_eq!(metrics.status, 200);
    let line =
        "throughline_http_requests_total{method=\"GET\",route=\"/api/v1/conversations/{id}\"";
    assert!(metrics.text.contains(line), "{}", metrics.text);
    let off = TestApp::builder().set(|config| config.telemetry.enabled = false).start().await;
    assert_eq!(send(off.request(Method::GET, "/metrics")).await.code(), "telemetry_off");
}

#[tokio::test]
async fn the_published_interface_is_this() {
    let app = TestApp::start().await;
    let document = send(app.request(Method::GET, "/api/openapi.json")).await.expect(200);
    insta::assert_json_snapshot!("openapi", document);
}

#[tokio::test]
async fn every_answer_has_a_request_id() {
    let app = TestApp::start().await;
    assert!(app.get("/health").await.headers.contains_key("x-request-id"));
    assert!(app.get("/nothing").await.headers.contains_key("x-request-id"));
}

#[tokio::test]
async fn more_requests_than_allowed_are_turned_away() {
    let app = TestApp::builder().set(|config| config.server.requests_at_once_max = 1).start().await;
    let place = app.app.places().acquire().await.unwrap();
    let answer = app.get("/conversations").await;
    assert_eq!((answer.status, answer.code()), (503, "busy".to_owned()));
    assert_eq!(answer.headers["retry-after"], "1");
    drop(place);
    assert_eq!(app.get("/conversations").await.status, 200);
}
