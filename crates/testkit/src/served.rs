//! Our own binary as a separate process, on a free loopback port, killed by pid.
//!
//! Each start takes a new port, so a client can never reach the wrong process by accident.

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::peer::{self, Peer};

/// Attempts to start; another process may take a port between choosing and binding.
const STARTS_MAX: usize = 4;

/// What to start, and on which store.
#[derive(Debug, Clone)]
pub struct Launch {
    pub binary: PathBuf,
    /// The store's URL.
    pub store: String,
    /// Flags of `serve` besides the address and the store.
    pub flags: Vec<String>,
    /// Environment variables besides those of this process.
    pub environment: Vec<(String, String)>,
}

impl Launch {
    /// The binary on a store, with a quiet log.
    pub fn new(binary: impl Into<PathBuf>, store: impl Into<String>) -> Self {
        let quiet = ("THROUGHLINE_LOG__FILTER".into(), "warn".into());
        Self {
            binary: binary.into(),
            store: store.into(),
            flags: Vec::new(),
            environment: vec![quiet],
        }
    }

    /// Adds a flag.
    pub fn flag(mut self, flag: impl Into<String>) -> Self {
        self.flags.push(flag.into());
        self
    }

    /// Adds an environment variable.
    pub fn with(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }
}

/// A running server, killed on drop.
#[derive(Debug)]
pub struct Served {
    peer: Peer,
    port: u16,
}

impl Served {
    /// Starts it and waits until it responds.
    pub async fn start(launch: &Launch) -> Self {
        let mut said = String::new();
        for _ in 0..STARTS_MAX {
            let port = peer::free_port(&[]);
            let mut command = Command::new(&launch.binary);
            command
                .args(["serve", "--bind", &format!("127.0.0.1:{port}"), "--store", &launch.store])
                .args(&launch.flags)
                .envs(launch.environment.iter().cloned());
            let folder = peer::folder();
            let peer = Peer::spawn(folder, &mut command).expect("the binary can be started");
            let mut served = Self { peer, port };
            let health = served.url("/health");
            let healthy = || async {
                reqwest::get(&health).await.is_ok_and(|reply| reply.status().is_success())
            };
            if served.peer.ready(healthy).await {
                return served;
            }
            said = served.peer.log_end();
        }
        panic!("the server did not start {STARTS_MAX} times: {said}");
    }

    /// The URL of a route under `/api/v1`.
    pub fn url(&self, route: &str) -> String {
        self.at(&format!("/api/v1{route}"))
    }

    /// The URL of any path.
    pub fn at(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub fn pid(&self) -> u32 {
        self.peer.pid()
    }

    /// Kills it with SIGKILL, as a crash would.
    pub fn kill(&mut self) {
        self.peer.kill();
    }

    /// Its whole log.
    pub fn log(&self) -> String {
        self.peer.log()
    }

    pub fn log_end(&self) -> String {
        self.peer.log_end()
    }

    /// Requests a route; panics with the response on a failure.
    pub async fn get(&self, http: &reqwest::Client, route: &str) -> Value {
        let found = self.find(http, route).await;
        found.unwrap_or_else(|| panic!("GET {route} found nothing"))
    }

    /// Like [`Self::get`], but `None` if there is nothing.
    async fn find(&self, http: &reqwest::Client, route: &str) -> Option<Value> {
        let reply = http.get(self.url(route)).send().await.expect("the server answers");
        let status = reply.status();
        let text = reply.text().await.expect("the answer can be read");
        if status == reqwest::StatusCode::NOT_FOUND {
            return None;
        }
        assert!(status.is_success(), "GET {route} answered {status}: {text}");
        Some(serde_json::from_str(&text).expect("the answer is JSON"))
    }

    /// Creates a session.
    pub async fn create(&self, http: &reqwest::Client, session: &str) {
        let body = serde_json::json!({ "id": session });
        let sent = http.post(self.url("/conversations")).json(&body).send().await;
        let reply = sent.expect("the server answers");
        assert!(reply.status().is_success(), "{session} is made: {}", reply.status());
    }

    /// All turns of a session as (number, message), in the order of `history`; empty if the session is
    /// gone.
    pub async fn history(&self, http: &reqwest::Client, session: &str) -> Vec<(u64, String)> {
        let mut turns = Vec::new();
        let mut cursor = String::new();
        loop {
            let route = format!("/conversations/{session}/history?limit=1000{cursor}");
            let Some(page) = self.find(http, &route).await else { return turns };
            for turn in page["turns"].as_array().into_iter().flatten() {
                let message = turn["message"].as_str().unwrap_or_default().to_owned();
                turns.push((turn["turn"].as_u64().unwrap_or(0), message));
            }
            match page["next_cursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => return turns,
            }
        }
    }
}
