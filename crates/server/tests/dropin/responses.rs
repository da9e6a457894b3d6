//! `/v1/responses` with memory, before a provider that serves them and before one of chat completions only.

use serde_json::{Value, json};
use throughline_testkit::scripted_model::{Recorded, Step, Turn};

use crate::app::{Answer, send};
use crate::bench::Bench;

const PATH: &str = "/v1/responses";
const FORMS: [&str; 2] = ["native", "converted"];

async fn bench(form: &str, turns: impl IntoIterator<Item = Turn>) -> Bench {
    Bench::with(turns, |config| {
        for model in &mut config.model {
            model.responses = form.to_owned();
        }
    })
    .await
}

async fn ask(bench: &Bench, session: Option<&str>, body: &Value) -> Answer {
    let mut request = bench.app.request(reqwest::Method::POST, PATH).json(body);
    if let Some(session) = session {
        request = request.header("x-session-id", session);
    }
    send(request.bearer_auth("sk-of-the-client")).await
}

fn body(input: Value) -> Value {
    json!({"model": "some-model", "input": input})
}

fn said(answer: &Value) -> String {
    let items = answer["output"].as_array().unwrap_or_else(|| panic!("no output in {answer}"));
    let texts = items.iter().filter(|item| item["type"] == "message");
    texts.map(|item| item["content"][0]["text"].as_str().unwrap()).collect()
}

/// What stands in the conversation that reached the provider, whatever its format.
fn conversation(request: &Recorded) -> Vec<Value> {
    let body = &request.body;
    let list = if body["messages"].is_array() { &body["messages"] } else { &body["input"] };
    match list {
        Value::Array(items) => items.clone(),
        text => vec![json!({"role": "user", "content": text})],
    }
}

fn events(text: &str) -> Vec<Value> {
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(|data| serde_json::from_str(data).unwrap()).collect()
}

#[tokio::test]
async fn two_turns_are_one_session_by_the_id_of_the_first_reply() {
    for form in FORMS {
        let bench = bench(form, [Turn::text("Noted."), Turn::text("You are Ada.")]).await;
        let first = ask(&bench, None, &body(json!("My name is Ada."))).await;
        let session = first.headers["x-session-id"].to_str().unwrap().to_owned();
        let first = first.expect(200);
        assert_eq!((said(&first).as_str(), &first["object"]), ("Noted.", &json!("response")));
        let mut next = body(json!([{"role": "user", "content": "Who am I?"}]));
        next["previous_response_id"] = first["id"].clone();
        let second = ask(&bench, None, &next).await.expect(200);
        assert_eq!(said(&second), "You are Ada.");
        assert_eq!(second["previous_response_id"], first["id"]);
        let reached = conversation(&bench.reached());
        let roles: Vec<&Value> = reached.iter().map(|item| &item["role"]).collect();
        assert_eq!(roles, ["user", "assistant", "user"], "{reached:?}");
        assert!(reached[0].to_string().contains("My name is Ada."), "{reached:?}");
        let turns = bench.turns(&session).await;
        assert_eq!(turns.len(), 2);
        assert_eq!(turns[1]["message"], "Who am I?");
        for turn in [1, 2] {
            let path = format!("/conversations/{session}/turns/{turn}/request");
            let again = bench.app.get(&path).await;
            assert_eq!(again.text.as_bytes(), bench.model.requests()[turn - 1].bytes, "{form}");
        }
    }
}

#[tokio::test]
async fn a_reply_that_is_not_the_last_is_gone_on_from_in_a_fork() {
    let turns = ["One.", "Two.", "Other."].map(Turn::text);
    let bench = bench("native", turns).await;
    let first = ask(&bench, Some("a"), &body(json!("First."))).await.expect(200);
    let mut next = body(json!("Second."));
    next["previous_response_id"] = first["id"].clone();
    ask(&bench, None, &next).await.expect(200);
    next["input"] = json!("Instead.");
    let branch = ask(&bench, None, &next).await;
    let fork = branch.headers["x-session-id"].to_str().unwrap().to_owned();
    assert_ne!(fork, "a");
    let messages = |turns: Vec<Value>| -> Vec<Value> {
        turns.iter().map(|turn| turn["message"].clone()).collect()
    };
    assert_eq!(messages(bench.turns("a").await), ["First.", "Second."]);
    assert_eq!(messages(bench.turns(&fork).await), ["First.", "Instead."]);
}

#[tokio::test]
async fn results_of_tools_find_the_calls_that_the_client_only_names() {
    for form in FORMS {
        for (streams, by_conversation) in [(false, false), (true, false), (false, true)] {
            let turns =
                [Turn::call("c1", "weather", r#"{"city":"Oslo"}"#), Turn::text("It rains.")];
            let bench = bench(form, turns).await;
            let mut asked = body(json!("The weather in Oslo?"));
            asked["stream"] = json!(streams);
            asked["tools"] = json!([{"type": "function", "name": "weather",
                "parameters": {"type": "object", "properties": {}}}]);
            if by_conversation {
                asked["conversation"] = json!({"id": "a"});
            }
            let answer = ask(&bench, (!by_conversation).then_some("a"), &asked).await;
            assert_eq!(answer.status, 200, "{}", answer.text);
            let response = match streams {
                true => events(&answer.text).pop().unwrap()["response"].clone(),
                false => answer.json(),
            };
            assert!(bench.turns("a").await.is_empty(), "a call is not yet an exchange");
            if !by_conversation {
                asked["previous_response_id"] = response["id"].clone();
            }
            asked["input"] =
                json!([{"type": "function_call_output", "call_id": "c1", "output": "rain"}]);
            let answer = ask(&bench, None, &asked).await;
            assert_eq!(answer.status, 200, "{form} {streams}: {}", answer.text);
            let reached = conversation(&bench.reached());
            let text = json!(reached).to_string();
            assert!(text.contains("The weather in Oslo?") && text.contains("Oslo\\\"}"), "{text}");
            if form == "native" {
                assert!(text.contains("sealed"), "reasoning goes along: {text}");
            }
            let turns = bench.turns("a").await;
            assert_eq!(turns.len(), 1);
            assert_eq!(turns[0]["message"], "The weather in Oslo?");
            assert_eq!(turns[0]["reply"], "It rains.");
            assert_eq!(turns[0]["tools_used"], json!(["client:weather"]));
        }
    }
}

#[tokio::test]
async fn a_stream_has_the_events_of_a_response_and_is_kept() {
    for form in FORMS {
        let steps = vec![Step::Text("A stream ".into()), Step::Text("of ünïcödé.".into())];
        let bench = bench(form, [Turn::Say(steps)]).await;
        let mut asked = body(json!("Go."));
        asked["stream"] = json!(true);
        let answer = ask(&bench, Some("a"), &asked).await;
        assert_eq!(answer.headers["content-type"], "text/event-stream");
        let events = events(&answer.text);
        let kinds: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
        let expected = [
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            "response.content_part.added",
            "response.output_text.delta",
            "response.output_text.delta",
            "response.output_text.done",
            "response.content_part.done",
            "response.output_item.done",
            "response.completed",
        ];
        assert_eq!(kinds, expected, "{form}");
        let numbers: Vec<u64> =
            events.iter().map(|event| event["sequence_number"].as_u64().unwrap()).collect();
        assert_eq!(numbers, (0..10).collect::<Vec<u64>>());
        let ids = [&events[0], &events[9]].map(|event| event["response"]["id"].clone());
        assert_eq!(ids[0], ids[1]);
        assert_eq!(said(&events[9]["response"]), "A stream of ünïcödé.");
        let turns = bench.turns("a").await;
        assert_eq!(turns[0]["reply"], "A stream of ünïcödé.");
        assert_eq!(
            (&turns[0]["status"], &turns[0]["usage"]["output_tokens"]),
            (&json!("complete"), &json!(5))
        );
    }
}

#[tokio::test]
async fn nothing_is_kept_that_says_so() {
    for form in FORMS {
        let bench = bench(form, [Turn::text("Gone."), Turn::text("Kept.")]).await;
        let mut asked = body(json!("Forget this."));
        asked["store"] = json!(false);
        let answer = ask(&bench, None, &asked).await;
        assert!(!answer.headers.contains_key("x-session-id"));
        assert_eq!(said(&answer.expect(200)), "Gone.");
        let all = bench.app.get("/conversations").await.expect(200);
        assert_eq!(all["conversations"], json!([]));
        // A session that is named keeps what it is told, as Codex needs it.
        ask(&bench, Some("a"), &asked).await.expect(200);
        assert_eq!(bench.turns("a").await.len(), 1);
    }
}

#[tokio::test]
async fn a_conversation_is_a_session_of_that_name() {
    for form in FORMS {
        let bench = bench(form, [Turn::text("One."), Turn::text("Two.")]).await;
        for (text, named) in
            [("First.", json!("talk@home/1")), ("Second.", json!({"id": "talk@home/1"}))]
        {
            let mut asked = body(json!(text));
            asked["conversation"] = named;
            ask(&bench, None, &asked).await.expect(200);
        }
        let reached = json!(conversation(&bench.reached())).to_string();
        assert!(reached.contains("First.") && reached.contains("Second."), "{reached}");
        let all = bench.app.get("/conversations").await.expect(200);
        assert_eq!(all["conversations"].as_array().unwrap().len(), 1, "{all}");
    }
}

#[tokio::test]
async fn what_cannot_be_converted_is_refused_before_anybody_is_asked() {
    let bench = bench("converted", []).await;
    for text in ["[]", "4", "\"x\"", "{", "[{}]"] {
        let request = bench.app.request(reqwest::Method::POST, PATH).body(text);
        let request = request.header("content-type", "application/json");
        let answer = send(request.bearer_auth("sk-of-the-client")).await;
        assert_eq!(answer.status, 400, "{text}: {}", answer.text);
        assert_eq!(answer.json()["error"]["code"], "invalid", "{text}: {}", answer.text);
    }
    let mut next = body(json!("And now?"));
    next["previous_response_id"] = json!("resp_of_the_provider");
    for session in [None, Some("a")] {
        let answer = ask(&bench, session, &next).await;
        assert_eq!(answer.status, 400, "{}", answer.text);
        assert_eq!(answer.json()["error"]["code"], "previous_response_not_found");
    }
    assert_eq!(bench.model.requests().len(), 0);
}

#[tokio::test]
async fn an_unknown_reply_is_refused_as_the_provider_does_and_nobody_reaches_anothers() {
    let bench = bench("native", [Turn::text("Noted.")]).await;
    let first = ask(&bench, Some("a"), &body(json!("My name is Ada."))).await.expect(200);
    let mut next = body(json!("Who am I?"));
    next["previous_response_id"] = first["id"].clone();
    let request = bench.app.request(reqwest::Method::POST, PATH).json(&next);
    let answer = send(request.bearer_auth("sk").header("x-user-id", "mallory")).await;
    assert_eq!(answer.status, 400, "{}", answer.text);
    assert_eq!(answer.json()["error"]["code"], "previous_response_not_found");
}

#[tokio::test]
async fn tools_that_chat_completions_do_not_have_are_said_to_be_left_out() {
    let bench = bench("converted", [Turn::text("Done.")]).await;
    let mut asked = body(json!("Search."));
    asked["tools"] = json!([{"type": "web_search"}]);
    let answer = ask(&bench, Some("a"), &asked).await;
    assert_eq!(answer.headers["x-throughline-not-converted"], "web_search");
    assert_eq!(said(&answer.expect(200)), "Done.");
}

#[tokio::test]
async fn the_same_key_is_answered_from_the_log() {
    let bench = bench("native", [Turn::text("Once.")]).await;
    for streams in [false, true, false] {
        let mut asked = body(json!("Say it."));
        asked["stream"] = json!(streams);
        let request = bench.app.request(reqwest::Method::POST, PATH).json(&asked);
        let request = request.bearer_auth("sk").header("x-session-id", format!("a{streams}"));
        let _ = send(request.header("idempotency-key", "k")).await;
    }
    let turns = bench.turns("afalse").await;
    assert_eq!(turns.len(), 1, "the third is the first again");
}

#[tokio::test]
async fn a_stored_response_is_its_users_own() {
    for form in FORMS {
        let bench = bench(form, [Turn::text("Noted.")]).await;
        let call = |method: reqwest::Method, path: &str, user: &str| {
            let request = bench.app.request(method, path).header("x-user-id", user);
            request.bearer_auth("sk-of-the-client")
        };
        let made = call(reqwest::Method::POST, PATH, "ada").json(&body(json!("My name is Ada.")));
        let made = send(made).await.expect(200);
        let path = format!("{PATH}/{}", made["id"].as_str().unwrap());
        let input = format!("{path}/input_items");
        for (method, path) in [("GET", &path), ("GET", &input), ("DELETE", &path)] {
            let method = reqwest::Method::from_bytes(method.as_bytes()).unwrap();
            let refused = send(call(method, path, "bob")).await.expect(404);
            assert_eq!(refused["error"]["code"], "response_not_found", "{form} {path}: {refused}");
            assert_eq!(refused["error"]["type"], "not_found_error");
        }
        let shown = send(call(reqwest::Method::GET, &path, "ada")).await.expect(200);
        assert_eq!((said(&shown), &shown["id"]), ("Noted.".into(), &made["id"]), "{form}");
    }
}

#[tokio::test]
async fn an_invented_id_leads_nowhere_and_a_stored_response_is_not_streamed() {
    let bench = bench("native", [Turn::text("Hi.")]).await;
    ask(&bench, Some("a"), &body(json!("Hello."))).await.expect(200);
    let invented = format!("{PATH}/resp_tl_00000000000000000000000000000000_0_a");
    let get = |path: &str| send(bench.app.request(reqwest::Method::GET, path));
    assert_eq!(get(&invented).await.status, 404);
    assert_eq!(get(&format!("{invented}?stream=true")).await.status, 400);
}

#[tokio::test]
async fn a_program_that_starts_anew_is_told_of_its_session_although_it_describes_its_surroundings()
{
    let text = |text: &str| {
        json!({"type": "message", "role": "user",
        "content": [{"type": "input_text", "text": text}]})
    };
    let surroundings = [
        text("<environment_context>\n  <cwd>/home/ada</cwd>\n</environment_context>"),
        text("<user_instructions>\nBe brief.\n</user_instructions>"),
        text(
            "# AGENTS.md instructions for /home/ada\n\n<INSTRUCTIONS>\nBe brief.\n</INSTRUCTIONS>",
        ),
    ];
    for form in FORMS {
        for context in &surroundings {
            let bench = bench(form, [Turn::text("Noted."), Turn::text("Selkie.")]).await;
            for message in ["My boat is called Selkie.", "Which boat?"] {
                let asked = body(json!([context, text(message)]));
                ask(&bench, Some("a"), &asked).await.expect(200);
            }
            let reached = conversation(&bench.reached());
            let roles: Vec<&Value> = reached.iter().map(|item| &item["role"]).collect();
            assert_eq!(roles, ["user", "user", "assistant", "user"], "{form} {reached:?}");
            assert!(reached[1].to_string().contains("My boat is called Selkie."), "{reached:?}");
            let turns = bench.turns("a").await;
            assert_eq!(turns[1]["message"], "Which boat?");
        }
    }
}

#[tokio::test]
async fn a_response_names_the_conversation_that_it_belongs_to() {
    for form in FORMS {
        for streams in [false, true] {
            let bench = bench(form, [Turn::text("One.")]).await;
            let mut asked = body(json!("First."));
            (asked["conversation"], asked["stream"]) = (json!("talk@home/1"), json!(streams));
            let answer = ask(&bench, None, &asked).await;
            let responses = match streams {
                true => {
                    let events = events(&answer.text).into_iter();
                    events.filter_map(|event| event.get("response").cloned()).collect()
                }
                false => vec![answer.json()],
            };
            for response in responses {
                let named = &response["conversation"];
                assert_eq!(named, &json!({"id": "talk@home/1"}), "{form} {streams}: {response}");
            }
        }
        let bench = bench(form, [Turn::text("One.")]).await;
        let none = ask(&bench, Some("a"), &body(json!("First."))).await.expect(200);
        assert_eq!(none["conversation"], Value::Null, "{form}");
    }
}

#[tokio::test]
async fn a_conversation_and_a_reply_before_are_not_named_together() {
    for form in FORMS {
        let bench = bench(form, [Turn::text("One.")]).await;
        let first = ask(&bench, Some("a"), &body(json!("First."))).await.expect(200);
        let mut asked = body(json!("Second."));
        (asked["conversation"], asked["previous_response_id"]) = (json!("a"), first["id"].clone());
        let refused = ask(&bench, None, &asked).await.expect(400);
        assert_eq!(refused["error"]["code"], "mutually_exclusive_parameters", "{refused}");
        assert_eq!(refused["error"]["type"], "invalid_request_error");
        assert_eq!(bench.model.requests().len(), 1);
        asked["previous_response_id"] = Value::Null;
        assert_ne!(ask(&bench, None, &asked).await.status, 400);
    }
}

#[tokio::test]
async fn tokens_of_an_input_are_counted_and_what_is_not_served_says_so() {
    for form in FORMS {
        let bench = bench(form, []).await;
        let mut long = body(json!("How many tokens are these, all in all?"));
        let path = format!("{PATH}/input_tokens");
        let count = |asked: Value| {
            let request = bench.app.request(reqwest::Method::POST, &path).json(&asked);
            send(request.bearer_auth("sk-of-the-client"))
        };
        let few = count(body(json!("Hi."))).await.expect(200);
        assert_eq!(few["object"], "response.input_tokens");
        let many = count(long.clone()).await.expect(200);
        assert!(many["input_tokens"].as_u64() > few["input_tokens"].as_u64(), "{few} {many}");
        long["instructions"] = json!("Answer in one word.");
        let more = count(long).await.expect(200);
        assert!(more["input_tokens"].as_u64() > many["input_tokens"].as_u64(), "{many} {more}");
        for (method, path) in [
            ("POST", "/v1/responses/compact"),
            ("POST", "/v1/conversations"),
            ("GET", "/v1/conversations/a"),
            ("POST", "/v1/conversations/a/items"),
            ("POST", "/v1/responses/resp_1/cancel"),
        ] {
            let method = reqwest::Method::from_bytes(method.as_bytes()).unwrap();
            let request = bench.app.request(method, path).bearer_auth("sk").json(&json!({}));
            let answer = send(request).await.expect(501);
            assert_eq!(answer["error"]["code"], "not_supported", "{path}: {answer}");
            let message = answer["error"]["message"].as_str().unwrap();
            assert!(message.contains("/v1/responses"), "{path}: {message}");
        }
        assert_eq!(bench.model.requests().len(), 0);
    }
}
