//! A server for one test: its own store, a free port, and a client.

use std::net::SocketAddr;
use std::sync::Arc;

use reqwest::{Method, RequestBuilder};
use serde_json::Value;
use throughline::access::{Gate, Keys, NewKey, Tokens};
use throughline::agents::demo;
use throughline::assemble::{self, Demo};
use throughline::config::{Config, Environment};
use throughline::http::dropin::Upstreams;
use throughline::http::{self, App, Setup};
use throughline_engine::access::Grants;
use throughline_engine::id::{TenantId, UserId};
use throughline_testkit::s3_server;
use tokio::net::TcpListener;
use tokio_util::sync::{CancellationToken, DropGuard};

/// A running server. It stops when this is dropped.
pub(crate) struct TestApp {
    pub address: SocketAddr,
    pub client: reqwest::Client,
    pub keys: Keys,
    pub app: App,
    _stop: DropGuard,
    _data: tempfile::TempDir,
}

/// An answer: status, headers and body.
#[derive(Debug)]
pub(crate) struct Answer {
    pub status: u16,
    pub headers: reqwest::header::HeaderMap,
    pub text: String,
}

impl Answer {
    /// The body as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("not JSON: {}", self.text))
    }

    /// The problem's code.
    pub(crate) fn code(&self) -> String {
        assert_eq!(self.headers["content-type"], "application/problem+json", "{}", self.text);
        let body = self.json();
        for field in ["type", "title", "detail", "hint"] {
            assert!(body[field].is_string(), "{field} is missing in {body}");
        }
        assert_eq!(body["status"], self.status);
        body["code"].as_str().unwrap().to_owned()
    }

    /// The body, if the status is as expected.
    pub(crate) fn expect(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text);
        self.json()
    }
}

/// How to start a server.
pub(crate) struct Builder {
    config: Config,
    demo: Demo,
}

impl Builder {
    pub(crate) fn set(mut self, change: impl FnOnce(&mut Config)) -> Self {
        change(&mut self.config);
        self
    }

    /// With the demo inventory as a real MCP server.
    pub(crate) fn demo(mut self) -> Self {
        let entry = demo::server(env!("CARGO_BIN_EXE_throughline").into());
        self.config.servers.insert(demo::SERVER.into(), entry);
        self.demo = Demo::With;
        self
    }

    pub(crate) async fn start(mut self) -> TestApp {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        self.config.server.bind = address;
        if self.config.oauth.enabled() {
            self.config.oauth.resource = format!("http://{address}/mcp");
        }
        let data = tempfile::tempdir().unwrap();
        self.config.backups.folder = data.path().to_owned();
        let store = assemble::store(&self.config).await.unwrap();
        let keys = Keys::new(store.clone(), throughline::clock::system());
        let tokens = Tokens::of(&self.config.oauth).unwrap();
        let gate = Gate::open(keys.clone(), tokens, address.ip()).await.unwrap();
        let assembled = assemble::engine(&self.config, store, self.demo).await.unwrap();
        let upstreams = Upstreams::of(&self.config).unwrap();
        let app = App::new(Setup {
            engine: assembled.engine,
            gate,
            settings: self.config.server,
            servers: Arc::clone(&assembled.servers),
            telemetry: self.config.telemetry,
        })
        .with_upstreams(upstreams);
        let stop = CancellationToken::new();
        let stopped = stop.clone().cancelled_owned();
        tokio::spawn(http::run(listener, app.clone(), stopped));
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        TestApp { address, client, keys, app, _stop: stop.drop_guard(), _data: data }
    }
}

impl TestApp {
    pub(crate) fn builder() -> Builder {
        let mut config = Config::defaults().unwrap();
        config.store.url = "memory:".into();
        config.environment = environment();
        config.agents.folder = "no-such-folder".into();
        config.packs.folder = "no-such-folder".into();
        Builder { config, demo: Demo::Without }
    }

    pub(crate) async fn start() -> Self {
        Self::builder().start().await
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("http://{}{path}", self.address))
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        send(self.request(Method::GET, &api(path))).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Answer {
        send(self.request(Method::DELETE, &api(path))).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Answer {
        self.post_with(path, body, &[]).await
    }

    pub(crate) async fn post_with(
        &self,
        path: &str,
        body: Value,
        headers: &[(&str, &str)],
    ) -> Answer {
        self.send_with(Method::POST, path, body, headers).await
    }

    pub(crate) async fn send_with(
        &self,
        method: Method,
        path: &str,
        body: Value,
        headers: &[(&str, &str)],
    ) -> Answer {
        let mut request = self.request(method, &api(path)).json(&body);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        send(request).await
    }

    /// A raw body, announced as JSON.
    pub(crate) async fn post_bytes(&self, path: &str, body: impl Into<reqwest::Body>) -> Answer {
        let request = self.request(Method::POST, &api(path));
        send(request.header("content-type", "application/json").body(body)).await
    }

    /// A key of that tenant and user.
    pub(crate) async fn key(&self, tenant: &str, user: &str, scope: Grants) -> String {
        let new = NewKey {
            name: "test".into(),
            tenant: TenantId::new(tenant).unwrap(),
            user: UserId::new(user).unwrap(),
            scope,
        };
        self.keys.create(new).await.unwrap().0.reveal()
    }
}

/// A key for S3 servers of tests; and the promise that is to be broken, in a build that can.
fn environment() -> Environment {
    let sabotage = std::env::var("THROUGHLINE_SABOTAGE").unwrap_or_default();
    Environment::of([
        ("THROUGHLINE_SABOTAGE", &sabotage),
        ("AWS_ACCESS_KEY_ID", s3_server::ACCESS_KEY),
        ("AWS_SECRET_ACCESS_KEY", s3_server::SECRET_KEY),
    ])
}

fn api(path: &str) -> String {
    format!("/api/v1{path}")
}

/// Sends a request and takes its answer.
pub(crate) async fn send(request: RequestBuilder) -> Answer {
    let response = request.send().await.unwrap();
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    Answer { status, headers, text: response.text().await.unwrap() }
}
