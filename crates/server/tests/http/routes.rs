//! Every documented operation as a request, with the names of things that exist put into its path.
//!
//! The operations, their parameters and their bodies come from the published document, so that a new route is attacked
//! without a line here.

use std::collections::BTreeMap;

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use crate::app::{TestApp, send};

/// One documented operation.
#[derive(Debug, Clone)]
pub(crate) struct Route {
    pub method: Method,
    pub path: String,
    /// Whether it asks for no key.
    pub is_open: bool,
    /// Names of query parameters.
    query: Vec<String>,
    /// The document's example of a body.
    body: Option<Value>,
}

/// What stands for a parameter of a path or a query, by its name; `id` by the noun before it, too.
pub(crate) type Names = BTreeMap<&'static str, String>;

impl Route {
    /// All of them: those that read first, then those that change what exists, last those that make something.
    pub(crate) async fn all(app: &TestApp) -> Vec<Self> {
        let document = send(app.request(Method::GET, "/api/openapi.json")).await.expect(200);
        let mut routes = Vec::new();
        for (path, methods) in document["paths"].as_object().unwrap() {
            for (method, operation) in methods.as_object().unwrap() {
                let parameters = operation["parameters"].as_array().into_iter().flatten();
                let query = parameters.filter(|parameter| parameter["in"] == "query");
                let body = &operation["requestBody"];
                let example = &body["content"]["application/json"]["example"];
                routes.push(Self {
                    method: method.to_uppercase().parse().unwrap(),
                    path: path.clone(),
                    is_open: operation["security"] == json!([]),
                    query: query.map(|found| found["name"].as_str().unwrap().to_owned()).collect(),
                    body: body.is_object().then(|| match example {
                        Value::Null => without_example(path),
                        example => example.clone(),
                    }),
                });
            }
        }
        let order = ["GET", "PATCH", "PUT", "DELETE", "POST"];
        let rank = |route: &Self| order.iter().position(|known| *known == route.method.as_str());
        routes.sort_by_key(|route| (rank(route), !route.path.contains('{')));
        routes
    }

    /// As people write it.
    pub(crate) fn name(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    /// The request, without a credential.
    pub(crate) fn request(&self, app: &TestApp, names: &Names) -> RequestBuilder {
        let request = app.request(self.method.clone(), &self.url(names));
        let request = request.header("accept", "application/json, text/event-stream, */*");
        match &self.body {
            Some(body) => request.json(&renamed(body.clone(), names)),
            None => request,
        }
    }

    fn url(&self, names: &Names) -> String {
        let mut url = String::new();
        let mut noun = "";
        for part in self.path.split('/').skip(1) {
            url.push('/');
            match part.strip_prefix('{').and_then(|part| part.strip_suffix('}')) {
                Some("id") => url.push_str(names.get(noun).unwrap_or(&names["id"])),
                Some(name) => url.push_str(names.get(name).unwrap_or(&names["id"])),
                None => url.push_str(part),
            }
            noun = part;
        }
        let given = self.query.iter().filter_map(|name| Some((name, self.value(name, names)?)));
        let given: Vec<String> = given.map(|(name, value)| format!("{name}={value}")).collect();
        if given.is_empty() { url } else { format!("{url}?{}", given.join("&")) }
    }

    /// The value of a query parameter; those that only page or filter are left out.
    fn value(&self, name: &str, names: &Names) -> Option<String> {
        match name {
            "confirm" if self.path.contains("/users/") => names.get("users").cloned(),
            "confirm" => Some("all".into()),
            "q" | "with" | "conversation_id" | "turn" => names.get(name).cloned(),
            _ => None,
        }
    }
}

/// Bodies of operations that have no example.
fn without_example(path: &str) -> Value {
    match path {
        "/mcp" => json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "memory-search", "arguments": {"query": "canary"}}}),
        "/v1/messages/count_tokens" => {
            json!({"model": "any", "messages": [{"role": "user", "content": "Hello"}]})
        }
        _ => json!({"approve": true}),
    }
}

/// An example's ids: what it makes gets a name of its own, what it refers to is what exists.
fn renamed(mut body: Value, names: &Names) -> Value {
    for (field, name) in [("id", "made"), ("conversation_id", "id"), ("session_id", "id")] {
        if body[field].is_string() {
            body[field] = json!(names[name]);
        }
    }
    if body["head"]["id"].is_string() {
        body["head"]["id"] = json!(names["made"]);
    }
    body
}
