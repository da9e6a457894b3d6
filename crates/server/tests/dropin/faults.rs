//! Providers that refuse, clients that leave, requests that are wrong.

use std::time::Duration;

use futures::StreamExt;
use serde_json::json;
use throughline_testkit::scripted_model::{Gate, Step, Turn};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpSocket;

use crate::bench::{BOTH, Bench, Format};

/// Longer than the limit that a test sets.
const PATIENCE: Duration = Duration::from_secs(30);

#[tokio::test]
async fn a_refusal_is_passed_on_as_it_is_and_the_message_is_kept() {
    for format in BOTH {
        let turns = [Turn::slow_down("7"), Turn::slow_down("7"), Turn::refuse(500, "no")];
        let bench = Bench::playing(turns).await;
        let body = format.body(json!([{"role": "user", "content": "Hello."}]), true);
        let plain = bench.ask(format, None, &body).await;
        let kept = bench.ask(format, Some("a"), &body).await;
        assert_eq!((kept.status, &kept.text), (429, &plain.text));
        assert_eq!(kept.headers["retry-after"], "7");
        assert_eq!(bench.ask(format, Some("a"), &body).await.status, 500);
        let turns = bench.turns("a").await;
        let errors = [("upstream_429", "rate_limited"), ("upstream_500", "failed")];
        for (turn, (code, cause)) in turns.iter().zip(errors) {
            assert_eq!((&turn["message"], &turn["status"]), (&json!("Hello."), &json!("failed")));
            assert_eq!(
                (&turn["error"]["code"], &turn["error"]["cause"]),
                (&json!(code), &json!(cause))
            );
        }
    }
}

#[tokio::test]
async fn a_client_that_leaves_ends_the_call_and_what_was_said_is_kept() {
    for format in BOTH {
        let steps = vec![Step::Text("So far".into()), Step::Wait(Gate::default())];
        let bench = Bench::playing([Turn::Say(steps)]).await;
        let body = format.body(json!([{"role": "user", "content": "Tell me."}]), true);
        let response = bench.request(format, Some("a"), &body).send().await.unwrap();
        let mut chunks = response.bytes_stream();
        let mut seen = Vec::new();
        while !String::from_utf8_lossy(&seen).contains("So far") {
            seen.extend_from_slice(&chunks.next().await.unwrap().unwrap());
        }
        drop(chunks);
        bench.model.left(1).await;
        bench.settled().await;
        let turns = bench.turns("a").await;
        assert_eq!(
            (&turns[0]["reply"], &turns[0]["status"]),
            (&json!("So far"), &json!("partial"))
        );
    }
}

#[tokio::test]
async fn a_client_that_never_reads_does_not_hold_its_turn() {
    for format in BOTH {
        let mut steps = vec![Step::Text("word ".repeat(50_000)); 80];
        steps.push(Step::Wait(Gate::default()));
        let bench = Bench::with([Turn::Say(steps)], |config| {
            config.server.unread_seconds_max = 1;
        });
        let bench = bench.await;
        let body = format.body(json!([{"role": "user", "content": "Tell me."}]), true).to_string();
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(4096).unwrap();
        let mut stream = socket.connect(bench.app.address).await.unwrap();
        let head = format!(
            "POST {} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nx-session-id: a\r\n\
             x-api-key: sk-of-the-client\r\nanthropic-version: 2023-06-01\r\ncontent-length: {}\r\n\r\n{body}",
            format.path(),
            body.len()
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let given_up = async {
            bench.model.left(1).await;
            bench.settled().await;
        };
        tokio::time::timeout(PATIENCE, given_up).await.expect("the turn is held");
        assert_eq!(bench.turns("a").await[0]["status"], "partial");
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed_and_not_passed_on() {
    let bench = Bench::playing([Turn::redirect(307, "http://127.0.0.1:9/elsewhere")]).await;
    let answer = bench.say(Format::OpenAi, "a", "Hello.").await;
    assert_eq!(answer.status, 502, "{}", answer.text);
    assert!(!answer.headers.contains_key("location"));
    assert_eq!(bench.model.requests().len(), 1);
}

#[tokio::test]
async fn the_same_key_is_answered_from_the_log() {
    for format in BOTH {
        let bench = Bench::playing([Turn::text("Once.")]).await;
        let body = format.body(json!([{"role": "user", "content": "Say it."}]), false);
        for _ in 0..2 {
            let request = bench.request(format, Some("a"), &body).header("idempotency-key", "k");
            let answer = crate::app::send(request).await.expect(200);
            assert_eq!(format.said(&answer), "Once.");
        }
        assert_eq!(bench.model.requests().len(), 1);
        let other = format.body(json!([{"role": "user", "content": "Other."}]), false);
        let request = bench.request(format, Some("a"), &other).header("idempotency-key", "k");
        assert_eq!(crate::app::send(request).await.status, 422);
    }
}
