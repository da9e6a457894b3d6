//! The other doors: MCP tools, and the endpoints for unchanged model clients.

use serde_json::{Value, json};

use crate::world::World;

const NEWER: &str = "2026-07-28";

/// Calls one of our own MCP tools.
async fn call(
    world: &World,
    name: &str,
    arguments: Value,
    extra: &Value,
    principal: &str,
) -> Value {
    let mut params = json!({"name": name, "arguments": arguments});
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": NEWER,
        "io.modelcontextprotocol/clientCapabilities": {"sampling": {}},
    });
    for field in ["requestState", "inputResponses"] {
        if !extra[field].is_null() {
            params[field] = extra[field].clone();
        }
    }
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let request = client
        .post(world.url("/mcp"))
        .bearer_auth(world.key(principal))
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", NEWER)
        .header("mcp-method", "tools/call")
        .header("mcp-name", name)
        .json(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}));
    let text = request.send().await.unwrap().text().await.unwrap();
    let data = text.lines().rev().find_map(|line| line.strip_prefix("data: ")).unwrap_or(&text);
    serde_json::from_str(data).unwrap_or_else(|_| panic!("not JSON: {text}"))
}

/// The proxy. What the case puts beside the arguments is sent with them, and in a second try without, so
/// that a call does not fail merely because of an unknown field.
pub(crate) async fn tools_call(
    world: &World,
    mut arguments: Value,
    session: Option<&str>,
    extra: &Value,
    principal: &str,
) {
    if let Some(session) = session {
        arguments["sessionId"] = json!(session);
    }
    for (key, value) in extra.as_object().into_iter().flatten() {
        let mut forged = arguments.clone();
        forged[key] = value.clone();
        call(world, "tools-call", forged, extra, principal).await;
    }
    call(world, "tools-call", arguments, &Value::Null, principal).await;
}

/// `context-query` and `context-chat`.
pub(crate) async fn converse(
    world: &World,
    via: &str,
    turn: &Value,
    session: &str,
    principal: &str,
) {
    let user = &turn["user"];
    if via == "mcp:context-query" {
        let arguments = json!({"query": user, "session_id": session});
        call(world, "context-query", arguments, &Value::Null, principal).await;
        return;
    }
    let new = json!({"action": "create", "name": "case", "systemPrompt": "You are a test."});
    let made = call(world, "context-manage", new, &Value::Null, principal).await;
    let context = &made["result"]["structuredContent"]["context"]["id"];
    let arguments = json!({"contextId": context, "message": user});
    let asked = call(world, "context-chat", arguments.clone(), &Value::Null, principal).await;
    let wanted = &turn["model_calls"][0];
    let content = json!([
        {"type": "text", "text": "ok"},
        {"type": "tool_use", "id": "c1", "name": wanted["tool"], "input": wanted["arguments"]},
    ]);
    let reply = json!({"role": "assistant", "model": "client", "content": content});
    let extra = json!({
        "requestState": asked["result"]["requestState"], "inputResponses": {"reply": reply},
    });
    call(world, "context-chat", arguments, &extra, principal).await;
}

/// An unchanged client of a model.
pub(crate) async fn drop_in(
    world: &World,
    endpoint: &str,
    turn: &Value,
    session: &str,
    principal: &str,
) {
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let body = json!({
        "model": "scripted-1", "messages": [{"role": "user", "content": turn["user"]}],
    });
    let request = client.post(world.url(endpoint)).bearer_auth(world.key(principal));
    let response = request.header("x-session-id", session).json(&body).send().await.unwrap();
    assert!(response.status().as_u16() < 500, "{}", response.text().await.unwrap());
}
