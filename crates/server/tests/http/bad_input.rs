//! Input that is wrong: a clear 4xx with the name of what is wrong, and nothing stored is harmed.

use reqwest::Method;
use serde_json::json;

use crate::app::{TestApp, send};

/// Sends raw bytes to a route and gives status, code and detail.
async fn check(
    app: &TestApp,
    path: &str,
    body: impl Into<reqwest::Body>,
    expected: (u16, &str, &str),
) {
    let answer = app.post_bytes(path, body).await;
    let (status, code, part) = expected;
    assert_eq!((answer.status, answer.code().as_str()), (status, code), "{}", answer.text);
    assert!(answer.text.contains(part), "{part:?} is not in {}", answer.text);
}

#[tokio::test]
async fn ids_that_break_the_rule_are_refused_everywhere() {
    let app = TestApp::start().await;
    let long = "x".repeat(300);
    for id in ["..", ".hidden", "a/b", "a\0b", "", long.as_str(), "sеssion", "a b", "a%2fb"] {
        let answer = app.post("/conversations", json!({ "id": id })).await;
        assert_eq!((answer.status, answer.code()), (400, "invalid_name".to_owned()), "{id:?}");
    }
    for path in ["%2e%2e", "a%00b", "a%2f..%2fb", &long, "s%D0%B5ssion", "%ff"] {
        for (method, tail) in [(Method::GET, ""), (Method::GET, "/history"), (Method::DELETE, "")] {
            let path = format!("/api/v1/conversations/{path}{tail}");
            let answer = send(app.request(method, &path)).await;
            assert!((400..500).contains(&answer.status), "{path}: {}", answer.text);
        }
    }
}

#[tokio::test]
async fn bodies_over_the_limits_are_refused() {
    let app = TestApp::start().await;
    let large = format!("{{\"title\":\"{}\"}}", "x".repeat(10 << 20));
    check(&app, "/conversations", large, (413, "body_too_large", "4194304")).await;
    let chunked = reqwest::Body::wrap_stream(futures::stream::iter(
        (0..12).map(|_| Ok::<_, std::io::Error>(vec![b'x'; 1 << 20])),
    ));
    let answer = app.post_bytes("/conversations", chunked).await;
    assert_eq!(answer.code(), "body_too_large");
    let many = format!("{{\"tags\":[{}1]}}", "1,".repeat(1_000_000));
    check(&app, "/conversations", many, (413, "too_many_elements", "100000")).await;
    let deep = "[".repeat(100_000);
    check(&app, "/conversations", deep, (400, "invalid_body", "127 levels")).await;
    let deep = format!("{{\"settings\":{{\"preferences\":{}{}}}}}", "{\"a\":".repeat(100_000), "}");
    check(&app, "/conversations", deep, (400, "invalid_body", "127 levels")).await;
    let title = json!({"title": "x".repeat(500)}).to_string();
    check(&app, "/conversations", title, (413, "over_limit", "title_characters_max")).await;
}

#[tokio::test]
async fn what_is_no_json_is_refused_with_the_place() {
    let app = TestApp::start().await;
    let utf8 = b"{\"title\":\"\xff\xfe\"}".to_vec();
    check(&app, "/conversations", utf8, (400, "invalid_body", "UTF-8 at byte 10")).await;
    for (body, part) in [
        ("", "EOF"),
        ("{", "line 1"),
        ("nonsense", "line 1"),
        ("{\"id\":\"a\"} x", "trailing"),
        ("{\"title\":1}", "string"),
        ("[]", "does not match this route"),
        ("{\"id\":\"a\",\"id\":\"b\"}", "duplicate field"),
        ("{\"colour\":1}", "unknown field `colour`"),
        ("{\"settings\":[null,null]}", "a list, not an object"),
        ("{\"settings\":{\"colour\":1}}", "unknown field `colour`"),
        ("{\"settings\":{\"context_tokens\":NaN}}", "line 1"),
        ("{\"settings\":{\"context_tokens\":-1}}", "-1"),
        ("{\"settings\":{\"context_tokens\":1e400}}", "the number 1e400 cannot"),
        ("{\"settings\":{\"context_tokens\":99999999999999999999}}", "99999999999999999999 cannot"),
        ("{\"settings\":{\"preferences\":{\"x\":1e999}}}", "the number 1e999 cannot"),
    ] {
        check(&app, "/conversations", body, (400, "invalid_body", part)).await;
    }
    let plain = app.request(Method::POST, "/api/v1/conversations").body("{}");
    assert_eq!(send(plain).await.code(), "not_json");
}

#[tokio::test]
async fn values_out_of_range_are_named() {
    let app = TestApp::start().await;
    app.post("/conversations", json!({"id": "a"})).await.expect(201);
    for (path, part) in [
        ("/conversations?limit=0", "limit"),
        ("/conversations?limit=1001", "limit"),
        ("/conversations?limit=-1", "limit"),
        ("/conversations?limit=many", "limit"),
        ("/conversations?cursor=x", "cursor"),
        ("/conversations?colour=1", "colour"),
        ("/conversations/a/history?limit=0", "limit"),
        ("/conversations/a/history?order=up", "order"),
        ("/conversations/a/history?cursor=0", "cursor"),
        ("/conversations/a/history?cursor=99999999999999999999", "cursor"),
        ("/conversations/a/turns/x", "turn"),
        ("/conversations/a/turns/-1", "turn"),
        ("/conversations/a/export?format=pdf", "format"),
        ("/search", "q"),
        ("/search?q=x&limit=0", "limit"),
    ] {
        let answer = app.get(path).await;
        assert_eq!(answer.status, 400, "{path}: {}", answer.text);
        answer.code();
        assert!(answer.text.contains(part), "{path}: {}", answer.text);
    }
    assert_eq!(app.get("/conversations/a/turns/0").await.code(), "no_turn");
    assert_eq!(app.get("/conversations/a/turns/18446744073709551615").await.code(), "no_turn");
    for (body, part) in [
        (json!({"message": " "}), "message"),
        (json!({"message": "m", "budget_tokens": 0}), "budget_tokens"),
        (json!({"message": "m", "budget_tokens": 1}), "budget"),
    ] {
        let answer = app.post("/conversations/a/prepare", body).await;
        assert_eq!(answer.status, 400, "{}", answer.text);
        assert!(answer.text.contains(part), "{}", answer.text);
    }
    let persona = json!({"persona": {"name": "P", "system_prompt": "s", "temperature": 7}});
    let answer = app.post("/conversations", persona).await;
    assert!(answer.status == 400 && answer.text.contains("temperature"), "{}", answer.text);
    let agent = app.post("/conversations", json!({"agent": "nobody"})).await;
    assert_eq!((agent.status, agent.code()), (400, "no_agent".to_owned()));
}

#[tokio::test]
async fn unknown_routes_and_methods_are_problems_too() {
    let app = TestApp::start().await;
    assert_eq!(app.get("/nothing").await.code(), "no_route");
    assert_eq!(app.delete("/health").await.code(), "no_method");
}

#[tokio::test]
async fn strangers_hosts_and_other_sites_are_turned_away() {
    let app = TestApp::start().await;
    let health = || app.request(Method::GET, "/api/v1/health");
    assert_eq!(send(health().header("host", "evil.example")).await.code(), "unknown_host");
    assert_eq!(send(health().header("host", "localhost:1")).await.status, 200);
    let post = || app.request(Method::POST, "/api/v1/conversations").json(&json!({}));
    assert_eq!(send(post().header("origin", "http://evil.example")).await.code(), "cross_site");
    assert_eq!(send(post().header("sec-fetch-site", "cross-site")).await.code(), "cross_site");
    let own = format!("http://{}", app.address);
    assert_eq!(send(post().header("origin", own)).await.status, 201);
    let answer = send(post().header("sec-fetch-site", "same-origin")).await;
    assert!(!answer.headers.contains_key("access-control-allow-origin"));
    assert_eq!(answer.headers["x-content-type-options"], "nosniff");
}
