//! The published interface: a valid document, and answers that keep to it.
//!
//! One walk calls every operation of a real server. Each answer must fit its schema, and the examples of the document
//! are such answers: `THROUGHLINE_WRITE_EXAMPLES=1` writes them anew.

use std::collections::{BTreeMap, BTreeSet};

use reqwest::Method;
use serde_json::{Value, json};
use throughline_engine::excerpt::Excerpt;
use throughline_engine::id::SessionId;
use throughline_engine::piece::{DayOf, HistoryPart, IncludeMode, Source};

use crate::app::{TestApp, send};
use crate::openapi_walk::Walk;

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/http/openapi/examples.json");

async fn document(app: &TestApp) -> Value {
    send(app.request(Method::GET, "/api/openapi.json")).await.expect(200)
}

/// Method, path and operation of everything that is documented.
fn operations(document: &Value) -> Vec<(String, String, &Value)> {
    let mut all = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            all.push((method.to_uppercase(), path.clone(), operation));
        }
    }
    all
}

fn references(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            found.extend(map.get("$ref").and_then(Value::as_str).map(str::to_owned));
            map.values().for_each(|value| references(value, found));
        }
        Value::Array(list) => list.iter().for_each(|value| references(value, found)),
        _ => {}
    }
}

#[tokio::test]
async fn the_document_is_one_that_generators_accept() {
    let app = TestApp::start().await;
    let document = document(&app).await;
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"));
    let mut names = BTreeSet::new();
    for (method, path, operation) in operations(&document) {
        let at = format!("{method} {path}");
        let name = operation["operationId"].as_str().unwrap_or_else(|| panic!("{at} has no name"));
        assert!(names.insert(name.to_owned()), "{at} is called {name}, as another");
        assert!(operation["summary"].as_str().is_some_and(|text| !text.is_empty()), "{at}");
        assert!(operation["tags"][0].is_string(), "{at}");
        for (status, response) in operation["responses"].as_object().unwrap() {
            let described = response["description"].as_str().is_some_and(|text| !text.is_empty());
            assert!(described || response["$ref"].is_string(), "{at} {status} is not described");
            let problem = response["content"]["application/json"]["schema"]["$ref"]
                .as_str()
                .is_some_and(|name| name.ends_with("/Problem"));
            assert!(!problem, "{at} {status}: errors are problem+json");
            let named = status == "default" || status.parse::<u16>().is_ok();
            assert!(named, "{at} {status}: generators take no ranges");
        }
        for named in path.split('{').skip(1) {
            let named = named.split('}').next().unwrap();
            let parameters = operation["parameters"].as_array().unwrap();
            assert!(parameters.iter().any(|p| p["name"] == named && p["in"] == "path"), "{at}");
        }
    }
    let mut found = BTreeSet::new();
    references(&document, &mut found);
    for reference in found {
        let pointer = reference.strip_prefix('#').expect("a reference within the document");
        assert!(document.pointer(pointer).is_some(), "{reference} leads nowhere");
    }
    for path in [
        "/v1/chat/completions",
        "/v1/responses",
        "/v1/responses/input_tokens",
        "/v1/responses/{id}",
        "/v1/responses/{id}/input_items",
        "/v1/messages",
        "/v1/embeddings",
        "/v1/models",
        "/mcp",
        "/metrics",
        "/health",
    ] {
        assert!(document["paths"][path].is_object(), "{path} is not listed");
    }
    assert!(document["components"]["securitySchemes"]["bearer"].is_object());
    assert_eq!(document["paths"]["/api/v1/health"]["get"]["security"], json!([]));
}

#[tokio::test]
async fn every_source_of_a_piece_is_documented() {
    let app = TestApp::start().await;
    let document = document(&app).await;
    let schema = &document["components"]["schemas"]["SourceView"]["properties"];
    let kinds = schema["kind"]["description"].as_str().unwrap().to_owned();
    let (turn, on, name) = (1, jiff::civil::date(2026, 3, 1), String::from("x"));
    let (part, mode) = (HistoryPart::Message, IncludeMode::Always);
    let session = SessionId::new("s").unwrap();
    let excerpt = Some(Excerpt { from: 0, to: 9 });
    let sources = [
        Source::Instructions { part: name.clone() },
        Source::Persona { name: name.clone() },
        Source::Calm,
        Source::Rule { name: name.clone(), mode },
        Source::Reference { name: name.clone(), mode },
        Source::Tool { server: name.clone(), name: name.clone(), mode },
        Source::ToolNames { tools: Vec::new() },
        Source::Summary { from: 1, to: 2 },
        Source::Topic,
        Source::Entity { entity: name.clone(), name: name.clone() },
        Source::Recalled { turn, part, on: Some(on), excerpt },
        Source::Elsewhere { session, turn, part, on, excerpt },
        Source::Fact { id: name.clone(), at: jiff::Timestamp::UNIX_EPOCH, quoted: true },
        Source::EarlierResult { turn, on: Some(on) },
        Source::Day { on, of: DayOf::Message },
        Source::History { turn, part },
        Source::Preferences,
        Source::Given { name },
        Source::ClientRequest { bytes: 1 },
        Source::Message,
    ];
    for source in sources {
        let shown = serde_json::to_value(&source).unwrap();
        let kind = shown["kind"].as_str().unwrap();
        assert!(kinds.contains(&format!("`{kind}`")), "{kind} is not among {kinds}");
        for field in shown.as_object().unwrap().keys() {
            assert!(schema[field].is_object(), "{field} of {kind} is not documented");
        }
    }
}

#[tokio::test]
async fn documented_limits_are_those_in_force() {
    let app = TestApp::start().await;
    let document = document(&app).await;
    for path in ["/api/v1/memories", "/api/v1/memories/search?q=x", "/api/v1/search?q=x"] {
        let (template, query) = path.split_once('?').unwrap_or((path, ""));
        let parameters = document["paths"][template]["get"]["parameters"].as_array().unwrap();
        let limit = parameters.iter().find(|parameter| parameter["name"] == "limit").unwrap();
        let most = limit["schema"]["maximum"].as_u64().unwrap();
        for (limit, status) in [(most, 200), (most + 1, 400)] {
            let path = format!("{template}?{query}&limit={limit}").replace("?&", "?");
            assert_eq!(send(app.request(Method::GET, &path)).await.status, status, "{path}");
        }
    }
}

/// The document without its examples, which have a file of their own.
fn bare(value: &Value) -> Value {
    match value {
        Value::Object(map) => map
            .iter()
            .filter(|(key, value)| key.as_str() != "example" || value.is_string())
            .map(|(key, value)| (key.clone(), bare(value)))
            .collect(),
        Value::Array(list) => list.iter().map(bare).collect(),
        plain => plain.clone(),
    }
}

#[tokio::test]
async fn the_published_interface_is_this() {
    let app = TestApp::start().await;
    insta::assert_json_snapshot!("openapi", bare(&document(&app).await));
}

#[tokio::test]
async fn the_reference_shows_every_operation_and_loads_nothing_from_elsewhere() {
    let app = TestApp::start().await;
    let page = send(app.request(Method::GET, "/api/docs")).await;
    assert_eq!(page.headers["content-type"], "text/html; charset=utf-8");
    for (_, path, _) in operations(&document(&app).await) {
        assert!(page.text.contains(&format!("<code>{path}</code>")), "{path}");
    }
    assert!(!page.text.contains('`'), "marks of code are not shown");
    assert!(!page.text.contains("<script") && !page.text.contains("//cdn"), "no scripts");
    assert!(!page.text.contains("src=\"http") && !page.text.contains("href=\"http"));
    let style = send(app.request(Method::GET, "/api/docs/reference.css")).await;
    assert_eq!((style.status, &style.headers["content-type"]), (200, &"text/css".parse().unwrap()));
}

/// An example that a person reads: of a long list its beginning, of a long text too.
fn shortened(value: &Value) -> Value {
    match value {
        Value::Array(list) => list.iter().take(2).map(shortened).collect(),
        Value::Object(map) => map.iter().map(|(k, v)| (k.clone(), shortened(v))).collect(),
        Value::String(text) if text.chars().count() > 160 => {
            Value::String(text.chars().take(160).chain(['…']).collect())
        }
        plain => plain.clone(),
    }
}

/// Operations of another protocol; their examples are written by hand.
const NOT_WALKED: [&str; 3] = ["POST /mcp", "GET /mcp", "DELETE /mcp"];

#[tokio::test]
async fn every_operation_answers_as_documented() {
    let app = TestApp::builder().demo().start().await;
    let document = document(&app).await;
    let mut walk = Walk { app, document, seen: BTreeMap::new() };
    walk.everything().await;
    for (method, path, _) in operations(&walk.document) {
        let at = format!("{method} {path}");
        assert!(walk.seen.contains_key(&at) || NOT_WALKED.contains(&at.as_str()), "{at}");
    }
    if std::env::var_os("THROUGHLINE_WRITE_EXAMPLES").is_some() {
        let seen: BTreeMap<&String, Value> =
            walk.seen.iter().map(|(at, seen)| (at, shortened(seen))).collect();
        let text = serde_json::to_string_pretty(&seen).unwrap() + "\n";
        std::fs::write(EXAMPLES, text).unwrap();
    }
}

#[tokio::test]
async fn every_operation_has_an_example_that_fits() {
    let app = TestApp::start().await;
    let document = document(&app).await;
    let walk = Walk { app, document: document.clone(), seen: BTreeMap::new() };
    for (method, path, operation) in operations(&document) {
        let at = format!("{method} {path}");
        let request = &operation["requestBody"]["content"]["application/json"];
        if request.is_object() {
            assert!(request.get("example").is_some(), "{at} has no example of a request");
            walk.check(&at, &request["schema"], &request["example"]);
        }
        let answers = operation["responses"].as_object().unwrap().values();
        let contents = answers.filter_map(|response| response["content"].as_object());
        let media: Vec<&Value> = contents.flat_map(|content| content.values()).collect();
        let examples: Vec<&&Value> = media.iter().filter(|m| m.get("example").is_some()).collect();
        // Deleting often answers nothing.
        let answers = operation["responses"]["204"].is_null() && method != "DELETE";
        assert!(!examples.is_empty() || !answers, "{at} has no example of an answer");
        for answer in examples {
            walk.check(&at, &answer["schema"], &answer["example"]);
        }
    }
}
