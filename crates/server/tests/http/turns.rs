//! Turns: recorded once, in order, with what the model saw.

use serde_json::{Value, json};

use crate::app::TestApp;

async fn with_session() -> TestApp {
    let app = TestApp::start().await;
    app.post("/conversations", json!({"id": "a"})).await.expect(201);
    app
}

#[tokio::test]
async fn a_recorded_turn_is_in_the_history() {
    let app = with_session().await;
    let recorded = app.post("/conversations/a/turns", json!({"message": "m", "reply": "r"})).await;
    assert_eq!(recorded.expect(201), json!({"turn": 1, "version": 2, "durability": "memory"}));
    let failed = json!({"message": "m2", "error": {"message": "broke"}});
    app.post("/conversations/a/turns", failed).await.expect(201);
    let history = app.get("/conversations/a/history").await.expect(200);
    assert_eq!(history["next_cursor"], Value::Null);
    assert_eq!(history["turns"][0]["message"], "m");
    assert_eq!(history["turns"][0]["reply"], "r");
    assert_eq!(history["turns"][0]["kind"], "recorded");
    assert_eq!(history["turns"][1]["status"], "failed");
    let turn = app.get("/conversations/a/turns/2").await.expect(200);
    assert_eq!(turn["messages"][1], json!({"kind": "error", "text": "broke"}));
    assert_eq!(app.get("/conversations/a/turns/3").await.code(), "no_turn");
}

#[tokio::test]
async fn a_recorded_failure_keeps_its_cause_and_an_unknown_one_is_refused() {
    let app = with_session().await;
    let failed =
        |cause: &str| json!({"message": "m", "error": {"message": "broke", "cause": cause}});
    app.post("/conversations/a/turns", failed("timed_out")).await.expect(201);
    let turn = app.get("/conversations/a/turns/1").await.expect(200);
    assert_eq!(turn["error"], json!({"code": "failed", "message": "broke", "cause": "timed_out"}));
    let refused = app.post("/conversations/a/turns", failed("bad luck")).await.expect(400);
    assert!(refused["detail"].as_str().unwrap().contains("rate_limited"), "{refused}");
}

#[tokio::test]
async fn history_is_paged_both_ways() {
    let app = with_session().await;
    for number in 1..=5 {
        let turn = json!({"message": format!("m{number}"), "reply": "r"});
        app.post("/conversations/a/turns", turn).await.expect(201);
    }
    for (order, expected) in [("asc", [1, 2, 3, 4, 5]), ("desc", [5, 4, 3, 2, 1])] {
        let (mut seen, mut cursor) = (Vec::new(), String::new());
        loop {
            let path = format!("/conversations/a/history?limit=2&order={order}{cursor}");
            let page = app.get(&path).await.expect(200);
            let turns = page["turns"].as_array().unwrap().clone();
            seen.extend(turns.iter().map(|turn| turn["turn"].as_u64().unwrap()));
            match page["next_cursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => break,
            }
        }
        assert_eq!(seen, expected, "{order}");
    }
}

#[tokio::test]
async fn the_same_key_answers_the_same_body_and_another_body_is_refused() {
    let app = with_session().await;
    let key = [("idempotency-key", "k1")];
    let body = json!({"message": "m", "reply": "r"});
    let first = app.post_with("/conversations/a/turns", body.clone(), &key).await.expect(201);
    app.post("/conversations/a/turns", json!({"message": "x", "reply": "y"})).await.expect(201);
    let again = app.post_with("/conversations/a/turns", body, &key).await.expect(200);
    assert_eq!(again, first);
    let other = json!({"message": "other", "reply": "r"});
    let other = app.post_with("/conversations/a/turns", other, &key).await;
    assert_eq!((other.status, other.code()), (422, "idempotency_key_reused".to_owned()));
    assert_eq!(app.get("/conversations/a").await.expect(200)["turns"], 2);
    for bad in ["", "a b", &"k".repeat(256)] {
        let body = json!({"message": "m", "reply": "r"});
        let answer =
            app.post_with("/conversations/a/turns", body, &[("idempotency-key", bad)]).await;
        assert_eq!(answer.status, 400, "{bad:?}");
    }
}

#[tokio::test]
async fn the_same_key_at_the_same_time_makes_one_turn() {
    let app = with_session().await;
    let body = json!({"message": "m", "reply": "r"});
    let key = [("idempotency-key", "k")];
    let sent = (0..16).map(|_| app.post_with("/conversations/a/turns", body.clone(), &key));
    let answers = futures::future::join_all(sent).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 1);
    assert!(answers.iter().all(|answer| answer.json()["turn"] == 1));
    assert_eq!(app.get("/conversations/a").await.expect(200)["turns"], 1);
}

#[tokio::test]
async fn writers_at_the_same_time_lose_nothing_and_leave_no_gap() {
    let app = with_session().await;
    let sent = (0..40).map(|number| {
        let body = json!({"message": format!("m{number}"), "reply": "r"});
        app.post("/conversations/a/turns", body)
    });
    let answers = futures::future::join_all(sent).await;
    let mut turns: Vec<u64> =
        answers.into_iter().map(|a| a.expect(201)["turn"].as_u64().unwrap()).collect();
    turns.sort_unstable();
    assert_eq!(turns, (1..=40).collect::<Vec<_>>());
}

#[tokio::test]
async fn what_was_prepared_can_be_recorded_and_rebuilt_to_the_byte() {
    let app = with_session().await;
    app.post("/conversations/a/turns", json!({"message": "m", "reply": "r"})).await.expect(201);
    let prepared =
        app.post("/conversations/a/prepare", json!({"message": "what now?"})).await.expect(200);
    assert_eq!(app.get("/conversations/a").await.expect(200)["version"], 2, "no side effect");
    let id = prepared["receipt"]["id"].as_str().unwrap();
    for receipt in [json!(id), prepared["receipt"].clone()] {
        let body = json!({"message": "what now?", "reply": "this", "receipt": receipt});
        let recorded = app.post("/conversations/a/turns", body).await.expect(201);
        assert_eq!(recorded["receipt"], "kept");
    }
    let context = app.get("/conversations/a/turns/2/context").await.expect(200);
    assert_eq!(context["id"], id);
    assert!(context["summary"].as_str().unwrap().contains("tokens"));
    let rebuilt = app.get("/conversations/a/turns/2/request").await;
    assert_eq!(rebuilt.headers["x-request-hash"], id);
    assert_eq!(rebuilt.json(), prepared["request"]);
    let piece = context["pieces"].as_array().unwrap().iter().find(|p| p["place"] == "system");
    let hash = piece.unwrap()["hash"].as_str().unwrap();
    let text = app.get(&format!("/conversations/a/turns/2/contents/{hash}")).await;
    assert_eq!(text.status, 200);
    assert!(!text.text.is_empty());
    let without = app.get("/conversations/a/turns/1/context").await;
    assert_eq!(without.code(), "not_kept");
    let hint = without.json()["hint"].to_string();
    assert!(hint.contains("pass the id that prepare returned as receipt"), "{hint}");
    assert_eq!(app.get("/conversations/a/turns/2/contents/00").await.code(), "not_kept");
    let unknown = json!({"message": "m", "reply": "r", "receipt": "nonsense"});
    let recorded = app.post("/conversations/a/turns", unknown).await.expect(201);
    assert_eq!(recorded["receipt"], "unknown");
}

#[tokio::test]
async fn a_turn_at_a_stale_version_is_refused() {
    let app = with_session().await;
    let body = json!({"message": "m", "reply": "r"});
    let at = |version: &'static str| {
        let body = body.clone();
        let app = &app;
        async move { app.post_with("/conversations/a/turns", body, &[("if-match", version)]).await }
    };
    at("\"1\"").await.expect(201);
    assert_eq!(at("\"1\"").await.code(), "version_conflict");
}
