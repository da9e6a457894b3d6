//! A user's memory without a session: named by a header, or by the key of the request.

use reqwest::RequestBuilder;
use serde_json::{Value, json};
use throughline_engine::access::Grants;

use crate::app::{Answer, send};
use crate::bench::{BOTH, Format};
use crate::cases::Door;

async fn say(
    door: &Door,
    format: Format,
    text: &str,
    who: impl Fn(RequestBuilder) -> RequestBuilder,
) -> Answer {
    let messages = json!([{"role": "user", "content": text}]);
    let request = door.app.request(reqwest::Method::POST, format.path());
    send(who(request.json(&format.body(messages, false)))).await
}

fn reached(door: &Door) -> String {
    String::from_utf8(door.provider.last().bytes.to_vec()).unwrap()
}

#[tokio::test]
async fn a_user_who_is_named_is_remembered_without_a_session_and_nothing_is_kept() {
    for format in BOTH {
        let door = Door::open().await;
        let ada = |request: RequestBuilder| request.header("x-user-id", "ada@example.org");
        let first = |request: RequestBuilder| ada(request).header("x-session-id", "a");
        say(&door, format, "I'm allergic to nuts. The gate code is 4711.", first).await.expect(200);
        let answer = say(&door, format, "What did I say the gate code is?", ada).await;
        let said = answer.headers["x-throughline-memory"].to_str().unwrap().to_owned();
        assert!(said.starts_with("added"), "{said}");
        assert!(!answer.headers.contains_key("x-session-id"));
        assert!(
            reached(&door).contains("4711") && reached(&door).contains("nuts"),
            "{}",
            reached(&door)
        );

        let bob = |request: RequestBuilder| request.header("x-user-id", "bob");
        say(&door, format, "What did I say the gate code is?", bob).await.expect(200);
        assert!(!reached(&door).contains("4711"), "{}", reached(&door));
        say(&door, format, "What did I say the gate code is?", |request| request).await.expect(200);
        assert!(!reached(&door).contains("4711"), "{}", reached(&door));

        let list = async |user: &str| {
            let request = door.app.request(reqwest::Method::GET, "/api/v1/conversations");
            send(request.header("x-user-id", user)).await.expect(200)["conversations"].clone()
        };
        assert_eq!(list("ada@example.org").await.as_array().unwrap().len(), 1);
        assert_eq!(list("bob").await, json!([]));
    }
}

#[tokio::test]
async fn what_is_added_for_a_user_stays_where_it_was_while_the_client_sends_its_conversation_again()
{
    for format in BOTH {
        let door = Door::open().await;
        let first = |request: RequestBuilder| {
            request.header("x-user-id", "ada").header("x-session-id", "a")
        };
        say(&door, format, "I'm allergic to nuts.", first).await.expect(200);
        let mut messages = vec![json!({"role": "user", "content": "Plan a dinner."})];
        let mut before: Option<Vec<Value>> = None;
        for text in ["For four.", "On Friday."] {
            let body = format.body(json!(messages), false);
            let request = door.app.request(reqwest::Method::POST, format.path()).json(&body);
            send(request.header("x-user-id", "ada")).await.expect(200);
            let sent = door.provider.last().body()["messages"].as_array().unwrap().clone();
            assert!(sent[0].to_string().contains("nuts"), "{sent:?}");
            if let Some(before) = before {
                assert_eq!(sent[..before.len()], before, "the prefix holds");
            }
            before = Some(sent);
            messages.push(json!({"role": "assistant", "content": "Said."}));
            messages.push(json!({"role": "user", "content": text}));
        }
    }
}

#[tokio::test]
async fn a_key_has_a_user_and_only_an_admins_key_names_another() {
    let door = Door::open().await;
    let ada = door.app.key("acme", "ada", Grants::Write).await;
    let application = door.app.key("acme", "app", Grants::Admin).await;
    let format = Format::OpenAi;
    let as_ada = |request: RequestBuilder| request.header("x-api-key", &ada);
    say(&door, format, "The gate code is 4711.", |request| {
        as_ada(request).header("x-session-id", "a")
    })
    .await
    .expect(200);
    say(&door, format, "What did I say the gate code is?", as_ada).await.expect(200);
    assert!(reached(&door).contains("4711"), "{}", reached(&door));

    let named = |key: &str, user: &str| {
        let (key, user) = (key.to_owned(), user.to_owned());
        move |request: RequestBuilder| {
            request.bearer_auth(key.clone()).header("x-user-id", user.clone())
        }
    };
    let question = "What did I say the gate code is?";
    say(&door, format, question, named(&application, "ada")).await.expect(200);
    assert!(reached(&door).contains("4711"), "an application serves its users");
    say(&door, format, question, named(&application, "bob")).await.expect(200);
    assert!(!reached(&door).contains("4711"));
    let before = door.provider.all().len();
    assert_eq!(say(&door, format, question, named(&ada, "bob")).await.status, 403);
    assert_eq!(say(&door, format, question, named(&ada, "ada")).await.status, 200);
    assert_eq!(door.provider.all().len(), before + 1);
}

#[tokio::test]
async fn a_client_sends_its_own_key_beside_ours() {
    let door = Door::open().await;
    let ada = door.app.key("acme", "ada", Grants::Write).await;
    let both =
        |request: RequestBuilder| request.header("x-api-key", &ada).bearer_auth("oauth-token");
    say(&door, Format::Anthropic, "Hello.", both).await.expect(200);
    let headers = door.provider.last().headers;
    assert_eq!(headers["authorization"], "Bearer oauth-token");
    assert!(!headers.contains_key("x-api-key"), "{headers:?}");
}
