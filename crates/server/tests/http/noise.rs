//! Noise to every route that takes a body: never a 5xx, and the store stays whole.

use reqwest::Method;
use serde_json::{Map, Value, json};

use crate::app::{TestApp, send};

/// Cases for each route.
const CASES: usize = 24;

/// A small generator of chance, so that a failure can be run again.
struct Chance(u64);

impl Chance {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % below as u64).unwrap()
    }

    fn bytes(&mut self) -> Vec<u8> {
        (0..self.next(200)).map(|_| u8::try_from(self.next(256)).unwrap()).collect()
    }

    fn value(&mut self, depth: usize) -> Value {
        let words = ["", "a", "..", "message", "\u{0}", "🙂", "rule", "true", "1e9"];
        match self.next(if depth == 0 { 6 } else { 8 }) {
            0 => Value::Null,
            1 => json!(self.next(2) == 0),
            2 => json!(self.next(1000)),
            3 => json!(-(i64::try_from(self.next(1000)).unwrap())),
            4 => json!(1.5e300),
            5 => json!(words[self.next(words.len())]),
            6 => (0..self.next(4)).map(|_| self.value(depth - 1)).collect(),
            _ => Value::Object(self.fields(depth - 1, &[])),
        }
    }

    fn fields(&mut self, depth: usize, names: &[String]) -> Map<String, Value> {
        let mut map = Map::new();
        for name in names {
            if self.next(2) == 0 {
                map.insert(name.clone(), self.value(depth));
            }
        }
        if self.next(4) == 0 {
            map.insert("stray".into(), self.value(depth));
        }
        map
    }
}

/// Routes that take a body, with the fields they know.
async fn routes(app: &TestApp) -> Vec<(Method, String, Vec<String>)> {
    let document = send(app.request(Method::GET, "/api/openapi.json")).await.expect(200);
    let mut routes = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            if operation["requestBody"].is_null() || path == "/mcp" {
                continue;
            }
            let schema = &operation["requestBody"]["content"]["application/json"]["schema"]["$ref"];
            let name = schema.as_str().and_then(|name| name.rsplit('/').next()).unwrap_or("");
            let fields = document["components"]["schemas"][name]["properties"].as_object();
            let fields = fields.map(|f| f.keys().cloned().collect()).unwrap_or_default();
            let path = path.replace("{id}", "a").replace("{call}", "c");
            routes.push((method.to_uppercase().parse().unwrap(), path, fields));
        }
    }
    routes
}

#[tokio::test]
async fn noise_never_breaks_the_server() {
    let app = TestApp::start().await;
    app.post("/conversations", json!({"id": "a"})).await.expect(201);
    let routes = routes(&app).await;
    assert!(routes.len() >= 10, "{routes:?}");
    let mut chance = Chance(0x9e37_79b9_7f4a_7c15);
    for (method, path, fields) in &routes {
        for case in 0..CASES {
            let body = match case % 3 {
                0 => chance.bytes(),
                1 => chance.value(4).to_string().into_bytes(),
                _ => Value::Object(chance.fields(3, fields)).to_string().into_bytes(),
            };
            let shown = String::from_utf8_lossy(&body).into_owned();
            let request = app.request(method.clone(), path);
            let request = request.header("content-type", "application/json").body(body);
            let answer = send(request).await;
            assert!(answer.status < 500, "{method} {path} {shown}: {}", answer.text);
            match answer.status {
                ..400 => {}
                // Routes of the providers answer in the providers' own form.
                _ if path.starts_with("/v1/") => {
                    assert!(answer.json()["error"]["message"].is_string())
                }
                _ => drop(answer.code()),
            }
        }
    }
    let report = app.app.engine().store().check().await.unwrap();
    assert_eq!(report.problems, Vec::<String>::new());
}
