//! Conversations: made, changed, copied, taken out and erased.

use reqwest::Method;
use serde_json::{Value, json};

use crate::app::{TestApp, send};

#[tokio::test]
async fn a_session_is_created_read_and_listed() {
    let app = TestApp::start().await;
    let created =
        app.post("/conversations", json!({"id": "one", "title": "T", "tags": ["a"]})).await;
    assert_eq!(created.headers["etag"], "\"1\"");
    let created = created.expect(201);
    assert_eq!(created["id"], "one");
    assert_eq!(created["version"], 1);
    assert_eq!(created["turns"], 0);
    let shown = app.get("/conversations/one").await;
    assert_eq!(shown.headers["etag"], "\"1\"");
    assert_eq!(shown.expect(200), created);
    let made = app.post("/conversations", json!({})).await.expect(201);
    assert_eq!(made["id"].as_str().unwrap().len(), 36);
    let listed = app.get("/conversations?limit=1").await.expect(200);
    assert_eq!(listed["conversations"][0]["id"], made["id"]);
    let cursor = listed["next_cursor"].as_str().unwrap();
    let listed = app.get(&format!("/conversations?limit=1&cursor={cursor}")).await.expect(200);
    assert_eq!(listed["conversations"][0]["id"], "one");
    assert_eq!(app.post("/conversations", json!({"id": "one"})).await.code(), "session_exists");
    let tagged = app.get("/conversations?tag=a").await.expect(200);
    assert_eq!(tagged["conversations"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_head_is_changed_only_at_the_version_that_was_seen() {
    let app = TestApp::start().await;
    app.post("/conversations", json!({"id": "a"})).await.expect(201);
    let change = |title: &str, version: &'static str| {
        let body = json!({ "title": title });
        let app = &app;
        async move {
            app.send_with(Method::PATCH, "/conversations/a", body, &[("if-match", version)]).await
        }
    };
    assert_eq!(change("first", "\"1\"").await.expect(200)["version"], 2);
    let stale = change("second", "\"1\"").await;
    assert_eq!((stale.status, stale.code()), (409, "version_conflict".to_owned()));
    assert_eq!(stale.json()["current_version"], 2);
    assert_eq!(change("third", "*").await.expect(200)["title"], "third");
    assert_eq!(change("fourth", "W/\"x\"").await.code(), "invalid");
    let cleared =
        app.send_with(Method::PATCH, "/conversations/a", json!({"title": null}), &[]).await;
    assert_eq!(cleared.expect(200)["title"], Value::Null);
}

#[tokio::test]
async fn a_deleted_session_takes_no_turns_and_can_be_restored() {
    let app = TestApp::start().await;
    app.post("/conversations", json!({"id": "a"})).await.expect(201);
    assert_eq!(app.delete("/conversations/a").await.expect(200)["active"], false);
    let turn = json!({"message": "m", "reply": "r"});
    let refused = app.post("/conversations/a/turns", turn.clone()).await;
    assert_eq!((refused.status, refused.code()), (409, "session_inactive".to_owned()));
    let listed = app.get("/conversations").await.expect(200);
    assert_eq!(listed["conversations"], json!([]));
    let restored =
        app.send_with(Method::PATCH, "/conversations/a", json!({"active": true}), &[]).await;
    assert_eq!(restored.expect(200)["active"], true);
    app.post("/conversations/a/turns", turn).await.expect(201);
}

#[tokio::test]
async fn an_erasure_counts_what_went() {
    let app = TestApp::start().await;
    app.post("/conversations", json!({"id": "a"})).await.expect(201);
    for _ in 0..3 {
        let turn = json!({"message": "m", "reply": "r"});
        app.post("/conversations/a/turns", turn).await.expect(201);
    }
    let erased = app.delete("/conversations/a/permanent").await.expect(200);
    assert_eq!((&erased["heads"], &erased["turns"]), (&json!(1), &json!(3)));
    assert!(erased["bytes"].as_u64().unwrap() > 0);
    assert_eq!(app.get("/conversations/a").await.code(), "no_session");
    assert_eq!(app.delete("/conversations/a/permanent").await.status, 404);
}

#[tokio::test]
async fn a_fork_begins_as_the_old_session_did() {
    let app = TestApp::start().await;
    app.post("/conversations", json!({"id": "a", "title": "T"})).await.expect(201);
    for number in 1..=3 {
        let turn = json!({"message": format!("m{number}"), "reply": "r"});
        app.post("/conversations/a/turns", turn).await.expect(201);
    }
    let fork = app.post("/conversations/a/fork", json!({"turn": 2, "id": "b"})).await.expect(201);
    assert_eq!(fork["turns"], 2);
    assert_eq!(fork["forked_from"], json!({"session": "a", "turn": 2}));
    let history = app.get("/conversations/b/history").await.expect(200);
    assert_eq!(history["turns"][1]["message"], "m2");
    assert_eq!(app.post("/conversations/a/fork", json!({"turn": 9})).await.code(), "no_turn");
}

#[tokio::test]
async fn an_export_comes_back_to_the_byte() {
    let app = TestApp::start().await;
    app.post("/conversations", json!({"id": "a", "title": "Té"})).await.expect(201);
    let turn = json!({"message": "m", "reply": "r", "metadata": {"k": [1, 2.5]},
        "tool_executions": [{"name": "t", "arguments": {"x": 1}, "result": {"y": 2}}]});
    app.post("/conversations/a/turns", turn).await.expect(201);
    let export = app.get("/conversations/a/export").await;
    assert_eq!(export.status, 200);
    app.delete("/conversations/a/permanent").await.expect(200);
    app.post_bytes("/import", export.text.clone()).await.expect(201);
    assert_eq!(app.get("/conversations/a/export?format=json").await.text, export.text);
    assert_eq!(app.post_bytes("/import", export.text.clone()).await.code(), "session_exists");
    app.post_bytes("/import?id=b", export.text).await.expect(201);
    let markdown = app.get("/conversations/b/export?format=markdown").await;
    assert_eq!(markdown.headers["content-type"], "text/markdown; charset=utf-8");
    assert!(markdown.text.contains("# Té") && markdown.text.contains("> m"));
}

#[tokio::test]
async fn items_are_added_and_removed_whatever_their_mode() {
    let app = TestApp::builder().demo().start().await;
    app.post("/conversations", json!({"id": "a"})).await.expect(201);
    let item = json!({"type": "reference", "name": "maintenance"});
    let added = app.post("/conversations/a/context", item.clone()).await.expect(200);
    let has = |items: &Value| {
        items["items"].as_array().unwrap().iter().any(|item| item["name"] == "maintenance")
    };
    assert!(has(&added));
    assert!(has(&app.get("/conversations/a/context").await.expect(200)));
    let removed = app.send_with(Method::DELETE, "/conversations/a/context", item, &[]).await;
    assert!(!has(&removed.expect(200)));
    let unknown = json!({"type": "rule", "name": "none"});
    assert_eq!(app.post("/conversations/a/context", unknown).await.code(), "missing");
    let nameless = json!({"type": "tool", "name": "list_sites"});
    assert_eq!(app.post("/conversations/a/context", nameless).await.code(), "invalid");
}

#[tokio::test]
async fn the_exports_of_chat_products_come_in_once_by_the_same_route() {
    let app = TestApp::start().await;
    let claude = json!([{"uuid": "u-1", "name": "Garden", "created_at": "2026-11-15T09:00:00Z",
        "chat_messages": [{"sender": "human", "text": "Roses in shade?"},
            {"sender": "assistant", "text": "Rather not."}]}]);
    let node = |parent: Option<&str>, children: &[&str], role: &str, text: &str| {
        json!({"parent": parent, "children": children, "message": {"author": {"role": role},
            "content": {"content_type": "text", "parts": [text]}, "recipient": "all"}})
    };
    let chatgpt = json!([{"title": "Bread", "conversation_id": "c-1", "current_node": "b",
        "mapping": {"a": node(None, &["b"], "user", "How long?"),
            "b": node(Some("a"), &[], "assistant", "Two hours.")}}]);
    for (file, title, tag) in
        [(&claude, "Garden", "from-claude"), (&chatgpt, "Bread", "from-chatgpt")]
    {
        let report = app.post("/import", file.clone()).await.expect(200);
        assert_eq!(report["imported"][0]["title"], title);
        let id = report["imported"][0]["id"].as_str().unwrap();
        let head = app.get(&format!("/conversations/{id}")).await.expect(200);
        assert_eq!((&head["turns"], &head["tags"][0]), (&json!(1), &json!(tag)));
        let again = app.post("/import", file.clone()).await.expect(200);
        assert_eq!((&again["imported"], &again["already_there"]), (&json!([]), &json!([id])));
    }
    let markdown = |path: &str| {
        let request = app.request(Method::POST, &format!("/api/v1{path}"));
        send(
            request
                .header("content-type", "text/markdown")
                .body("# Trip\n\n## User\n\nWhere?\n\n## Assistant\n\nThere.\n"),
        )
    };
    assert_eq!(markdown("/import").await.expect(200)["imported"][0]["turns"], 1);
    assert_eq!(app.post("/import?format=nothing", claude.clone()).await.code(), "invalid");
    assert_eq!(app.post("/import?format=chatgpt", claude.clone()).await.code(), "invalid");
    assert_eq!(app.post("/import?id=mine", claude).await.code(), "invalid");
    assert_eq!(app.post("/import", json!({"what": "ever"})).await.code(), "invalid");
    let many = Value::Array(vec![json!(1); 100_001]);
    assert_eq!(app.post("/import", many).await.code(), "too_many_elements");
}
