//! Keys, scopes and the walls between tenants.

use std::net::IpAddr;

use reqwest::Method;
use serde_json::json;
use throughline::access::Gate;
use throughline_engine::access::Grants;

use crate::app::{TestApp, send};

#[tokio::test]
async fn once_there_is_a_key_nobody_comes_in_without_one() {
    let app = TestApp::start().await;
    let key = app.key("acme", "ann", Grants::Write).await;
    let none = app.get("/conversations").await;
    assert_eq!((none.status, none.code()), (401, "key_needed".to_owned()));
    let last = if key.ends_with('0') { '1' } else { '0' };
    let other = format!("{}{last}", &key[..key.len() - 1]);
    for wrong in ["nonsense".to_owned(), other, key.to_uppercase()] {
        let headers = [("authorization", format!("Bearer {wrong}"))];
        let headers = headers.each_ref().map(|(name, value)| (*name, value.as_str()));
        let answer = app.post_with("/conversations", json!({}), &headers).await;
        assert_eq!((answer.status, answer.code()), (401, "key_invalid".to_owned()));
        assert!(!answer.text.contains(&wrong));
    }
    let bearer = format!("Bearer {key}");
    app.post_with("/conversations", json!({}), &[("authorization", &bearer)]).await.expect(201);
    app.post_with("/conversations", json!({}), &[("x-api-key", &key)]).await.expect(201);
    let basic = app.post_with("/conversations", json!({}), &[("authorization", "Basic x")]).await;
    assert_eq!(basic.code(), "key_invalid");
    let stranger = app.get("/health").await.expect(200);
    assert_eq!(stranger["store"]["location"], "shown with a key");
    let known = app.request(Method::GET, "/api/v1/health").header("x-api-key", &key);
    let known = send(known).await.expect(200);
    assert_ne!(known["store"]["location"], "shown with a key");
}

#[tokio::test]
async fn a_revoked_key_is_refused_at_once() {
    let app = TestApp::start().await;
    let key = app.key("acme", "ann", Grants::Write).await;
    app.post_with("/conversations", json!({}), &[("x-api-key", &key)]).await.expect(201);
    let id = key.split('_').nth(1).unwrap();
    app.app.gate().revoke(id).await.unwrap();
    let answer = app.post_with("/conversations", json!({}), &[("x-api-key", &key)]).await;
    assert_eq!(answer.code(), "key_invalid");
    assert_eq!(app.get("/conversations").await.code(), "key_needed", "and it is not open again");
}

#[tokio::test]
async fn a_scope_allows_what_it_says_and_no_more() {
    let app = TestApp::builder().demo().start().await;
    let read = app.key("acme", "ann", Grants::Read).await;
    let write = app.key("acme", "ann", Grants::Write).await;
    let admin = app.key("acme", "ann", Grants::Admin).await;
    let create = |key: String| {
        let app = &app;
        async move { app.post_with("/conversations", json!({}), &[("x-api-key", &key)]).await }
    };
    assert_eq!(create(read.clone()).await.code(), "forbidden");
    create(write.clone()).await.expect(201);
    let path = "/tools/inventory/list_sites/approve";
    let refused = app.post_with(path, json!({}), &[("x-api-key", &write)]).await;
    assert_eq!((refused.status, refused.code()), (403, "forbidden".to_owned()));
    app.post_with(path, json!({}), &[("x-api-key", &admin)]).await.expect(200);
    let listed = app.request(reqwest::Method::GET, "/api/v1/conversations");
    assert_eq!(send(listed.header("x-api-key", &read)).await.status, 200);
}

#[tokio::test]
async fn a_foreign_session_looks_like_one_that_is_not_there() {
    let app = TestApp::start().await;
    let ann = app.key("acme", "ann", Grants::Admin).await;
    for stranger in [("acme", "bob"), ("other", "ann")] {
        let other = app.key(stranger.0, stranger.1, Grants::Admin).await;
        let id = format!("{}-{}", stranger.0, stranger.1);
        app.post_with("/conversations", json!({ "id": id }), &[("x-api-key", &ann)])
            .await
            .expect(201);
        for (method, tail, body) in [
            ("GET", "", None),
            ("GET", "/history", None),
            ("GET", "/turns/1", None),
            ("GET", "/turns/1/context", None),
            ("GET", "/turns/1/request", None),
            ("GET", "/export", None),
            ("GET", "/context", None),
            ("GET", "/entities", None),
            ("GET", "/workflows", None),
            ("DELETE", "", None),
            ("DELETE", "/permanent", None),
            ("DELETE", "/turns/1?confirm=1", None),
            ("PATCH", "", Some(json!({"title": "x"}))),
            ("POST", "/turns", Some(json!({"message": "m", "reply": "r"}))),
            ("POST", "/prepare", Some(json!({"message": "m"}))),
            ("POST", "/fork", Some(json!({}))),
            ("POST", "/approvals/x", Some(json!({"approve": true}))),
        ] {
            let ask = |id: &str| {
                let path = format!("/api/v1/conversations/{id}{tail}");
                let mut request = app.request(method.parse().unwrap(), &path);
                if let Some(body) = &body {
                    request = request.json(body);
                }
                send(request.header("x-api-key", &other))
            };
            let (foreign, unknown) = (ask(&id).await, ask("never-made").await);
            assert_eq!(foreign.status, 404, "{method} {tail}: {}", foreign.text);
            let expected = unknown.text.replace("never-made", &id);
            assert_eq!((foreign.status, foreign.text), (unknown.status, expected), "{tail}");
        }
        let listed = app.request(reqwest::Method::GET, "/api/v1/conversations?inactive=true");
        let listed = send(listed.header("x-api-key", &other)).await.expect(200);
        assert_eq!(listed["conversations"], json!([]));
    }
}

#[tokio::test]
async fn other_machines_are_let_in_only_with_keys() {
    let app = TestApp::start().await;
    let everywhere: IpAddr = "0.0.0.0".parse().unwrap();
    let refused = Gate::open(app.keys.clone(), None, everywhere).await.map(|_| ()).unwrap_err();
    assert!(refused.message.contains("no API key"), "{}", refused.message);
    assert!(refused.hint.unwrap().contains("throughline key create"));
    app.key("acme", "ann", Grants::Read).await;
    let gate = Gate::open(app.keys.clone(), None, everywhere).await.unwrap();
    assert!(gate.caller(None).await.is_err());
}
