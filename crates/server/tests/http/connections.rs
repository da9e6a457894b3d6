//! Clients that hold connections, heads and bodies back: they cost little, and nobody waits for them.
//!
//! Each wait is for an event on the socket itself; [`PATIENCE`] only ends a test that would never end.

use std::time::Duration;

use serde_json::json;
use throughline_engine::access::Grants;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::app::{Builder, TestApp};

/// Longer than any limit that a test sets.
const PATIENCE: Duration = Duration::from_secs(20);

async fn connect(app: &TestApp, head: &str) -> TcpStream {
    let mut stream = TcpStream::connect(app.address).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

/// What the server sends next.
async fn next(stream: &mut TcpStream) -> String {
    let mut bytes = vec![0; 4096];
    let read = tokio::time::timeout(PATIENCE, stream.read(&mut bytes)).await;
    let count = read.expect("the server neither answers nor closes").unwrap_or(0);
    String::from_utf8_lossy(&bytes[..count]).into_owned()
}

/// A request whose body is announced and asked for, but does not come.
async fn slow_body(app: &TestApp, extra: &str) -> TcpStream {
    let head = format!(
        "POST /api/v1/conversations HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         content-length: 100\r\nexpect: 100-continue\r\n{extra}\r\n"
    );
    connect(app, &head).await
}

fn builder() -> Builder {
    TestApp::builder()
}

#[tokio::test]
async fn a_head_that_never_ends_is_closed_and_so_is_a_silent_connection() {
    let app = builder().set(|config| config.server.head_seconds_max = 1).start().await;
    let mut silent = connect(&app, "").await;
    let mut endless = connect(&app, "GET / HTTP/1.1\r\nhost: localhost\r\nx-a: ").await;
    assert_eq!(next(&mut endless).await, "");
    assert_eq!(next(&mut silent).await, "");
    // One that was used and is kept open has the same time for its next request.
    let mut kept = connect(&app, "GET /icon.svg HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
    assert!(next(&mut kept).await.starts_with("HTTP/1.1 200"));
    while !next(&mut kept).await.is_empty() {}
}

#[tokio::test]
async fn a_head_beyond_its_size_is_refused() {
    let app = TestApp::start().await;
    let head = format!("GET / HTTP/1.1\r\nx-long: {}", "a".repeat(70_000));
    let mut stream = connect(&app, &head).await;
    assert!(next(&mut stream).await.starts_with("HTTP/1.1 431"));
}

#[tokio::test]
async fn slow_bodies_hold_no_place_from_others() {
    let app = builder().set(|config| config.server.requests_at_once_max = 2).start().await;
    let mut slow = Vec::new();
    for _ in 0..5 {
        let mut stream = slow_body(&app, "").await;
        // The server is reading the body now.
        assert!(next(&mut stream).await.starts_with("HTTP/1.1 100"));
        slow.push(stream);
    }
    app.get("/conversations").await.expect(200);
    app.post("/conversations", json!({"id": "a"})).await.expect(201);
}

#[tokio::test]
async fn a_body_that_does_not_come_is_given_up() {
    let app = builder().set(|config| config.server.body_seconds_max = 1).start().await;
    let mut stream = slow_body(&app, "").await;
    assert!(next(&mut stream).await.starts_with("HTTP/1.1 100"));
    let answer = next(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
    assert!(answer.contains("body_too_slow"), "{answer}");
    let head = "POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n";
    let answer = next(&mut connect(&app, head).await).await;
    assert!(answer.contains(r#""type":"error""#), "in the provider's shape: {answer}");
}

#[tokio::test]
async fn bodies_share_a_limit_of_memory() {
    let app = builder().set(|config| config.server.bodies_bytes_max = 8 * 1024).start().await;
    let title = |size| json!({"title": "x".repeat(size)});
    let answer = app.post("/conversations", title(16 * 1024)).await;
    assert_eq!((answer.status, answer.code()), (503, "busy".to_owned()), "{}", answer.text);
    assert_eq!(answer.headers["retry-after"], "1");
    // What one request gave back, the next may use.
    for _ in 0..3 {
        assert_eq!(app.post("/conversations", title(6 * 1024)).await.code(), "over_limit");
    }
}

#[tokio::test]
async fn the_body_of_a_stranger_is_not_read() {
    let app = TestApp::start().await;
    let key = app.key("t", "u", Grants::Write).await;
    for route in ["/api/v1/conversations", "/mcp", "/v1/messages", "/v1/chat/completions"] {
        for credential in ["", "authorization: Bearer tl_0000_0000\r\n", "x-api-key: sk-other\r\n"]
        {
            let head = format!(
                "POST {route} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
                 content-length: 4000000\r\nexpect: 100-continue\r\n{credential}\r\n"
            );
            let answer = next(&mut connect(&app, &head).await).await;
            assert!(answer.starts_with("HTTP/1.1 401"), "{route} {credential}: {answer}");
        }
    }
    let mut known = slow_body(&app, &format!("authorization: Bearer {key}\r\n")).await;
    assert!(next(&mut known).await.starts_with("HTTP/1.1 100"));
}

#[tokio::test]
async fn a_refused_request_leaves_its_connection_usable_or_announces_that_it_closes() {
    let app = TestApp::start().await;
    let key = app.key("t", "u", Grants::Write).await;
    let head = "POST /api/v1/conversations HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
                content-length: 10\r\n";
    for credential in ["", "authorization: Bearer tl_0000_0000\r\n"] {
        // A body that does not come: the client is told not to use the connection again.
        let mut stream = connect(&app, &format!("{head}{credential}\r\n")).await;
        let answer = next(&mut stream).await;
        assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
        assert!(answer.contains("connection: close"), "{answer}");
        // One that comes after its head is read away.
        let mut stream = connect(&app, &format!("{head}{credential}\r\n")).await;
        stream.write_all(b"{\"id\":\"a\"}").await.unwrap();
        let answer = next(&mut stream).await;
        assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
        assert!(!answer.contains("connection: close"), "{answer}");
        let again = format!(
            "GET /api/v1/conversations HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {key}\r\n\r\n"
        );
        stream.write_all(again.as_bytes()).await.unwrap();
        assert!(next(&mut stream).await.starts_with("HTTP/1.1 200"));
    }
}

#[tokio::test]
async fn one_address_has_a_limit_of_connections() {
    let app = builder().set(|config| config.server.connections_per_address_max = 2).start().await;
    let get = "GET /icon.svg HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let mut first = connect(&app, get).await;
    assert!(next(&mut first).await.starts_with("HTTP/1.1 200"));
    let mut second = connect(&app, get).await;
    assert!(next(&mut second).await.starts_with("HTTP/1.1 200"));
    let answer = next(&mut connect(&app, "").await).await;
    assert!(
        answer.starts_with("HTTP/1.1 503") && answer.contains("too_many_connections"),
        "{answer}"
    );
    drop(second);
    // The server hears of the end in its own time; until then it refuses.
    let admitted = async {
        loop {
            if next(&mut connect(&app, get).await).await.starts_with("HTTP/1.1 200") {
                return;
            }
        }
    };
    tokio::time::timeout(PATIENCE, admitted).await.expect("room again after one has gone");
}
