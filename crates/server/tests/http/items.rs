//! Items of a session, what a request had of them, and two requests compared.

use serde_json::{Value, json};

use crate::app::TestApp;

fn tool(name: &str) -> Value {
    json!({"type": "tool", "serverName": "inventory", "name": name})
}

fn names(items: &Value) -> Vec<String> {
    let items = items.as_array().expect("a list");
    items.iter().map(|i| format!("{} {}", i["includeMode"], i["name"])).collect()
}

async fn demo_session() -> TestApp {
    let app = TestApp::builder().demo().start().await;
    app.post("/conversations", json!({"id": "a", "agent": "demo"})).await.expect(201);
    app
}

#[tokio::test]
async fn two_requests_are_compared_piece_by_piece() {
    let app = demo_session().await;
    app.post("/chat", json!({"conversation_id": "a", "message": "show device ams1-sw-01"}))
        .await
        .expect(200);
    app.post("/chat", json!({"conversation_id": "a", "message": "which racks?"})).await.expect(200);
    let same = app.get("/conversations/a/turns/1/context/diff?with=1").await.expect(200);
    assert_eq!((&same["same_request"], &same["only_first"]), (&json!(true), &json!([])));
    let diff = app.get("/conversations/a/turns/1/context/diff?with=2").await.expect(200);
    assert_eq!(diff["same_request"], false);
    let history = |piece: &&Value| piece["source"]["kind"] == "history";
    let came = diff["only_second"].as_array().expect("a list");
    assert!(came.iter().filter(history).count() >= 2, "{diff}");
    assert!(!diff["only_first"].as_array().expect("a list").iter().any(|p| history(&p)), "{diff}");
    let other = app.get("/conversations/a/turns/2/context/diff?with=2&session=a").await;
    assert_eq!(other.expect(200)["same_request"], true);
    for wrong in
        ["1/context/diff?with=9", "9/context/diff?with=1", "1/context/diff?with=1&session=b"]
    {
        assert_eq!(
            app.get(&format!("/conversations/a/turns/{wrong}")).await.status,
            404,
            "{wrong}"
        );
    }
    assert_eq!(app.get("/conversations/a/turns/1/context/diff").await.status, 400);
}

#[tokio::test]
async fn a_receipt_lists_its_items_under_the_names_of_a_request_context() {
    let app = demo_session().await;
    app.post("/chat", json!({"conversation_id": "a", "message": "show device ams1-sw-01"}))
        .await
        .expect(200);
    let receipt = app.get("/conversations/a/turns/1/context").await.expect(200);
    let items = receipt["items"].as_array().expect("a list");
    assert!(!items.is_empty(), "{receipt}");
    for item in items {
        assert!(["rule", "reference", "tool"].contains(&item["type"].as_str().unwrap()), "{item}");
        assert!(["always", "manual", "agent"].contains(&item["includeMode"].as_str().unwrap()));
        assert_eq!(item["type"] == "tool", item["serverName"] == "inventory", "{item}");
        assert_eq!(item["includeMode"] == "agent", item["similarityScore"].is_number(), "{item}");
    }
    let used = items.iter().filter(|item| item["used"] == true && item["type"] == "tool");
    let used: Vec<&Value> = used.map(|item| &item["name"]).collect();
    assert!(used.contains(&&json!("get_device")), "the tool that was called: {receipt}");
}

#[tokio::test]
async fn usage_is_counted_per_session_and_agent_and_comes_as_csv_too() {
    let app = demo_session().await;
    for _ in 0..2 {
        let message = json!({"conversation_id": "a", "message": "show device ams1-sw-01"});
        app.post("/chat", message).await.expect(200);
    }
    let session = app.get("/conversations/a/context/usage").await.expect(200);
    let used = session["items"].as_array().unwrap().iter().find(|item| item["used"] == 2);
    let used = used.unwrap_or_else(|| panic!("{session}"));
    assert_eq!((&used["type"], &used["sent"]), (&json!("tool"), &json!(2)));
    let agent = app.get("/agents/demo/usage").await.expect(200);
    assert_eq!(agent["sessions"], 1);
    let name = used["name"].as_str().unwrap();
    let csv = app.get("/agents/demo/usage?format=csv").await;
    assert_eq!(csv.headers["content-type"], "text/csv; charset=utf-8");
    assert!(csv.text.contains(&format!("tool,inventory,{name},2,2,1\r\n")), "{}", csv.text);
    let csv = app.get("/conversations/a/context/usage?format=csv").await;
    assert!(csv.text.starts_with("type,server,name,sent,used,suggestion\r\n"), "{}", csv.text);
    assert_eq!(app.get("/agents/nobody/usage").await.status, 404);
}

#[tokio::test]
async fn an_item_is_added_once_removed_once_and_must_exist() {
    let app = demo_session().await;
    let before = app.get("/conversations/a/context").await.expect(200);
    let first = &before["items"].as_array().unwrap().iter().find(|i| i["type"] == "tool").cloned();
    let first =
        first.as_ref().expect("tools are always there")["name"].as_str().unwrap().to_owned();
    let path = "/conversations/a/context";
    let gone = app.send_with(reqwest::Method::DELETE, path, tool(&first), &[]).await.expect(200);
    assert!(!names(&gone["items"]).contains(&format!("\"always\" \"{first}\"")), "{gone}");
    let gone_again = app.send_with(reqwest::Method::DELETE, path, tool(&first), &[]).await;
    assert_eq!(gone_again.status, 404);
    let added = app.post(path, tool(&first)).await.expect(200);
    let again = app.post(path, tool(&first)).await.expect(200);
    assert_eq!(added, again, "a second time changes nothing, not even the version");
    let listed = names(&again["items"]);
    let count = listed.iter().filter(|item| **item == format!("\"manual\" \"{first}\"")).count();
    assert_eq!(count, 1, "{listed:?}");
    assert_eq!(app.post(path, tool("no_such_tool")).await.status, 404);
}
