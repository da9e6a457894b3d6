//! A walk over a real server that calls every operation of the document; each answer must fit its schema.

use std::collections::BTreeMap;

use reqwest::Method;
use serde_json::{Value, json};
use throughline::config::{Environment, ModelEntry};
use throughline_testkit::scripted_model::{ScriptedModel, Turn};

use crate::app::{TestApp, send};

/// A server, its document, and what was seen of each operation.
pub(crate) struct Walk {
    pub app: TestApp,
    pub document: Value,
    pub seen: BTreeMap<String, Value>,
}

impl Walk {
    /// Calls every operation that a server alone can answer.
    pub(crate) async fn everything(&mut self) {
        walk_conversations(self).await;
        walk_things(self).await;
        walk_personas(self).await;
        walk_memories(self).await;
        walk_server(self).await;
        walk_drop_in(self).await;
        walk_oauth(self).await;
    }

    /// Calls `method path`, where `template` names its operation, and checks the answer against its schema.
    async fn call(&mut self, method: Method, template: &str, path: &str, body: Value) -> Value {
        let mut request = self.app.request(method.clone(), path);
        if !body.is_null() {
            request = request.json(&body);
        }
        let answer = send(request).await;
        let at = format!("{method} {template}");
        assert!(answer.status < 400, "{at} as {path}: {} {}", answer.status, answer.text);
        let operation = &self.document["paths"][template][method.as_str().to_lowercase()];
        let response = &operation["responses"][answer.status.to_string()];
        assert!(response.is_object(), "{at} answered {}, which is not documented", answer.status);
        if answer.status == 204 {
            self.seen.entry(at).or_insert(json!({"status": answer.status}));
            return Value::Null;
        }
        let kind = answer.headers["content-type"].to_str().unwrap();
        let kind = kind.split(';').next().unwrap();
        let schema = &response["content"][kind]["schema"];
        assert!(schema.is_object(), "{at} answered {kind}, which is not documented");
        let value: Value = match kind {
            "application/json" => answer.json(),
            _ => Value::String(answer.text.clone()),
        };
        self.check(&at, schema, &value);
        let mut example = json!({"status": answer.status});
        if !body.is_null() {
            let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
            self.check(&format!("{at} (request)"), schema, &body);
            example["request"] = body;
        }
        example["answer"] = match template {
            "/api/openapi.json" => {
                json!({"openapi": value["openapi"], "info": value["info"], "paths": {}})
            }
            _ => value.clone(),
        };
        self.seen.entry(at).or_insert(example);
        value
    }

    /// Fails where a value does not fit its schema.
    pub(crate) fn check(&self, at: &str, schema: &Value, value: &Value) {
        let schema = json!({"allOf": [schema], "components": self.document["components"]});
        let validator = jsonschema::validator_for(&schema).unwrap_or_else(|e| panic!("{at}: {e}"));
        let errors: Vec<String> = validator
            .iter_errors(value)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{at}: {errors:#?}\n{value:#}");
    }

    async fn get(&mut self, template: &str, path: &str) -> Value {
        self.call(Method::GET, template, path, Value::Null).await
    }

    async fn post(&mut self, template: &str, path: &str, body: Value) -> Value {
        self.call(Method::POST, template, path, body).await
    }

    async fn delete(&mut self, template: &str, path: &str) -> Value {
        self.call(Method::DELETE, template, path, Value::Null).await
    }
}

const ONE: &str = "/api/v1/conversations/{id}";

fn of_one(tail: &str) -> String {
    format!("{ONE}{tail}")
}

async fn walk_conversations(walk: &mut Walk) {
    let all = "/api/v1/conversations";
    let head = json!({"id": "a", "title": "Rack 12", "tags": ["lab"], "agent": "demo"});
    walk.post(all, all, head).await;
    let say = json!({"message": "List the devices in site Berlin", "conversation_id": "a"});
    walk.post("/api/v1/chat", "/api/v1/chat", say).await;
    let ask = json!({"query": "List all sites", "session_id": "a"});
    walk.post("/api/v1/query", "/api/v1/query", ask).await;
    let stream = json!({"message": "Hello", "conversation_id": "a"});
    walk.post("/api/v1/chat/stream", "/api/v1/chat/stream", stream).await;
    let at = "/api/v1/conversations/a";
    let call = json!({"name": "inventory__list_sites", "arguments": {}});
    walk.post(&of_one("/calls"), &format!("{at}/calls"), call).await;
    let prepare = json!({"message": "What is in rack 12?", "budget_tokens": 4000});
    let prepared = walk.post(&of_one("/prepare"), &format!("{at}/prepare"), prepare).await;
    let record = json!({
        "message": "What is in rack 12?", "reply": "Two switches.", "receipt": prepared["receipt"]["id"],
        "tool_executions": [{"server": "inventory", "name": "get_rack", "arguments": {"name": "12"},
            "result": {"devices": 2}, "took_ms": 12}],
        "metadata": {"ticket": 4711},
    });
    walk.post(&of_one("/turns"), &format!("{at}/turns"), record).await;
    walk.get(all, all).await;
    walk.get(ONE, at).await;
    walk.call(Method::PATCH, ONE, at, json!({"title": "Rack 12 in the lab"})).await;
    walk.get(&of_one("/history"), &format!("{at}/history?limit=2&order=desc")).await;
    walk.get(&of_one("/turns/{turn}"), &format!("{at}/turns/1")).await;
    let receipt =
        walk.get(&of_one("/turns/{turn}/context"), &format!("{at}/turns/1/context")).await;
    walk.get(&of_one("/turns/{turn}/request"), &format!("{at}/turns/1/request")).await;
    let with = format!("{at}/turns/3/context/diff?with=1");
    walk.get(&of_one("/turns/{turn}/context/diff"), &with).await;
    let hash = receipt["pieces"][0]["hash"].as_str().unwrap().to_owned();
    let content = format!("{at}/turns/1/contents/{hash}");
    walk.get(&of_one("/turns/{turn}/contents/{hash}"), &content).await;
    walk.get(&of_one("/entities"), &format!("{at}/entities")).await;
    walk.get(&of_one("/workflows"), &format!("{at}/workflows")).await;
    walk.get(&of_one("/context/usage"), &format!("{at}/context/usage")).await;
    let export = walk.get(&of_one("/export"), &format!("{at}/export")).await;
    walk.post(&of_one("/fork"), &format!("{at}/fork"), json!({"turn": 1, "id": "b"})).await;
    let shares = of_one("/shares");
    let share = walk.post(&shares, &format!("{at}/shares"), json!({"expires_in_days": 30})).await;
    walk.get(&shares, &format!("{at}/shares")).await;
    let (id, token) = (share["id"].as_str().unwrap(), share["token"].as_str().unwrap());
    walk.get("/api/v1/shared/{token}", &format!("/api/v1/shared/{token}?limit=2")).await;
    walk.delete(&of_one("/shares/{share}"), &format!("{at}/shares/{id}")).await;
    let first = "/api/v1/conversations/b/turns/1?confirm=1";
    walk.delete(&of_one("/turns/{turn}"), first).await;
    walk.delete(ONE, "/api/v1/conversations/b").await;
    walk.delete(&of_one("/permanent"), &format!("{at}/permanent")).await;
    walk.post("/api/v1/import", "/api/v1/import", export).await;
    walk.get("/api/v1/search", "/api/v1/search?q=rack").await;
    let prompt = "/api/v1/debug/prompt-info";
    walk.get(prompt, &format!("{prompt}?conversation_id=a&turn=1")).await;
}

async fn walk_things(walk: &mut Walk) {
    let at = "/api/v1/conversations/a";
    let wrong = json!({"type": "site", "name": "Berlin"});
    let right = json!({"right": {"type": "site", "name": "Amsterdam"}, "wrong": wrong});
    walk.post(&of_one("/entities/correction"), &format!("{at}/entities/correction"), right).await;
    let about = "/api/v1/entities/{type}/{name}/conversations";
    walk.get(about, "/api/v1/entities/site/Amsterdam/conversations").await;
    let forget = of_one("/entities/{type}/{name}");
    walk.delete(&forget, &format!("{at}/entities/site/Amsterdam")).await;
    let workflows = "/api/v1/workflows/{spec_id}/conversations";
    walk.get(workflows, "/api/v1/workflows/w1/conversations").await;
    walk.get("/api/v1/agents", "/api/v1/agents").await;
    walk.get("/api/v1/me", "/api/v1/me").await;
    walk.get("/api/v1/agents/{name}/items", "/api/v1/agents/demo/items").await;
    walk.get("/api/v1/agents/{name}/usage", "/api/v1/agents/demo/usage").await;
    let tools = walk.get("/api/v1/tools", "/api/v1/tools").await;
    let tool = &tools["tools"][0];
    let (server, name) = (tool["server"].as_str().unwrap(), tool["name"].as_str().unwrap());
    walk.get("/api/v1/tools/search", "/api/v1/tools/search?query=sites&limit=1").await;
    let call = "/api/v1/tools/{server}/{tool}/call";
    let path = "/api/v1/tools/inventory/list_sites/call";
    walk.post(call, path, json!({"arguments": {}, "agent": "demo"})).await;
    let approve = "/api/v1/tools/{server}/{tool}/approve";
    let path = format!("/api/v1/tools/{server}/{name}/approve");
    walk.call(Method::POST, approve, &path, Value::Null).await;
    let (items, path) = (of_one("/context"), format!("{at}/context"));
    let item = json!({"type": "tool", "name": name, "serverName": server});
    walk.post(&items, &path, item.clone()).await;
    walk.get(&items, &path).await;
    walk.call(Method::DELETE, &items, &path, item).await;
}

async fn walk_personas(walk: &mut Walk) {
    let (all, one) = ("/api/v1/contexts", "/api/v1/contexts/{id}");
    let prompt = "You are a patient tutor who explains networks step by step with examples.";
    let body = json!({"id": "c", "name": "Tutor", "systemPrompt": prompt, "temperature": 0.5});
    walk.post(all, all, body).await;
    walk.get(all, all).await;
    walk.get(one, "/api/v1/contexts/c").await;
    walk.call(Method::PATCH, one, "/api/v1/contexts/c", json!({"name": "Coach"})).await;
    let statistics = "/api/v1/contexts/{id}/statistics";
    walk.get(statistics, "/api/v1/contexts/c/statistics").await;
    walk.delete(one, "/api/v1/contexts/c").await;
    let (all, one) = ("/api/v1/presets", "/api/v1/presets/{id}");
    let body = json!({"id": "p", "name": "Tutor", "description": "Explains.", "systemPrompt": prompt,
        "defaultPersonality": "patient"});
    walk.post(all, all, body).await;
    let presets = walk.get(all, all).await;
    walk.get(one, "/api/v1/presets/p").await;
    walk.call(Method::PATCH, one, "/api/v1/presets/p", json!({"description": "Explains."})).await;
    walk.delete(one, "/api/v1/presets/p").await;
    let built_in = presets["presets"].as_array().unwrap().iter().find(|p| p["id"] != "p").unwrap();
    let id = built_in["id"].as_str().unwrap();
    let restore = format!("/api/v1/presets/{id}/restore");
    walk.call(Method::POST, "/api/v1/presets/{id}/restore", &restore, Value::Null).await;
}

async fn walk_memories(walk: &mut Walk) {
    let (all, one) = ("/api/v1/memories", "/api/v1/memories/{id}");
    let body = json!({"text": "My rack is R41", "subject": "my rack"});
    walk.post(all, all, body).await;
    let newer = json!({"text": "My rack is R42", "subject": "my rack", "kind": "fact"});
    let kept = walk.post(all, all, newer).await;
    let at = format!("{all}/{}", kept["id"].as_str().unwrap());
    walk.get(all, all).await;
    walk.get("/api/v1/memories/search", "/api/v1/memories/search?q=rack").await;
    walk.get(one, &at).await;
    walk.call(Method::PATCH, one, &at, json!({"text": "My rack is R43"})).await;
    walk.get("/api/v1/memories/{id}/history", &format!("{at}/history")).await;
    let export = walk.get("/api/v1/memories/export", "/api/v1/memories/export").await;
    walk.delete(one, &at).await;
    walk.delete(all, "/api/v1/memories?confirm=all").await;
    walk.post("/api/v1/memories/import", "/api/v1/memories/import", export).await;
    let tool = "/api/v1/memories/tool";
    let note = json!({"command": "create", "path": "/memories/notes.md", "file_text": "Rack R42"});
    walk.post(tool, tool, note).await;
    walk.get("/api/v1/users/{id}/export", "/api/v1/users/local/export").await;
    walk.delete("/api/v1/users/{id}", "/api/v1/users/local?confirm=local").await;
}

async fn walk_server(walk: &mut Walk) {
    for path in ["", "/live", "/ready"] {
        for prefix in ["/api/v1/health", "/health"] {
            let path = format!("{prefix}{path}");
            walk.get(&path, &path).await;
        }
    }
    for path in ["/api/v1/memory/stats", "/metrics", "/api/openapi.json"] {
        walk.get(path, path).await;
    }
    let (approvals, permission) = (
        "/api/v1/conversations/{id}/approvals",
        "/api/v1/conversations/{id}/permissions/{server}/{tool}",
    );
    walk.post(
        "/api/v1/conversations",
        "/api/v1/conversations",
        json!({"id": "p", "agent": "demo"}),
    )
    .await;
    let path = "/api/v1/conversations/p/permissions/inventory/update_device";
    walk.call(Method::PUT, permission, path, json!({"rule": "allow"})).await;
    walk.get(approvals, "/api/v1/conversations/p/approvals").await;
    walk.delete(permission, path).await;
    let ask = json!({"query": "delete device ams1-sw-02", "session_id": "p"});
    let paused = walk.post("/api/v1/query", "/api/v1/query", ask).await;
    let call = paused["awaiting_approval"][0]["id"].as_str().unwrap();
    let path = format!("/api/v1/conversations/p/approvals/{call}");
    let one = format!("{approvals}/{{call}}");
    walk.post(&one, &path, json!({"approve": false, "scope": "session"})).await;
    let (permission, path) = (
        "/api/v1/tools/{server}/{tool}/permission",
        "/api/v1/tools/inventory/update_device/permission",
    );
    walk.call(Method::PUT, permission, path, json!({"rule": "ask"})).await;
    walk.delete(permission, path).await;
    let reset = "/api/v1/demo/reset";
    walk.call(Method::POST, reset, reset, Value::Null).await;
}

/// The endpoints of model clients, on a server that has a model of each format.
async fn walk_drop_in(walk: &mut Walk) {
    let model = ScriptedModel::playing(["Hello."; 4].map(Turn::text)).await;
    let entry = |name: &str, base_url: String| ModelEntry {
        name: name.into(),
        provider: name.into(),
        model: "scripted".into(),
        api_key_env: "SCRIPTED_KEY".into(),
        base_url,
        ..ModelEntry::default()
    };
    let entries =
        vec![entry("openai", model.openai_url()), entry("anthropic", model.anthropic_url())];
    let app = TestApp::builder()
        .set(|config| {
            config.model = entries;
            config.environment = Environment::of([("SCRIPTED_KEY", "sk-1")]);
        })
        .start()
        .await;
    let document = walk.document.clone();
    let mut door = Walk { app, document, seen: BTreeMap::new() };
    let ask = json!([{"role": "user", "content": "Hello"}]);
    let bodies = [
        ("/v1/chat/completions", json!({"model": "any", "messages": ask})),
        ("/v1/messages", json!({"model": "any", "max_tokens": 100, "messages": ask})),
        ("/v1/responses", json!({"model": "any", "input": "Hello", "store": false})),
        ("/v1/embeddings", json!({"model": "any", "input": "Hello"})),
        ("/v1/responses/input_tokens", json!({"model": "any", "input": "Hello"})),
        ("/v1/messages/count_tokens", json!({"model": "any", "messages": ask})),
    ];
    for (path, body) in bodies {
        door.post(path, path, body).await;
    }
    door.get("/v1/models", "/v1/models").await;
    door.get("/v1/models/{model}", "/v1/models/scripted-1").await;
    let body = json!({"model": "any", "input": "Hello", "conversation": "a"});
    let kept = door.post("/v1/responses", "/v1/responses", body).await;
    let (template, items) = ("/v1/responses/{id}", "/v1/responses/{id}/input_items");
    let path = format!("/v1/responses/{}", kept["id"].as_str().unwrap());
    door.get(template, &path).await;
    door.get(items, &format!("{path}/input_items")).await;
    door.delete(template, &path).await;
    // Ids and times of a response are not the same twice.
    for (at, seen) in door.seen.iter_mut().filter(|(at, _)| at.contains("/v1/responses")) {
        let made = if at.starts_with("POST") { &seen["answer"]["id"] } else { &kept["id"] };
        // A count has none.
        let Some(made) = made.as_str().map(|id| id.trim_start_matches("resp_").to_owned()) else {
            continue;
        };
        let kind = if at.starts_with("POST") { "1" } else { "tl_1_0_a" };
        *seen = serde_json::from_str(&seen.to_string().replace(&made, kind)).unwrap();
        if seen["answer"]["created_at"].is_number() {
            seen["answer"]["created_at"] = json!(1_790_000_000);
        }
    }
    walk.seen.append(&mut door.seen);
}

/// What a server says that takes access tokens.
async fn walk_oauth(walk: &mut Walk) {
    let issuer = |config: &mut throughline::config::Config| {
        config.oauth.issuer = "https://login.example.com".into();
    };
    let app = TestApp::builder().set(issuer).start().await;
    let address = app.address.to_string();
    let document = walk.document.clone();
    let mut door = Walk { app, document, seen: BTreeMap::new() };
    let path = "/.well-known/oauth-protected-resource";
    door.get(path, path).await;
    for (at, seen) in door.seen {
        let text =
            seen.to_string().replace(&format!("http://{address}"), "https://memory.example.com");
        walk.seen.insert(at, serde_json::from_str(&text).unwrap());
    }
}
