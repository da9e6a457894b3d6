//! A session header never breaks a request that was valid without it: the same request with and without one.

use std::time::Duration;

use reqwest::RequestBuilder;
use serde_json::{Value, json};

use crate::app::{Answer, TestApp, send};
use crate::bench::{BOTH, Format};
use crate::provider::{Manner, Provider};

/// A header that says what was not kept, and why.
const NOT_KEPT: &str = "x-throughline-not-kept";
const MEMORY: &str = "x-throughline-memory";

pub(crate) struct Door {
    pub app: TestApp,
    pub provider: Provider,
}

impl Door {
    pub(crate) async fn open() -> Self {
        Self::with(Manner::Prompt, |_| {}).await
    }

    pub(crate) async fn with(
        manner: Manner,
        change: impl FnOnce(&mut throughline::config::Config),
    ) -> Self {
        let provider = Provider::start(manner).await;
        let entries = provider.entries();
        let app = TestApp::builder().set(|config| config.model = entries).set(change).start().await;
        Self { app, provider }
    }

    pub(crate) fn request(&self, path: &str, body: &Value) -> RequestBuilder {
        let request = self.app.request(reqwest::Method::POST, path).json(body);
        request.bearer_auth("sk-of-the-client").header("anthropic-version", "2023-06-01")
    }

    pub(crate) async fn ask(&self, format: Format, session: Option<&str>, body: &Value) -> Answer {
        let request = self.request(format.path(), body);
        match session {
            Some(session) => send(request.header("x-session-id", session)).await,
            None => send(request).await,
        }
    }
}

fn says(text: &str) -> Value {
    json!([{"role": "user", "content": text}])
}

/// What a case is called, its session, its messages, and what is said of keeping it.
type Case = (&'static str, &'static str, Value, Option<&'static str>);

fn cases() -> Vec<Case> {
    let image = "A".repeat(5 << 20);
    let pdf = json!([{"role": "user", "content": [
        {"type": "text", "text": "What does it say?"},
        {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": image}},
    ]}]);
    let reminder = json!([{"role": "user", "content": [
        {"type": "text", "text": "<system-reminder>\nAs you answer, use CLAUDE.md\n</system-reminder>"},
        {"type": "text", "text": "Rename the function."},
    ]}]);
    let interrupted = json!([
        {"role": "user", "content": "List the files."},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "ls", "input": {}}]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "c1", "content": "a b"},
            {"type": "text", "text": "Only the first one."},
        ]},
    ]);
    let deep = (0..200).fold(json!(1), |inner, _| json!([inner]));
    let title = "<session>\nMy boat is called Selkie.\n</session>\n\nWrite the title in the language of the session.";
    let tags = "### Task:\nGenerate 1-3 broad tags.\n### Chat History:\n<chat_history>\nUSER: Hi\n</chat_history>";
    let asked_by = |system: &str| json!([{"role": "system", "content": system}, {"role": "user", "content": "My boat is called Selkie."}]);
    vec![
        (
            "a title for opencode",
            "title2",
            asked_by(
                "You are a title generator. You output ONLY a thread title. Nothing else.\n\n<task>",
            ),
            Some("housekeeping"),
        ),
        (
            "what qwen-code remembers",
            "extraction",
            asked_by(
                "You are now acting as the managed memory extraction subagent for an AI coding assistant.",
            ),
            Some("housekeeping"),
        ),
        (
            "a summary for qwen-code",
            "summary",
            asked_by(
                "\nYou are the component that summarizes internal chat history into a given structure.",
            ),
            Some("housekeeping"),
        ),
        (
            "an assistant for titles of books",
            "books",
            asked_by("You are a librarian. You know the title generator of our catalogue."),
            None,
        ),
        ("a title for Claude Code", "title", says(title), Some("housekeeping")),
        ("tags for Open WebUI", "tags", says(tags), Some("housekeeping")),
        ("a plain message", "plain", says("Hello."), None),
        ("text over 300 KB", "long", says(&"word ".repeat(70_000)), Some("over_limit")),
        ("text over the budget", "large", says(&"word ".repeat(30_000)), None),
        (
            "only a system message",
            "system",
            json!([{"role": "system", "content": "Be kind."}]),
            Some("no_user_message"),
        ),
        ("an id with other characters", "user@x/1", says("Hello."), None),
        ("an id that starts with a dot", ".hidden", says("Hello."), None),
        ("a PDF over 4 MiB", "pdf", pdf, None),
        ("a reminder of the client", "reminder", reminder, None),
        ("a message behind a tool's result", "interrupted", interrupted, None),
        (
            "content that is null",
            "null",
            json!([{"role": "user", "content": null}]),
            Some("no_user_message"),
        ),
        ("messages that are none", "none", json!([]), Some("no_user_message")),
        (
            "deep nesting",
            "deep",
            json!([{"role": "user", "content": "Hi.", "more": deep}]),
            Some("unreadable"),
        ),
    ]
}

#[tokio::test]
async fn a_session_header_never_breaks_a_request_that_was_valid_without_it() {
    let mut wrong = Vec::new();
    for format in BOTH {
        let door = Door::open().await;
        for (name, session, messages, not_kept) in cases() {
            let body = format.body(messages, false);
            let plain = door.ask(format, None, &body).await;
            let kept = door.ask(format, Some(session), &body).await;
            let said = kept.headers.get(NOT_KEPT).map(|value| value.to_str().unwrap().to_owned());
            let as_expected = match (not_kept, &said) {
                (Some(code), Some(said)) => said.starts_with(code),
                (None, None) => kept.headers.contains_key("x-session-id"),
                _ => false,
            };
            if (plain.status, kept.status) != (200, 200) || !as_expected {
                wrong.push(format!("{format:?} {name}: {} {} {said:?}", plain.status, kept.status));
            } else if not_kept.is_some() {
                assert_eq!(door.provider.last().bytes, serde_json::to_vec(&body).unwrap());
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[tokio::test]
async fn a_session_has_the_words_of_the_user_for_its_title() {
    let door = Door::open().await;
    for (_, session, messages, _) in cases() {
        door.ask(Format::Anthropic, Some(session), &Format::Anthropic.body(messages, false)).await;
    }
    let title = async |id: &str| {
        door.app.get(&format!("/conversations/{id}")).await.expect(200)["title"].clone()
    };
    assert_eq!(title("reminder").await, "Rename the function.");
    assert_eq!(title("interrupted").await, "Only the first one.");
}

#[tokio::test]
async fn the_same_odd_id_is_the_same_session_and_another_is_another() {
    let door = Door::open().await;
    let body = Format::OpenAi.body(says("My boat is called Selkie."), false);
    let named = async |id: &str| {
        let answer = door.ask(Format::OpenAi, Some(id), &body).await;
        answer.headers["x-session-id"].to_str().unwrap().to_owned()
    };
    let (one, again) = (named("user@x/1").await, named("user@x/1").await);
    assert_eq!(one, again);
    assert_ne!(one, named("user@x_1").await);
    assert_eq!(door.app.get(&format!("/conversations/{one}")).await.expect(200)["turns"], 2);
}

#[tokio::test]
async fn a_deleted_session_does_not_stop_its_client() {
    let door = Door::open().await;
    let body = Format::OpenAi.body(says("Hello."), false);
    door.ask(Format::OpenAi, Some("gone"), &body).await.expect(200);
    assert_eq!(door.app.delete("/conversations/gone").await.status, 200);
    let answer = door.ask(Format::OpenAi, Some("gone"), &body).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let said = answer.headers[NOT_KEPT].to_str().unwrap();
    assert!(said.starts_with("session_inactive"), "{said}");
}

#[tokio::test]
async fn a_result_stays_first_in_its_message() {
    let door = Door::open().await;
    let body = |messages| Format::Anthropic.body(messages, false);
    let first = body(says("The harbour gate opens with swordfish."));
    door.ask(Format::Anthropic, Some("a"), &first).await.expect(200);
    let messages = json!([
        {"role": "user", "content": "List the files."},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "ls", "input": {}}]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "c1", "content": "a b"},
            {"type": "text", "text": "What did I say opens the harbour gate?"},
        ]},
    ]);
    door.ask(Format::Anthropic, Some("a"), &body(messages)).await.expect(200);
    let sent = door.provider.last().body();
    let parts = sent["messages"][2]["content"].as_array().unwrap();
    assert_eq!(parts[0]["type"], "tool_result", "{sent}");
    assert!(parts[1]["text"].as_str().unwrap().contains("swordfish"), "{sent}");
}

#[tokio::test]
async fn a_format_without_a_model_is_refused_by_name() {
    let provider = Provider::start(Manner::Prompt).await;
    for (missing, other, path, name) in [
        ("anthropic", "openai", "/v1/messages", "Anthropic"),
        ("openai", "anthropic", "/v1/chat/completions", "OpenAI"),
        ("openai", "anthropic", "/v1/responses", "OpenAI"),
        ("openai", "anthropic", "/v1/embeddings", "OpenAI"),
    ] {
        let entries = provider.entries();
        let app = TestApp::builder()
            .set(|config| config.model = entries.into_iter().filter(|m| m.name == other).collect())
            .demo()
            .start()
            .await;
        let body = json!({"model": "m", "max_tokens": 5, "messages": says("Which sites are there?"),
            "input": "Which sites are there?"});
        let request = app.request(reqwest::Method::POST, path).json(&body);
        let answer = send(request.header("x-session-id", "a")).await;
        assert_eq!(answer.status, 404, "{path}: {}", answer.text);
        let message = answer.json()["error"]["message"].as_str().unwrap().to_owned();
        assert!(message.contains(name) && message.contains(missing), "{message}");
        let all = app.get("/conversations").await.expect(200);
        assert_eq!(all["conversations"], json!([]), "nothing ran");
    }
}

#[tokio::test]
async fn what_the_provider_says_of_the_request_reaches_the_client() {
    let door = Door::open().await;
    for format in BOTH {
        for streams in [false, true] {
            for session in [None, Some("a")] {
                let body = format.body(says("Hello."), streams);
                let answer = door.ask(format, session, &body).await;
                assert_eq!(answer.headers["x-request-id"], "req-of-the-provider");
                assert_eq!(answer.headers["x-ratelimit-remaining-tokens"], "17");
                assert_eq!(answer.headers["anthropic-ratelimit-requests-remaining"], "18");
                assert!(!answer.headers.contains_key("set-cookie"));
            }
        }
    }
}

#[tokio::test]
async fn bearer_tokens_and_query_strings_reach_the_provider_as_they_were() {
    let door = Door::open().await;
    let body = Format::Anthropic.body(says("Hello."), false);
    for session in [None, Some("a")] {
        for path in [
            "/v1/messages?beta=true",
            "/v1/messages/count_tokens?beta=true",
            "/v1/chat/completions?api-version=1",
        ] {
            let request = door.app.request(reqwest::Method::POST, path).json(&body);
            let mut request = request.bearer_auth("oauth-token").header("anthropic-beta", "oauth");
            if let Some(session) = session {
                request = request.header("x-session-id", session);
            }
            assert_eq!(send(request).await.status, 200);
            let reached = door.provider.last();
            assert_eq!(reached.path, path);
            assert_eq!(reached.headers["authorization"], "Bearer oauth-token");
            assert!(!reached.headers.contains_key("x-api-key"));
        }
        let request = door.app.request(reqwest::Method::POST, "/v1/messages").json(&body);
        assert_eq!(send(request.header("x-api-key", "sk-1")).await.status, 200);
        assert_eq!(door.provider.last().headers["x-api-key"], "sk-1");
    }
}

#[tokio::test]
async fn numbers_reach_the_provider_as_they_were_written() {
    let door = Door::open().await;
    let body = r#"{"model":"m","temperature":0.31,"top_p":0.10,"messages":[{"role":"user","content":"Hi."}]}"#;
    for session in ["a", "a"] {
        let request = door.request("/v1/chat/completions", &json!({})).body(body);
        assert_eq!(send(request.header("x-session-id", session)).await.status, 200);
        let sent = String::from_utf8(door.provider.last().bytes.to_vec()).unwrap();
        assert!(sent.contains(r#""temperature":0.31,"top_p":0.10,"#), "{sent}");
    }
    let persona = json!({"name": "Ada", "system_prompt": "Be brief.", "temperature": 0.31});
    let said = json!({"message": "Hello.", "conversation_id": "b", "persona": persona});
    door.app.post("/chat", said).await.expect(200);
    let sent = String::from_utf8(door.provider.last().bytes.to_vec()).unwrap();
    assert!(sent.contains(r#""temperature":0.31"#) && !sent.contains("0.310"), "{sent}");
    for path in ["/conversations/b", "/conversations/b/turns/1/request"] {
        let text = door.app.get(path).await.text;
        assert!(text.contains("0.31") && !text.contains("0.310"), "{path}: {text}");
    }
}

#[tokio::test]
async fn a_header_and_the_receipt_say_what_was_added_and_what_was_not() {
    let door = Door::with(Manner::Prompt, |config| config.limits.context_tokens = 1_500).await;
    let format = Format::OpenAi;
    let own = json!([{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Hi."},
        {"role": "user", "content": "Go on."}]);
    let resent = door.ask(format, Some("b"), &format.body(own, false)).await;
    assert_eq!(resent.headers[MEMORY], "nothing");
    let first = door.ask(format, Some("a"), &format.body(says("My boat is Selkie."), false)).await;
    assert!(first.headers[MEMORY].to_str().unwrap().starts_with("added"), "today's date");
    let second = door.ask(format, Some("a"), &format.body(says("Which boat?"), false)).await;
    let said = second.headers[MEMORY].to_str().unwrap();
    assert!(said.starts_with("added; pieces=") && said.contains("tokens="), "{said}");
    assert!(!second.headers.contains_key("x-throughline-left-out"));
    // A message that fills the budget by itself leaves no room.
    let large =
        format.body(says(&format!("Which boat did I name? {}", "word ".repeat(2_000))), false);
    let third = door.ask(format, Some("a"), &large).await;
    let said = third.headers["x-throughline-left-out"].to_str().unwrap().to_owned();
    assert!(said.starts_with("pieces=") && said.contains("reason="), "{said}");
    let receipt = door.app.get("/conversations/a/turns/3/context").await.expect(200);
    let left_out = receipt["pieces"].as_array().unwrap().iter();
    assert!(left_out.clone().any(|piece| piece["dropped"].is_string()), "{receipt}");
}

#[tokio::test]
async fn a_reply_that_takes_longer_than_the_first_token_may_is_not_cut() {
    let manner = Manner::After(Duration::from_millis(1_500));
    let quick = |config: &mut throughline::config::Config| {
        for model in &mut config.model {
            (model.first_token_seconds, model.total_seconds) = (1, 1);
        }
        config.limits.turn_seconds_max = 1;
        config.server.request_seconds_max = 1;
    };
    let provider = Provider::start(manner).await;
    let entries = provider.entries();
    let app = TestApp::builder().set(|config| config.model = entries).set(quick).start().await;
    let door = Door { app, provider };
    for format in BOTH {
        for session in [None, Some("a")] {
            let answer = door.ask(format, session, &format.body(says("Think."), false)).await;
            assert_eq!(answer.status, 200, "{}", answer.text);
        }
    }
    assert_eq!(door.app.get("/conversations/a").await.expect(200)["turns"], 2);
}

#[tokio::test]
async fn a_stream_that_falls_silent_ends_and_its_turn_with_it() {
    let provider = Provider::start(Manner::Silent).await;
    let mut entries = provider.entries();
    for entry in &mut entries {
        entry.idle_seconds = 1;
    }
    let app = TestApp::builder().set(|config| config.model = entries).start().await;
    let door = Door { app, provider };
    for format in BOTH {
        let request = door.request(format.path(), &format.body(says("Go."), true));
        let response = request.header("x-session-id", "a").send().await.unwrap();
        assert_eq!(response.status(), 200);
        assert!(response.text().await.is_err(), "the stream is broken off, not ended");
    }
    let turns = door.app.get("/conversations/a/history").await.expect(200);
    let first = &turns["turns"][0];
    assert_eq!(first["status"], "failed", "{first}");
    assert!(first["error"]["message"].as_str().unwrap().contains("1 second"), "{first}");
}

#[tokio::test]
async fn unknown_routes_answer_in_the_providers_own_form() {
    let door = Door::open().await;
    for method in [reqwest::Method::GET, reqwest::Method::POST, reqwest::Method::DELETE] {
        let request = door.app.request(method.clone(), "/v1/audio/speech").json(&json!({}));
        let answer = send(request).await;
        assert_eq!(answer.status, 404);
        assert!(answer.json()["error"]["message"].is_string(), "{}", answer.text);
        let request = door.app.request(method, "/v1/messages/batches").json(&json!({}));
        let answer = send(request.header("anthropic-version", "2023-06-01")).await;
        assert_eq!((answer.status, &answer.json()["type"]), (404, &json!("error")));
    }
    let answer = send(door.app.request(reqwest::Method::GET, "/v1/chat/completions")).await;
    assert_eq!(answer.status, 405);
    assert!(answer.json()["error"]["message"].is_string(), "{}", answer.text);
}

#[tokio::test]
async fn embeddings_pass_where_a_model_is_configured() {
    let door = Door::open().await;
    let body = json!({"model": "openai", "input": vec![vec![1; 60_000]; 2]});
    let answer = send(door.request("/v1/embeddings", &body)).await;
    assert_eq!(answer.expect(200)["data"][0]["embedding"], json!([0.5]));
    let reached = door.provider.last();
    assert_eq!(
        (reached.path.as_str(), &reached.body()["model"]),
        ("/v1/embeddings", &json!("configured"))
    );
}
