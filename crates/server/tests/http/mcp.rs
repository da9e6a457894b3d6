//! The MCP server over HTTP: who is let in, whose answer is whose, what is published.

use std::collections::BTreeSet;

use futures::stream::{self, StreamExt};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use throughline::config::ServerEntry;
use throughline_engine::access::Grants;
use throughline_engine::tokens;

use crate::app::{TestApp, send};

const NEWER: &str = "2026-07-28";

/// A call of the newer era, with everything that it must bring.
pub(crate) fn call(
    app: &TestApp,
    id: Value,
    method: &str,
    name: Option<&str>,
    params: Value,
) -> RequestBuilder {
    let mut params = params;
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": NEWER,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let request = app
        .request(Method::POST, "/mcp")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", NEWER)
        .header("mcp-method", method);
    let request = name.into_iter().fold(request, |request, name| request.header("mcp-name", name));
    request.json(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
}

pub(crate) fn tool(app: &TestApp, id: Value, name: &str, arguments: Value) -> RequestBuilder {
    call(app, id, "tools/call", Some(name), json!({"name": name, "arguments": arguments}))
}

/// The JSON-RPC message of an answer, be it JSON or a stream with one event.
async fn message(request: RequestBuilder) -> Value {
    let text = request.send().await.unwrap().text().await.unwrap();
    let data = text.lines().rev().find_map(|line| line.strip_prefix("data: ")).unwrap_or(&text);
    serde_json::from_str(data).unwrap_or_else(|_| panic!("not JSON: {text}"))
}

#[tokio::test]
async fn a_thousand_colliding_request_ids_of_fifty_clients_cross_no_answer() {
    let app = TestApp::start().await;
    let make = |client: usize| {
        let name = format!("client {client}");
        let arguments =
            json!({"action": "create", "name": name, "systemPrompt": "You are a test."});
        tool(&app, json!(1), "context-manage", arguments)
    };
    let mut contexts = Vec::new();
    for client in 0..50 {
        let made = message(make(client)).await;
        let id = &made["result"]["structuredContent"]["context"]["id"];
        contexts.push(id.as_str().unwrap().to_owned());
    }
    // Twenty calls of every client, all under the ids 1 to 20, 32 at a time.
    let calls = (0..1_000).map(|number| {
        let (client, id) = (number % 50, number / 50 + 1);
        let arguments = json!({"action": "get", "contextId": contexts[client]});
        let request = tool(&app, json!(id), "context-manage", arguments);
        async move { (client, id, message(request).await) }
    });
    let answers: Vec<(usize, usize, Value)> =
        stream::iter(calls).buffer_unordered(32).collect().await;
    let crossed = answers.iter().filter(|(client, id, answer)| {
        let context = &answer["result"]["structuredContent"]["context"];
        answer["id"] != json!(id)
            || context["id"] != contexts[*client]
            || context["name"] != format!("client {client}")
    });
    assert_eq!((answers.len(), crossed.count()), (1_000, 0));
}

#[tokio::test]
async fn a_page_of_another_site_and_a_foreign_host_are_turned_away() {
    let app = TestApp::start().await;
    let list = || call(&app, json!(1), "tools/list", None, json!({}));
    let status = async |request: RequestBuilder| request.send().await.unwrap().status().as_u16();
    assert_eq!(status(list()).await, 200);
    assert_eq!(status(list().header("origin", "https://evil.example")).await, 403);
    assert_eq!(status(list().header("host", "evil.example")).await, 403);
}

#[tokio::test]
async fn once_there_is_a_key_only_its_holder_is_let_in_and_only_as_far_as_it_reaches() {
    let app = TestApp::start().await;
    let key = app.key("acme", "ada", Grants::Read).await;
    let list = || call(&app, json!(1), "tools/list", None, json!({}));
    let status = async |request: RequestBuilder| request.send().await.unwrap().status().as_u16();
    assert_eq!(status(list()).await, 401);
    assert_eq!(status(list().bearer_auth("tl_wrong")).await, 401);
    assert_eq!(status(list().bearer_auth(&key)).await, 200);
    let arguments = json!({"action": "create", "name": "n", "systemPrompt": "p"});
    let refused =
        message(tool(&app, json!(1), "context-manage", arguments).bearer_auth(&key)).await;
    let answer = &refused["result"];
    assert_eq!(
        (&answer["isError"], &answer["structuredContent"]["code"]),
        (&json!(true), &json!("forbidden"))
    );
}

#[tokio::test]
async fn what_is_one_users_own_is_not_found_by_another() {
    let app = TestApp::start().await;
    let (ada, bob) =
        (app.key("acme", "ada", Grants::Write).await, app.key("acme", "bob", Grants::Write).await);
    let arguments =
        json!({"action": "create", "name": "Secret", "systemPrompt": "You are a test."});
    let made = message(tool(&app, json!(1), "context-manage", arguments).bearer_auth(&ada)).await;
    let id = made["result"]["structuredContent"]["context"]["id"].as_str().unwrap().to_owned();
    let get = json!({"action": "get", "contextId": id});
    let seen = message(tool(&app, json!(1), "context-manage", get).bearer_auth(&bob)).await;
    let text = seen.to_string();
    assert!(seen["result"]["isError"] == true && !text.contains("Secret"), "{text}");
    let uri = format!("throughline://context/{id}");
    let read = call(&app, json!(2), "resources/read", Some(&uri), json!({"uri": uri}));
    let read = message(read.bearer_auth(&bob)).await;
    assert_eq!(read["error"]["code"], -32602, "{read}");
}

#[tokio::test]
async fn lists_say_how_long_and_for_whom_they_may_be_kept() {
    let app = TestApp::start().await;
    let scope = async |method: &str| {
        let answer = message(call(&app, json!(1), method, None, json!({}))).await;
        let result = &answer["result"];
        assert_eq!(result["resultType"], "complete", "{answer}");
        assert!(result["ttlMs"].is_u64(), "{answer}");
        result["cacheScope"].as_str().unwrap().to_owned()
    };
    assert_eq!(scope("server/discover").await, "public");
    assert_eq!(scope("tools/list").await, "public");
    assert_eq!(scope("prompts/list").await, "public");
    assert_eq!(scope("resources/list").await, "private");
}

#[tokio::test]
async fn the_published_tools_are_these() {
    let app = TestApp::start().await;
    let first = message(call(&app, json!(1), "tools/list", None, json!({}))).await;
    let tools = &first["result"]["tools"];
    let names: BTreeSet<&str> =
        tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names.len(), 12);
    let again = message(call(&app, json!(2), "tools/list", None, json!({}))).await;
    assert_eq!(&again["result"]["tools"], tools);
    insta::assert_json_snapshot!(tools);
}

/// Every prompt of a client with these tools pays for the list.
#[tokio::test]
async fn the_list_of_tools_costs_less_than_half_of_what_it_did() {
    let app = TestApp::start().await;
    let listed = message(call(&app, json!(1), "tools/list", None, json!({}))).await;
    let tools = listed["result"]["tools"].as_array().unwrap();
    let tokens_of = |keys: &[&str]| {
        let part = |tool: &Value| -> Value {
            let fields = tool.as_object().unwrap().iter();
            fields
                .filter(|(key, _)| keys.contains(&key.as_str()))
                .map(|(k, v)| (k.clone(), v.clone()))
                .collect()
        };
        tokens::count(&Value::Array(tools.iter().map(part).collect()).to_string())
    };
    let shown = tokens_of(&["name", "description", "inputSchema"]);
    let listed = tokens_of(&["name", "description", "inputSchema", "title", "annotations"]);
    let whole = tokens::count(&Value::Array(tools.clone()).to_string());
    let costs =
        format!("{shown} tokens for a model, {listed} without output schemas, {whole} in all");
    println!("tools/list: {costs}");
    // It was 2821, 3147 and 8902.
    assert!(shown < 1_300 && listed < 1_510 && whole < 4_450, "{costs}");
}

#[tokio::test]
async fn arguments_agree_and_errors_name_them_with_what_is_allowed() {
    let app = TestApp::builder().demo().start().await;
    let text = async |name: &str, arguments: Value| {
        let answer = message(tool(&app, json!(1), name, arguments)).await;
        answer["result"]["content"][0]["text"].as_str().unwrap_or(&answer.to_string()).to_owned()
    };
    for name in ["memory-search", "recall", "tools-search", "context-query"] {
        let said = text(name, json!({"query": " "})).await;
        assert!(said.starts_with("query is not valid: "), "{name}: {said}");
    }
    let said = text("context-manage", json!({"action": "creat"})).await;
    assert!(said.starts_with("action is not valid: "), "{said}");
    for action in ["create", "create_from_preset", "list", "get", "update", "delete"] {
        assert!(said.contains(&format!("`{action}`")), "{said}");
    }
    let said = text("remember", json!({"text": "x", "kind": "opinion"})).await;
    assert!(said.contains("`preference`") && said.contains("`instruction`"), "{said}");
    let said = text("recall", json!({"question": "x"})).await;
    assert!(said.contains("`question`") && said.contains("`query`"), "{said}");
    let preset = json!({"action": "create_from_preset", "presetId": "nobody"});
    assert!(text("context-manage", preset).await.contains("preset-calm-counselor"));
    let agent = json!({"query": "List all sites", "agent": "nobody"});
    assert!(text("context-query", agent).await.contains("demo"), "the agents there are");
    let unknown = json!({"server": "inventory", "name": "list_nothing"});
    assert!(text("tools-call", unknown).await.contains("list_sites"), "the tools there are");

    let first = text("context-query", json!({"query": "List all sites"})).await;
    let id = first.split("(sessionId: ").nth(1).unwrap().trim_end_matches(')').to_owned();
    for name in ["sessionId", "session_id", "contextId"] {
        let mut arguments = json!({"query": "List all sites"});
        arguments[name] = json!(id);
        let again = tool(&app, json!(1), "context-query", arguments);
        assert_eq!(message(again).await["result"]["structuredContent"]["session_id"], id, "{name}");
    }
}

#[tokio::test]
async fn a_picture_of_an_upstream_tool_stays_a_picture() {
    let variable = |name: &str| std::env::var(name).ok();
    let found = variable("THROUGHLINE_TEST_NODE").zip(variable("THROUGHLINE_TEST_NPM_DIR"));
    let Some((command, folder)) = found else {
        println!("skipped: a real MCP server with pictures (THROUGHLINE_TEST_NODE is not set)");
        return;
    };
    let entry = "node_modules/@modelcontextprotocol/server-everything/dist/index.js";
    let args = vec![format!("{folder}/{entry}")];
    let server = ServerEntry {
        command,
        args,
        reads_only: true,
        list_seconds: 60,
        connect_seconds: 60,
        ..ServerEntry::default()
    };
    let app = TestApp::builder()
        .set(|config| {
            config.servers.insert("everything".into(), server);
        })
        .start()
        .await;
    let arguments = json!({"server": "everything", "name": "get-tiny-image"});
    let answer = message(tool(&app, json!(1), "tools-call", arguments)).await;
    let content = answer["result"]["content"].as_array().unwrap();
    let image = content.iter().find(|block| block["type"] == "image").expect("a picture");
    assert_eq!(image["mimeType"], "image/png", "{answer}");
    assert!(image["data"].as_str().unwrap().starts_with("iVBOR"), "a PNG in base64");
}

/// A message of the older era, in a session where one is named.
fn older(
    app: &TestApp,
    method: Method,
    key: &str,
    session: Option<&str>,
    body: Option<Value>,
) -> RequestBuilder {
    let request = app
        .request(method, "/mcp")
        .bearer_auth(key)
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2025-11-25");
    let request =
        session.into_iter().fold(request, |request, id| request.header("mcp-session-id", id));
    body.into_iter().fold(request, |request, body| request.json(&body))
}

#[tokio::test]
async fn a_session_belongs_to_its_caller() {
    let app = TestApp::builder().set(|config| config.server.mcp_sessions = true).start().await;
    let ada = app.key("t", "ada", Grants::Write).await;
    let eve = app.key("t", "eve", Grants::Write).await;
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }});
    let opened = older(&app, Method::POST, &ada, None, Some(hello)).send().await.unwrap();
    let session = opened.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let answer = older(&app, Method::POST, &ada, Some(&session), Some(ready)).send().await.unwrap();
    assert!(answer.status().is_success(), "{answer:?}");
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}});
    for (method, body) in
        [(Method::GET, None), (Method::POST, Some(list.clone())), (Method::DELETE, None)]
    {
        let foreign = older(&app, method.clone(), &eve, Some(&session), body.clone());
        let unknown = older(&app, method.clone(), &eve, Some("0-0-0"), body);
        let (foreign, unknown) = (send(foreign).await, send(unknown).await);
        assert_eq!((foreign.status, foreign.code()), (404, "no_session".to_owned()), "{method}");
        assert_eq!(foreign.text, unknown.text, "foreign and unknown look the same");
    }
    let mine = older(&app, Method::POST, &ada, Some(&session), Some(list));
    assert!(message(mine).await["result"]["tools"].is_array());
    let ended = older(&app, Method::DELETE, &ada, Some(&session), None).send().await.unwrap();
    assert!(ended.status().is_success(), "{ended:?}");
}

#[tokio::test]
async fn a_model_remembers_recalls_lists_and_forgets_for_its_own_user_only() {
    let app = TestApp::start().await;
    let ada = app.key("acme", "ada", Grants::Write).await;
    let eve = app.key("acme", "eve", Grants::Write).await;
    let run = async |key: &str, name: &str, arguments: Value| {
        let request = tool(&app, json!(1), name, arguments).header("x-api-key", key);
        message(request).await["result"].clone()
    };
    let statement = json!({"text": "The user's rack is R42", "subject": "user's rack"});
    let kept = run(&ada, "remember", statement.clone()).await["structuredContent"].clone();
    assert_eq!((&kept["trust"], &kept["superseded"]), (&json!("model"), &json!([])));
    let again = run(&ada, "remember", statement).await;
    assert_eq!(again["structuredContent"]["id"], kept["id"]);
    let recalled = run(&ada, "recall", json!({"query": "which rack?"})).await;
    assert_eq!(recalled["structuredContent"]["memories"][0]["id"], kept["id"]);
    let one = json!({"id": kept["id"]});
    for (name, arguments) in
        [("recall", json!({"query": "rack R42"})), ("list_memories", json!({}))]
    {
        let answer = run(&eve, name, arguments).await;
        assert_eq!(answer["structuredContent"]["memories"], json!([]), "{name}");
    }
    assert_eq!(run(&eve, "forget", one.clone()).await["isError"], true);
    assert_eq!(run(&ada, "list_memories", json!({})).await["structuredContent"]["total"], 1);
    assert_eq!(run(&ada, "forget", one).await["structuredContent"]["memories"], 1);
    assert_eq!(run(&ada, "list_memories", json!({})).await["structuredContent"]["total"], 0);
    let long = run(&ada, "remember", json!({"text": "x".repeat(3000)})).await;
    assert_eq!(long["isError"], true);
}

#[tokio::test]
async fn what_the_transport_refuses_is_an_error_in_json() {
    let app = TestApp::start().await;
    let get = send(app.request(Method::GET, "/mcp").header("accept", "text/event-stream")).await;
    assert_eq!(get.headers["content-type"], "application/problem+json", "{}", get.text);
    assert_eq!((get.status, get.code()), (405, "no_method".to_owned()));
    assert_eq!(get.headers["allow"], "POST");
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}});
    for accepted in ["text/html", "application/json"] {
        let request = app.request(Method::POST, "/mcp").header("accept", accepted).json(&list);
        let refused = send(request).await;
        assert!(refused.status >= 400, "{}", refused.text);
        let kind = refused.headers["content-type"].to_str().unwrap();
        assert!(kind.starts_with("application/"), "{kind}: {}", refused.text);
        refused.json();
    }
}
