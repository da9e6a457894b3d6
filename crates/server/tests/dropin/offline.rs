//! No provider of the format is configured: the engine answers, in the format.

use serde_json::json;

use crate::app::{TestApp, send};
use crate::bench::{BOTH, Format};

#[tokio::test]
async fn a_client_works_with_no_model_and_no_key() {
    for format in BOTH {
        let app = TestApp::start().await;
        for (streams, turns) in [(false, 1), (true, 2)] {
            let body = format.body(json!([{"role": "user", "content": "Hello."}]), streams);
            let request = app.request(reqwest::Method::POST, format.path()).json(&body);
            let answer = send(request.header("x-session-id", "a")).await;
            assert_eq!(answer.status, 200, "{}", answer.text);
            assert!(answer.text.contains("throughline-offline"), "{}", answer.text);
            let end = if format == Format::OpenAi { "[DONE]" } else { "message_stop" };
            assert_eq!(answer.text.contains(end), streams);
            let head = app.get("/conversations/a").await.expect(200);
            assert_eq!(head["turns"], turns, "{head}");
        }
    }
}

#[tokio::test]
async fn without_a_session_the_answer_leaves_none() {
    let app = TestApp::start().await;
    for streams in [false, true] {
        let body = Format::OpenAi.body(json!([{"role": "user", "content": "Hello."}]), streams);
        let request = app.request(reqwest::Method::POST, "/v1/chat/completions").json(&body);
        assert_eq!(send(request).await.status, 200);
    }
    app.app.turns().close();
    app.app.turns().wait().await;
    let all = app.get("/conversations").await.expect(200);
    assert_eq!(all["conversations"], json!([]));
}

#[tokio::test]
async fn models_and_tokens_are_told_without_a_provider() {
    let app = TestApp::start().await;
    let models = send(app.request(reqwest::Method::GET, "/v1/models")).await.expect(200);
    assert_eq!(models["data"][0]["id"], "throughline-offline");
    let body = Format::Anthropic.body(json!([{"role": "user", "content": "Hello."}]), false);
    let request = app.request(reqwest::Method::POST, "/v1/messages/count_tokens").json(&body);
    assert!(send(request).await.expect(200)["input_tokens"].as_u64().unwrap() > 0);
}
