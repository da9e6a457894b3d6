//! `/users/{id}`: everything of one user goes or is handed over, and nothing of another.

use reqwest::Method;
use serde_json::{Value, json};
use throughline_engine::access::Grants;

use crate::app::{Answer, TestApp, send};

async fn call(app: &TestApp, key: &str, method: Method, path: &str, body: Value) -> Answer {
    let request = app.request(method, &format!("/api/v1{path}")).header("x-api-key", key);
    send(if body.is_null() { request } else { request.json(&body) }).await
}

async fn fill(app: &TestApp, key: &str) {
    let post = async |path: &str, body: Value| call(app, key, Method::POST, path, body).await;
    post("/conversations", json!({"id": "s"})).await.expect(201);
    let turn = json!({"message": "I'm allergic to nuts.", "reply": "Noted."});
    post("/conversations/s/turns", turn).await.expect(201);
    post("/memories", json!({"text": "My rack is R42"})).await.expect(201);
    let file = json!({"command": "create", "path": "/memories/a.md", "file_text": "north"});
    post("/memories/tool", file).await.expect(200);
}

#[tokio::test]
async fn an_administrator_hands_over_and_erases_a_user_and_nobody_else_can() {
    let app = TestApp::start().await;
    let ann = app.key("acme", "ann", Grants::Write).await;
    let ben = app.key("acme", "ben", Grants::Write).await;
    let admin = app.key("acme", "root", Grants::Admin).await;
    let foreign = app.key("other", "root", Grants::Admin).await;
    fill(&app, &ann).await;
    fill(&app, &ben).await;
    let (get, delete) = (Method::GET, Method::DELETE);
    let none = Value::Null;
    call(&app, &ben, get.clone(), "/users/ann/export", none.clone()).await.expect(403);
    let erase = "/users/ann?confirm=ann";
    call(&app, &ben, delete.clone(), erase, none.clone()).await.expect(403);
    // Another tenant's user of that name is somebody else.
    call(&app, &foreign, delete.clone(), erase, none.clone()).await.expect(404);
    call(&app, &admin, delete.clone(), "/users/ann", none.clone()).await.expect(400);
    call(&app, &admin, delete.clone(), "/users/nobody?confirm=nobody", none.clone())
        .await
        .expect(404);

    let export = call(&app, &admin, get.clone(), "/users/ann/export", none.clone()).await;
    assert_eq!(export.headers["content-type"], "application/x-ndjson");
    let lines: Vec<Value> =
        export.text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<&str> = lines.iter().map(|line| line["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["user", "memory", "memory", "file", "session"], "{}", export.text);

    let erased = call(&app, &admin, delete.clone(), erase, none.clone()).await.expect(200);
    let counted = ["sessions", "memories", "files", "keys"].map(|name| erased[name].as_u64());
    assert_eq!(counted, [Some(1), Some(2), Some(1), Some(1)], "{erased}");
    call(&app, &ann, get.clone(), "/memories", none.clone()).await.expect(401);
    call(&app, &admin, delete.clone(), erase, none.clone()).await.expect(404);
    let left = call(&app, &ben, get.clone(), "/memories", none.clone()).await.expect(200);
    assert_eq!(left["total"], 2);

    // What was handed over can be brought in again.
    let session = lines[4]["session"].clone();
    call(&app, &ben, Method::POST, "/import?id=again", session).await.expect(201);
    // Users may erase themselves.
    let own = call(&app, &ben, delete, "/users/ben?confirm=ben", none).await.expect(200);
    assert_eq!(own["sessions"], 2);
}
