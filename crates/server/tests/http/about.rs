//! What the server says about itself.

use std::time::Duration;

use reqwest::Method;
use serde_json::json;

use throughline::telemetry::metrics::ALL;
use throughline_testkit::redis_server::RedisServer;

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

#[tokio::test]
async fn every_metric_is_described_and_known() {
    let app = TestApp::start().await;
    app.post("/chat", json!({"message": "hello"})).await.expect(200);
    send(app.request(Method::GET, "/metrics")).await;
    let text = send(app.request(Method::GET, "/metrics")).await.text;
    let mut kinds = 0;
    for line in text.lines().filter(|line| line.starts_with("# TYPE ")) {
        let (name, kind) = line["# TYPE ".len()..].split_once(' ').unwrap();
        let known = ALL.iter().find(|(_, known, _)| *known == name);
        let (known, _, help) = known.unwrap_or_else(|| panic!("{name} is not listed"));
        assert_eq!(format!("{known:?}").to_lowercase(), kind, "{name}");
        assert!(text.contains(&format!("# HELP {name} {help}")), "{name} is not described");
        kinds += 1;
    }
    assert!(kinds >= 8, "{text}");
    assert!(text.contains("throughline_turn_seconds_bucket{"), "{text}");
    assert!(text.contains("throughline_store_writable 1"), "{text}");
}

#[tokio::test]
async fn a_server_that_runs_is_live_and_one_that_can_write_is_ready() {
    let app = TestApp::start().await;
    for path in ["/health/live", "/health/ready", "/health", "/api/v1/health/ready"] {
        let answer = send(app.request(Method::GET, path)).await;
        assert_eq!(answer.expect(200)["status"], "ok", "{path}");
    }
}

#[tokio::test]
async fn a_server_whose_store_is_away_is_live_but_not_ready() {
    let Some(redis) = RedisServer::start().await else { return };
    let url = redis.url();
    let app = TestApp::builder().set(|config| config.store.url = url).start().await;
    send(app.request(Method::GET, "/health/ready")).await.expect(200);
    drop(redis);
    let not_ready = async {
        // The last answer holds for a second.
        while send(app.request(Method::GET, "/health/ready")).await.status == 200 {}
    };
    tokio::time::timeout(Duration::from_secs(20), not_ready).await.expect("it stays ready");
    let ready = send(app.request(Method::GET, "/health/ready")).await.expect(503);
    assert_eq!(ready["status"], "unavailable");
    assert!(!ready["reasons"][0].as_str().unwrap().is_empty());
    assert_eq!(app.get("/health").await.expect(503)["status"], "unavailable");
    send(app.request(Method::GET, "/health/live")).await.expect(200);
}
