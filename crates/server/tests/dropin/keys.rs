//! Whose credential goes where.

use serde_json::json;
use throughline::config::Environment;
use throughline_engine::access::Grants;
use throughline_testkit::scripted_model::{Recorded, ScriptedModel, Turn};

use crate::app::{TestApp, send};
use crate::bench::{BOTH, Bench, Format};

fn credential(request: &Recorded) -> Option<String> {
    let text = |name: &str| Some(request.headers.get(name)?.to_str().ok()?.to_owned());
    text("authorization").or(text("x-api-key"))
}

#[tokio::test]
async fn without_keys_the_credential_of_the_client_is_the_providers() {
    for format in BOTH {
        let bench = Bench::playing([Turn::text("Hi.")]).await;
        bench.say(format, "a", "Hello.").await.expect(200);
        let sent = credential(&bench.reached()).expect("a credential");
        assert!(sent.ends_with("sk-of-the-client"), "{sent}");
        assert!(bench.reached().headers.get("x-session-id").is_none());
    }
}

#[tokio::test]
async fn a_throughline_key_lets_in_and_goes_no_further() {
    for format in BOTH {
        let bench = Bench::playing([Turn::text("Hi."), Turn::text("Hi.")]).await;
        let key = bench.app.key("acme", "ada", Grants::Write).await;
        let reader = bench.app.key("acme", "bob", Grants::Read).await;
        let body = format.body(json!([{"role": "user", "content": "Hello."}]), false);
        let ask = async |key: &str, name: &str| {
            let request = bench.app.request(reqwest::Method::POST, format.path()).json(&body);
            let key = if name == "authorization" { format!("Bearer {key}") } else { key.into() };
            send(request.header(name, key).header("x-session-id", "a")).await
        };
        for name in ["authorization", "x-api-key"] {
            let answer = ask(&key, name).await;
            // The scripted provider asks for a key, and none is configured: ours was not passed on.
            assert_eq!(answer.status, 401, "{}", answer.text);
            assert_eq!(credential(&bench.reached()), None);
            let headers = format!("{:?}", bench.reached().headers);
            assert!(!headers.contains("tl_"), "{headers}");
        }
        let reached = bench.model.requests().len();
        assert_eq!(ask(&reader, "x-api-key").await.status, 403);
        assert_eq!(ask("sk-of-the-client", "x-api-key").await.status, 401);
        assert_eq!(bench.model.requests().len(), reached);
    }
}

#[tokio::test]
async fn a_configured_key_is_used_in_place_of_the_clients() {
    let model = ScriptedModel::playing([Turn::text("Hi.")]).await;
    let url = model.openai_url();
    let app = TestApp::builder()
        .set(|config| {
            let pairs = [("OPENAI_API_KEY", "sk-configured"), ("OPENAI_BASE_URL", url.as_str())];
            config.environment = Environment::of(pairs);
        })
        .start()
        .await;
    let body = Format::OpenAi.body(json!([{"role": "user", "content": "Hello."}]), false);
    let request = app.request(reqwest::Method::POST, "/v1/chat/completions").json(&body);
    send(request.bearer_auth("sk-of-the-client")).await.expect(200);
    assert_eq!(credential(&model.requests()[0]).as_deref(), Some("Bearer sk-configured"));
}

#[tokio::test]
async fn a_key_that_the_provider_repeats_in_its_refusal_goes_neither_to_the_client_nor_into_the_log()
 {
    let refusal = "Incorrect API key provided: sk-configured-secret";
    let model = ScriptedModel::playing([Turn::refuse(401, refusal)]).await;
    let url = model.openai_url();
    let app = TestApp::builder()
        .set(|config| {
            let key = ("OPENAI_API_KEY", "sk-configured-secret");
            config.environment = Environment::of([key, ("OPENAI_BASE_URL", url.as_str())]);
        })
        .start()
        .await;
    let body = Format::OpenAi.body(json!([{"role": "user", "content": "Hello."}]), false);
    let request = app.request(reqwest::Method::POST, "/v1/chat/completions").json(&body);
    let answer = send(request.header("x-session-id", "a")).await.expect(401);
    assert_eq!(answer["error"]["message"], "Incorrect API key provided: [redacted]");
    let history = app.request(reqwest::Method::GET, "/api/v1/conversations/a/history");
    let error = &send(history).await.expect(200)["turns"][0]["error"];
    assert_eq!(error["message"], "401 Unauthorized: Incorrect API key provided: [redacted]");
}
