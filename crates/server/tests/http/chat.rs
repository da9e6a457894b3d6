//! Turns that the engine answers, without a model and with real tools.

use futures::StreamExt;
use reqwest::Method;
use serde_json::{Value, json};
use throughline::config::Environment;
use throughline_testkit::scripted_model::{ScriptedModel, Turn};

use crate::app::TestApp;

#[tokio::test]
async fn a_chat_without_a_model_is_answered_and_says_so() {
    let app = TestApp::start().await;
    let reply = app.post("/chat", json!({"message": "hello"})).await.expect(200);
    assert_eq!(reply["turn"], 1);
    assert_eq!(reply["form"]["by"], "offline");
    assert!(reply["context"]["summary"].as_str().unwrap().contains("tokens"));
    let id = reply["conversation_id"].as_str().unwrap();
    let body = json!({"message": "again", "conversation_id": id});
    assert_eq!(app.post("/chat", body).await.expect(200)["turn"], 2);
    let info = app.get("/debug/prompt-info").await.expect(200);
    assert_eq!(info["conversation_id"], id);
    assert_eq!(info["turn"], 2);
    assert!(info["tokens_by_part"]["instructions"].as_u64().unwrap() > 0);
}

#[tokio::test]
async fn without_a_model_nothing_was_sent_and_the_calls_are_in_the_receipt() {
    let app = TestApp::builder().demo().start().await;
    let message = json!({"conversation_id": "r", "message": "list all sites"});
    let reply = app.post("/chat", message).await.expect(200);
    let summary = reply["context"]["summary"].as_str().unwrap();
    assert!(summary.starts_with("2 rules"), "{summary}");
    assert_eq!(reply["context"]["no_model"], true);
    let receipt = app.get("/conversations/r/turns/1/context").await.expect(200);
    assert_eq!(receipt["no_model"], true);
    let pieces = receipt["pieces"].as_array().unwrap();
    assert!(pieces.iter().any(|piece| piece["included"] == true), "{receipt}");
    assert!(pieces.iter().all(|piece| piece["sent"] == false), "{receipt}");
    let call = &receipt["calls"][0];
    assert_eq!((&call["name"], &call["ok"]), (&json!("list_sites"), &json!(true)), "{receipt}");
    let brief = app.get("/conversations/r/history").await.expect(200);
    assert_eq!(brief["turns"][0]["no_tool_called"], false);
    assert_eq!(brief["turns"][0]["no_model"], true);
    assert_eq!(brief["turns"][0]["context"], summary);
    let prepared = app.post("/conversations/r/prepare", json!({"message": "and racks?"})).await;
    let receipt = &prepared.expect(200)["receipt"];
    assert_eq!(receipt["no_model"], false, "an application sends it");
    assert!(receipt["pieces"].as_array().unwrap().iter().any(|piece| piece["sent"] == true));
}

#[tokio::test]
async fn a_workflow_that_comes_with_a_message_is_listed() {
    let app = TestApp::start().await;
    let spec = json!({"name": "Task Management", "steps": []});
    let message = json!({"conversation_id": "w", "message": "Add a step.", "workflow_id": "wf-1",
        "workflow_spec": spec});
    app.post("/chat", message).await.expect(200);
    let listed = app.get("/conversations/w/workflows").await.expect(200);
    let workflow = &listed["workflows"][0];
    assert_eq!(
        (&workflow["spec_id"], &workflow["name"]),
        (&json!("wf-1"), &json!("Task Management")),
        "{listed}"
    );
    let sessions = app.get("/workflows/wf-1/conversations").await.expect(200);
    assert_eq!(sessions["conversations"].as_array().map(Vec::len), Some(1), "{sessions}");
}

#[tokio::test]
async fn the_same_key_runs_a_chat_once() {
    let app = TestApp::start().await;
    let key = [("idempotency-key", "k")];
    let body = json!({"message": "hello"});
    let first = app.post_with("/chat", body.clone(), &key).await.expect(200);
    let again = app.post_with("/chat", body, &key).await.expect(200);
    assert_eq!(again, first);
    let other = app.post_with("/chat", json!({"message": "other"}), &key).await;
    assert_eq!(other.status, 422, "{}", other.text);
}

#[tokio::test]
async fn a_query_chooses_a_tool_calls_it_and_words_the_result() {
    let app = TestApp::builder().demo().start().await;
    let reply = app.post("/query", json!({"query": "list all sites"})).await.expect(200);
    assert_eq!(reply["success"], true, "{reply}");
    assert_eq!(reply["tool_name"], "list_sites");
    assert!(reply["response"].as_str().unwrap().contains("Amsterdam"), "{reply}");
    let id = reply["session_id"].as_str().unwrap();
    let turn = app.get(&format!("/conversations/{id}/turns/1")).await.expect(200);
    assert_eq!(turn["tools_used"], json!(["inventory:list_sites"]));
    let nothing = app.post("/query", json!({"query": "zzz qqq"})).await.expect(200);
    assert_eq!(nothing["success"], false, "{nothing}");
    assert!(nothing["error"].is_string());
}

#[tokio::test]
async fn a_stream_tells_what_happens_and_ends_with_done() {
    let app = TestApp::builder().demo().start().await;
    let request = app.request(Method::POST, "/api/v1/chat/stream");
    let response = request.json(&json!({"message": "list all sites"})).send().await.unwrap();
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let events = events(&response.text().await.unwrap());
    let names: Vec<&str> = events.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names.first(), Some(&"context"), "{names:?}");
    assert_eq!(names.last(), Some(&"done"), "{names:?}");
    assert!(names.contains(&"tool_call") && names.contains(&"tool_result"), "{names:?}");
    let said: String = events
        .iter()
        .filter(|(name, _)| name == "delta")
        .map(|(_, data)| data["text"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(events.last().unwrap().1["reply"].as_str().unwrap().trim(), said.trim());
    let wrong = app.post("/chat/stream", json!({"message": ""})).await;
    assert_eq!((wrong.status, wrong.code()), (400, "invalid".to_owned()));
}

#[tokio::test]
async fn a_client_that_goes_away_leaves_a_turn_that_is_kept() {
    let app = TestApp::builder().demo().start().await;
    app.post("/conversations", json!({"id": "a"})).await.expect(201);
    let request = app.request(Method::POST, "/api/v1/chat/stream");
    let body = json!({"message": "list all devices", "conversation_id": "a"});
    let response = request.json(&body).send().await.unwrap();
    let mut stream = response.bytes_stream();
    assert!(stream.next().await.unwrap().is_ok());
    drop(stream);
    app.app.turns().close();
    app.app.turns().wait().await;
    let history = app.get("/conversations/a/history").await.expect(200);
    assert_eq!(history["turns"][0]["message"], "list all devices");
}

#[tokio::test]
async fn a_destructive_call_waits_for_approval_and_goes_on_or_is_refused() {
    let app = TestApp::builder().demo().start().await;
    for approve in [false, true] {
        let body = json!({"query": "delete device ams1-sw-02"});
        let paused = app.post("/query", body).await.expect(202);
        assert_eq!(paused["tool_name"], "delete_device", "{paused}");
        let id = paused["session_id"].as_str().unwrap();
        let call = paused["awaiting_approval"][0]["id"].as_str().unwrap();
        let path = format!("/conversations/{id}/approvals/{call}");
        let decided = app.post(&path, json!({ "approve": approve })).await.expect(200);
        assert_eq!(decided["turn"], 1, "{decided}");
        let last = decided["tool_executions"].as_array().unwrap().last().unwrap();
        assert_eq!((&last["name"], &last["ok"]), (&json!("delete_device"), &json!(approve)));
        assert_eq!(app.post(&path, json!({"approve": true})).await.code(), "no_approval");
    }
}

#[tokio::test]
async fn agents_and_tools_are_listed_with_how_they_stand() {
    let app = TestApp::builder().demo().start().await;
    let agents = app.get("/agents").await.expect(200);
    assert_eq!(agents["agents"][0]["name"], "demo");
    let items = app.get("/agents/demo/items").await.expect(200);
    let kinds: Vec<&Value> =
        items["items"].as_array().unwrap().iter().map(|i| &i["type"]).collect();
    for kind in ["rule", "reference", "tool"] {
        assert!(kinds.iter().any(|k| **k == kind), "{kind}");
    }
    assert_eq!(app.get("/agents/nobody/items").await.status, 404);
    let tools = app.get("/tools").await.expect(200);
    assert!(tools["tools"].as_array().unwrap().iter().all(|tool| tool["approved"] == true));
    assert_eq!(app.post("/tools/inventory/none/approve", json!({})).await.code(), "missing");
}

#[tokio::test]
async fn things_of_a_conversation_and_words_in_it_are_found() {
    let app = TestApp::builder().demo().start().await;
    let body = json!({"query": "show device ams1-core-01", "session_id": "a"});
    app.post("/query", body).await.expect(200);
    let entities = app.get("/conversations/a/entities").await.expect(200);
    let names: Vec<&Value> =
        entities["entities"].as_array().unwrap().iter().map(|e| &e["name"]).collect();
    assert!(names.iter().any(|name| **name == "ams1-core-01"), "{entities}");
    let about = app.get("/entities/device/ams1-core-01/conversations").await.expect(200);
    assert_eq!(about["conversations"][0]["session_id"], "a");
    app.get("/conversations/a/workflows").await.expect(200);
    app.get("/workflows/none/conversations").await.expect(200);
    let found = app.get("/search?q=core").await.expect(200);
    assert!(!found["hits"].as_array().unwrap().is_empty(), "{found}");
}

#[tokio::test]
async fn a_search_finds_what_means_the_same() {
    let app = TestApp::builder().start().await;
    app.post("/conversations", json!({"id": "orders"})).await.expect(201);
    let said = [
        "I ordered 30 tulips for the office.",
        "The switch in rack 12 does not answer.",
        "When does the train to Berlin leave?",
    ];
    for message in said {
        let turn = json!({"message": message, "reply": "Noted."});
        app.post("/conversations/orders/turns", turn).await.expect(201);
    }
    for (query, expected) in [("flowers+bought", said[0]), ("railway+departure", said[2])] {
        let found = app.get(&format!("/search?q={query}")).await.expect(200);
        let turns: Vec<&Value> =
            found["hits"].as_array().unwrap().iter().map(|hit| &hit["snippet"]["text"]).collect();
        assert_eq!(turns, [expected], "{query}: {found}");
    }
    let found = app.get("/search?q=%22flowers+bought%22").await.expect(200);
    assert_eq!(found["hits"], json!([]), "a phrase is meant to the letter");
}

fn events(text: &str) -> Vec<(String, Value)> {
    text.split("\n\n")
        .filter_map(|event| {
            let line = |name: &str| event.lines().find_map(|line| line.strip_prefix(name));
            let data = serde_json::from_str(line("data: ")?).unwrap();
            Some((line("event: ")?.to_owned(), data))
        })
        .collect()
}

#[tokio::test]
async fn files_come_along_as_data_and_are_named_in_the_history() {
    let app = TestApp::start().await;
    let body = json!({
        "message": "where is it?", "workflow_id": "spec_1",
        "attachments": [{"name": "notes.txt", "text": "The rack is R42."}],
    });
    let reply = app.post("/chat", body).await.expect(200);
    let id = reply["conversation_id"].as_str().unwrap();
    let turn = app.get(&format!("/conversations/{id}/turns/1")).await.expect(200);
    assert_eq!(turn["attachments"], json!(["notes.txt"]));
    let request = app.get(&format!("/conversations/{id}/turns/1/request")).await;
    assert!(request.text.contains("The rack is R42."), "{}", request.text);
    let many = vec![json!({"name": "a", "text": "b"}); 9];
    let refused = app.post("/chat", json!({"message": "hello", "attachments": many})).await;
    assert_eq!((refused.status, refused.code()), (400, "invalid".into()));
}

/// A picture of one pixel.
const PIXEL: &str =
    "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";

async fn with_model(turns: impl IntoIterator<Item = Turn>) -> (TestApp, ScriptedModel) {
    let model = ScriptedModel::playing(turns).await;
    let (url, key) = (model.openai_url(), "sk-test");
    let environment = Environment::of([("OPENAI_BASE_URL", url.as_str()), ("OPENAI_API_KEY", key)]);
    let app = TestApp::builder().set(|config| config.environment = environment).start().await;
    (app, model)
}

#[tokio::test]
async fn a_picture_is_shown_to_the_model_again_on_the_next_turn_and_counted_as_one() {
    let (app, model) = with_model([Turn::text("A dot."), Turn::text("Black.")]).await;
    let body = json!({
        "message": "What is on it?", "attachments": [{"name": "dot.gif", "image": PIXEL}],
    });
    let reply = app.post("/chat", body).await.expect(200);
    let id = reply["conversation_id"].as_str().unwrap();
    let body = json!({"message": "In which colour?", "conversation_id": id});
    app.post("/chat", body).await.expect(200);
    for request in model.requests() {
        let shown = request.body["messages"].to_string();
        assert_eq!(shown.matches(PIXEL).count(), 1, "{shown}");
        assert!(shown.contains(r#""type":"image_url""#), "{shown}");
    }
    let turn = app.get(&format!("/conversations/{id}/turns/1")).await.expect(200);
    assert_eq!(turn["attachments"], json!(["dot.gif"]));
    let receipt = app.get(&format!("/conversations/{id}/turns/1/context")).await.expect(200);
    let pieces = receipt["pieces"].as_array().unwrap();
    let piece = pieces.iter().find(|piece| piece["source"]["kind"] == "given").unwrap();
    assert_eq!(piece["tokens"], 1);
    for turn in [1, 2] {
        let request = app.get(&format!("/conversations/{id}/turns/{turn}/request")).await;
        assert!(request.text.contains(r#""type":"image""#), "{}", request.text);
    }
}

#[tokio::test]
async fn a_message_can_be_answered_without_the_configured_model() {
    let (app, model) = with_model([Turn::text("Never asked.")]).await;
    let body = json!({"message": "hello", "without_model": true});
    let reply = app.post("/chat", body).await.expect(200);
    let id = reply["conversation_id"].as_str().unwrap();
    let turn = app.get(&format!("/conversations/{id}/turns/1")).await.expect(200);
    assert_eq!(turn["form"], json!({"by": "offline", "why": "as asked"}));
    assert_eq!((&turn["status"], model.requests().len()), (&json!("complete"), 0));
}

#[tokio::test]
async fn a_turn_without_a_model_has_no_request_in_a_providers_format() {
    let app = TestApp::start().await;
    let reply = app.post("/chat", json!({"message": "hello"})).await.expect(200);
    let id = reply["conversation_id"].as_str().unwrap();
    let path = format!("/conversations/{id}/turns/1/request");
    assert_eq!(app.get(&path).await.status, 200);
    let provider = app.get(&format!("{path}?format=provider")).await;
    assert_eq!((provider.status, provider.code()), (404, "no_provider_request".into()));
}

#[tokio::test]
async fn the_demo_is_reset_and_where_there_is_none_that_is_said() {
    let plain = TestApp::start().await;
    let none = plain.post("/demo/reset", json!({})).await;
    assert_eq!((none.status, none.code()), (404, "no_demo".into()));

    let app = TestApp::builder().demo().start().await;
    let add = json!({"query": "add C++ answers to project 123 survey"});
    let added = |reply: &Value| reply["response"].as_str().unwrap().contains("Added 0 answers");
    let first = app.post("/query", add.clone()).await.expect(200);
    assert!(!added(&first), "{first}");
    assert!(added(&app.post("/query", add.clone()).await.expect(200)));
    assert_eq!(app.post("/demo/reset", json!({})).await.status, 204);
    let again = app.post("/query", add).await.expect(200);
    assert_eq!(again["response"], first["response"]);
}
