//! Read-only links on every backend: what a visitor sees, what they cannot tell, and that a revoked one opens nothing.

use reqwest::Method;
use serde_json::{Value, json};
use throughline_engine::access::Grants;
use throughline_testkit::redis_server::RedisServer;
use throughline_testkit::s3_server::S3Server;
use throughline_testkit::trust;

use crate::app::{Answer, TestApp, send};

async fn call(app: &TestApp, key: &str, method: Method, path: &str, body: Value) -> Answer {
    let request = app.request(method, &format!("/api/v1{path}")).header("x-api-key", key);
    send(if body.is_null() { request } else { request.json(&body) }).await
}

/// What somebody without a credential gets.
async fn visit(app: &TestApp, token: &str) -> Answer {
    app.get(&format!("/shared/{token}")).await
}

async fn shared_app(app: &TestApp) -> (String, Value) {
    let ann = app.key("acme", "ann", Grants::Write).await;
    let post = async |path: &str, body: Value| call(app, &ann, Method::POST, path, body).await;
    post("/conversations", json!({"id": "hidden-id", "title": "Rack 12"})).await.expect(201);
    let turn = json!({"message": "What is in rack 12?", "reply": "Two switches.", "metadata": {"note": "hidden-note"},
        "tool_executions": [{"server": "inventory", "name": "get_rack", "arguments": {"name": "hidden-argument"},
            "result": {"devices": "hidden-result"}}]});
    post("/conversations/hidden-id/turns", turn).await.expect(201);
    let share = post("/conversations/hidden-id/shares", json!({"expires_in_days": 1})).await;
    let share = share.expect(201);
    let later = json!({"message": "hidden-later", "reply": "ok"});
    post("/conversations/hidden-id/turns", later).await.expect(201);
    (ann, share)
}

async fn a_link_is_read_by_anybody_until_it_is_revoked(on: &str, app: &TestApp) {
    let (ann, share) = shared_app(app).await;
    let (id, token) = (share["id"].as_str().unwrap(), share["token"].as_str().unwrap());
    assert_eq!(share["path"], format!("/#/shared/{token}"));
    assert_eq!(share["up_to_turn"], 1);

    let answer = visit(app, token).await;
    assert_eq!(answer.headers["cache-control"], "no-store");
    assert_eq!(answer.headers["referrer-policy"], "no-referrer");
    assert_eq!(answer.headers["x-robots-tag"], "noindex");
    assert!(!answer.text.contains("hidden") && !answer.text.contains("ann"), "{}", answer.text);
    let shown = answer.expect(200);
    let at = shown["turns"][0]["at"].clone();
    assert_eq!(
        shown,
        json!({"title": "Rack 12", "up_to_turn": 1, "shared_at": share["created_at"],
            "expires_at": share["expires_at"], "next_cursor": null, "turns": [{
                "turn": 1, "at": at, "message": "What is in rack 12?", "reply": "Two switches.",
                "status": "complete", "tools_used": ["inventory:get_rack"]}]})
    );

    let list = "/conversations/hidden-id/shares";
    let listed = call(app, &ann, Method::GET, list, Value::Null).await;
    assert!(!listed.text.contains(token), "the token is shown once");
    let mut expected = share.clone();
    expected.as_object_mut().unwrap().retain(|name, _| name != "token" && name != "path");
    assert_eq!(listed.expect(200), json!({"shares": [expected]}));

    // Another user neither sees nor revokes it.
    let bob = app.key("acme", "bob", Grants::Admin).await;
    let one = format!("{list}/{id}");
    for (method, path) in [(Method::GET, list), (Method::DELETE, one.as_str())] {
        let refused = call(app, &bob, method, path, Value::Null).await;
        assert_eq!((refused.status, refused.code()), (404, "no_session".to_owned()));
    }
    visit(app, token).await.expect(200);

    let revoked = call(app, &ann, Method::DELETE, &one, Value::Null).await;
    assert_eq!(revoked.status, 200, "{}", revoked.text);
    let mut wrong = Vec::new();
    let dead = visit(app, token).await;
    if dead.status != 404 {
        wrong.push(format!("a revoked link answered {}: {}", dead.status, dead.text));
    }
    trust::settle("links", on, 1, &wrong);
    assert_eq!(dead.headers["cache-control"], "no-store");
    // One that was revoked, one that never was, and what is no token cannot be told apart.
    let never = format!("share_{}", "0".repeat(64));
    for other in [never.as_str(), "nonsense", id, "share_", &token.to_uppercase()] {
        let answer = visit(app, other).await;
        assert_eq!((answer.status, &answer.text), (404, &dead.text), "{other}");
    }
    assert_eq!(dead.code(), "no_share");
    assert_eq!(call(app, &ann, Method::DELETE, &one, Value::Null).await.status, 404);
}

async fn on_store(url: &str) -> TestApp {
    TestApp::builder().set(|config| config.store.url = url.into()).start().await
}

#[tokio::test]
async fn a_revoked_link_opens_nothing_on_local_stores() {
    let folder = tempfile::tempdir().unwrap();
    for kind in ["sqlite", "files"] {
        let url = format!("{kind}:{}", folder.path().join(kind).display());
        a_link_is_read_by_anybody_until_it_is_revoked(kind, &on_store(&url).await).await;
    }
    a_link_is_read_by_anybody_until_it_is_revoked("memory", &TestApp::start().await).await;
}

#[tokio::test]
async fn a_revoked_link_opens_nothing_on_remote_stores() {
    if let Some(redis) = RedisServer::start().await {
        a_link_is_read_by_anybody_until_it_is_revoked("redis", &on_store(&redis.url()).await).await;
    }
    if let Some(s3) = S3Server::weed().await {
        let app = on_store(&s3.url("links", "l")).await;
        a_link_is_read_by_anybody_until_it_is_revoked("s3", &app).await;
    }
}

#[tokio::test]
async fn what_cannot_be_shared_says_why() {
    let app = TestApp::start().await;
    app.post("/conversations", json!({"id": "a", "settings": {"private": true}})).await.expect(201);
    app.post("/conversations", json!({"id": "b"})).await.expect(201);
    for id in ["a", "b"] {
        let refused = app.post(&format!("/conversations/{id}/shares"), json!({})).await;
        assert_eq!((refused.status, refused.code()), (409, "not_shareable".to_owned()));
    }
    app.post("/conversations/b/turns", json!({"message": "m", "reply": "r"})).await.expect(201);
    let long = app.post("/conversations/b/shares", json!({"expires_in_days": 91})).await;
    assert_eq!((long.status, long.code()), (400, "invalid".to_owned()));
    let unknown = app.post("/conversations/never/shares", json!({})).await;
    assert_eq!((unknown.status, unknown.code()), (404, "no_session".to_owned()));
}
