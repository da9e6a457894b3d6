//! Completes the document with what all operations share: unique ids, response descriptions, errors, security,
//! examples.
//!
//! Invariant: nothing here describes a single route; its handler does.

use serde_json::{Map, Value, json};
use utoipa::openapi::OpenApi;

use crate::http::problem;

/// Operations without a documented handler.
const OTHERS: &str = include_str!("others.json");
/// Real requests and responses, by operation.
const EXAMPLES: &str = include_str!("examples.json");
/// Statuses of errors in a provider's format. Some generators take no ranges such as `4XX`.
const PROVIDER_ERRORS: [&str; 9] = ["400", "401", "403", "404", "413", "429", "500", "502", "504"];
/// Paths that need no key.
const OPEN: [&str; 5] =
    ["/api/v1/health", "/health", "/api/openapi.json", "/.well-known/", "/api/v1/shared/"];

/// The complete document.
pub(super) fn complete(document: OpenApi) -> Value {
    let mut document = serde_json::to_value(document).unwrap_or_default();
    let others: Value = serde_json::from_str(OTHERS).unwrap_or_default();
    let examples: Value = serde_json::from_str(EXAMPLES).unwrap_or_default();
    document["components"]["securitySchemes"] = json!({
        "bearer": {"type": "http", "scheme": "bearer",
            "description": "An API key (throughline key create), or an access token of the configured issuer \
                            (oauth.issuer). Required once either exists, and always beyond loopback."},
        "key": {"type": "apiKey", "in": "header", "name": "x-api-key", "description": "An API key, as for bearer."},
    });
    document["servers"] = json!([{"url": "/", "description": "The server of this document."}]);
    document["security"] = json!([{"bearer": []}, {"key": []}, {}]);
    document["components"]["responses"] = json!({"Problem": {
        "description": "What failed, with a stable code and a hint.",
        "content": {problem::MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }, "ProviderError": {
        "description": "An error in the provider's format.",
        "content": {"application/json": {"schema": {"type": "object", "additionalProperties": true}}},
    }});
    unsigned(&mut document);
    if let (Value::Object(paths), Value::Object(others)) = (&mut document["paths"], others) {
        paths.extend(others);
        for (path, item) in paths.iter_mut() {
            for (method, operation) in operations(item) {
                finish(path, method, operation, &examples);
            }
        }
    }
    document
}

/// `format` only knows signed numbers, so unsigned ones get a maximum instead.
fn unsigned(value: &mut Value) {
    match value {
        Value::Object(map) => {
            if map.get("minimum") == Some(&json!(0)) {
                let maximum = match map.get("format").and_then(Value::as_str) {
                    Some("int32") => Some(u64::from(u32::MAX)),
                    Some("int64") => Some(u64::MAX),
                    _ => None,
                };
                if let Some(maximum) = maximum {
                    map.remove("format");
                    map.insert("maximum".into(), json!(maximum));
                }
            }
            map.values_mut().for_each(unsigned);
        }
        Value::Array(list) => list.iter_mut().for_each(unsigned),
        _ => {}
    }
}

/// Operations of a path, by method.
pub(super) fn operations(
    item: &mut Value,
) -> impl Iterator<Item = (&String, &mut Map<String, Value>)> {
    let operations = item.as_object_mut().into_iter().flatten();
    operations.filter_map(|(method, operation)| Some((method, operation.as_object_mut()?)))
}

fn finish(path: &str, method: &str, operation: &mut Map<String, Value>, examples: &Value) {
    let tag = operation["tags"][0].as_str().unwrap_or("server").to_owned();
    let name = operation["operationId"].as_str().unwrap_or(method).to_owned();
    operation.insert("operationId".into(), json!(unique(path, &tag, &name)));
    if OPEN.iter().any(|open| path.starts_with(open)) {
        operation.insert("security".into(), json!([]));
    }
    for parameter in
        operation.get_mut("parameters").and_then(Value::as_array_mut).into_iter().flatten()
    {
        bound(path, parameter);
    }
    if let Some(Value::Object(responses)) = operation.get_mut("responses") {
        for (status, response) in responses.iter_mut() {
            finish_response(status, response);
        }
        if path.starts_with("/v1/") {
            for status in PROVIDER_ERRORS.iter().chain(["default"].iter()) {
                let error = json!({"$ref": "#/components/responses/ProviderError"});
                responses.entry(*status).or_insert(error);
            }
        }
        responses.entry("default").or_insert(json!({"$ref": "#/components/responses/Problem"}));
    }
    let example = &examples[format!("{} {path}", method.to_uppercase())];
    if let Some(request) = example.get("request") {
        give_example(&mut operation["requestBody"], request);
    }
    let status = example["status"].as_u64().unwrap_or_default().to_string();
    if let (Some(answer), Some(response)) =
        (example.get("answer"), operation["responses"].get_mut(&status))
    {
        give_example(response, answer);
    }
}

/// Adds bounds to a parameter, by its name; the handlers enforce the same.
fn bound(path: &str, parameter: &mut Value) {
    let is_id = |name: &str| name == "id" || (name == "name" && path.contains("/agents/"));
    let in_path = parameter["in"] == "path";
    let bounds = match parameter["name"].as_str().unwrap_or_default() {
        name if in_path && is_id(name) => {
            json!({"pattern": "^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$", "minLength": 1, "maxLength": 128})
        }
        "session" => json!({"pattern": "^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$"}),
        "turn" | "with" => json!({"minimum": 1, "maximum": 10_000_000}),
        "limit" if path.ends_with("/tools/search") => json!({"minimum": 1, "maximum": 50}),
        "limit" if path.ends_with("/search") || path.ends_with("/memories") => {
            json!({"minimum": 1, "maximum": 100})
        }
        "limit" => json!({"minimum": 1, "maximum": 1000}),
        "offset" => json!({"minimum": 0, "maximum": 1_000_000}),
        "page" => json!({"minimum": 1, "maximum": 1_000_000}),
        "pageSize" => json!({"minimum": 1, "maximum": 100}),
        "q" if path.ends_with("/search") => json!({"minLength": 1, "pattern": "\\S"}),
        _ => return,
    };
    if let (Value::Object(schema), Value::Object(bounds)) = (&mut parameter["schema"], bounds) {
        schema.extend(bounds);
    }
}

/// An operation id that is unique: handler names are unique only within their tag.
fn unique(path: &str, tag: &str, name: &str) -> String {
    let of_turn = path.contains("/turns/{turn}") && name == "show";
    match (of_turn, path.ends_with("/context")) {
        (true, true) => format!("{tag}_receipt"),
        (true, false) => format!("{tag}_turn"),
        (false, _) => format!("{tag}_{name}"),
    }
}

fn finish_response(status: &str, response: &mut Value) {
    let Value::Object(response) = response else { return };
    let said = response.get("description").and_then(Value::as_str).unwrap_or_default();
    if said.is_empty() && !response.contains_key("$ref") {
        response.insert("description".into(), json!(meaning(status)));
    }
    let Some(Value::Object(content)) = response.get_mut("content") else { return };
    // The schema of an event depends on its name; the operation's description lists them.
    if let Some(events) = content.get_mut("text/event-stream") {
        events["schema"] = json!({});
    }
    let is_problem =
        |media: &Value| media["schema"]["$ref"].as_str() == Some("#/components/schemas/Problem");
    if content.get("application/json").is_some_and(is_problem)
        && let Some(media) = content.remove("application/json")
    {
        content.insert(problem::MEDIA_TYPE.into(), media);
    }
}

/// Adds an example beside the schema of a body; of text, where it is not JSON.
fn give_example(body: &mut Value, example: &Value) {
    let Some(Value::Object(content)) = body.get_mut("content") else { return };
    let json = content.contains_key("application/json");
    for (kind, media) in content {
        let fits = if json { kind == "application/json" } else { example.is_string() };
        if fits {
            media["example"] = example.clone();
        }
    }
}

fn meaning(status: &str) -> &'static str {
    match status {
        "200" => "Success.",
        "201" => "Created.",
        "202" => "A tool call waits for approval; see `awaiting_approval`.",
        "204" => "Success, without a body.",
        "400" => "The request is invalid; `detail` says why.",
        "401" => "The key or token is missing or invalid; `WWW-Authenticate` says how to get one.",
        "403" => "The key or token does not allow this.",
        "404" => "Not found, or owned by another user.",
        "409" => {
            "It has changed meanwhile, or exists already; `current_version` is set on a version conflict."
        }
        "413" => "A limit is exceeded; `detail` names it.",
        "422" => "The idempotency key was used with another body.",
        "502" => "A provider or an MCP server failed.",
        "503" => "The server is busy, or the store is unreachable.",
        _ => "See `detail`.",
    }
}
