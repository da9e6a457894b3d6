//! A scripted MCP server, to test slow, missing, oversized and changing servers.
//!
//! It implements the protocol itself, without the library that the product uses, so that the two can disagree. It is
//! strict: a request that the specification does not allow is rejected.
//!
//! # Layout
//!
//! - [`Script`]: the behaviour. [`ScriptedMcp`]: the server's replies to single messages.
//! - [`tools`]: the built-in tools, one per kind of behaviour. [`table`]: tools defined by a test.
//! - [`stdio`], [`http`]: the two transports.

pub mod http;
pub mod stdio;
pub mod table;
mod tools;

use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub(crate) const NEWER: &str = "2026-07-28";
const OLDER: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";

/// The protocol that a server uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Era {
    /// `server/discover`, without a handshake.
    #[default]
    Newer,
    /// `initialize`; rejects unknown requests.
    Older,
    /// `initialize`; ignores unknown requests.
    OlderAndSilent,
    /// `initialize`; exits on an unknown request.
    OlderAndFragile,
    /// `initialize`; rejects an unknown request only during the handshake.
    OlderAndLate,
}

/// The behaviour of the server.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Script {
    /// The protocol it uses.
    pub era: Era,
    /// Number of tools per page of the list; `None` puts all on one page.
    pub page: Option<usize>,
    /// Starts another process, as a launcher does; the tool `pids` reports it.
    pub grandchild: bool,
    /// Pads each description with this many bytes, for lists that are too large.
    pub description_bytes: usize,
    /// Lists every tool twice.
    pub doubled: bool,
    /// Lists a tool without a schema, and one whose description is a number.
    pub malformed: bool,
    /// Lists a page that always points to itself.
    pub endless_list: bool,
    /// Does not answer a request for its tools while this file exists.
    pub unlisted_by: Option<std::path::PathBuf>,
    /// Writes invalid lines before each reply, and much to standard error.
    pub noisy: bool,
    /// If this file exists, its tools have changed, as after an update of the server.
    pub changed_by: Option<std::path::PathBuf>,
    /// The input schema of every tool, instead of one that accepts anything.
    pub input_schema: Option<Value>,
    /// Accepts whatever version is requested, as careless servers do.
    pub agrees: bool,
}

/// The server's reaction to a message.
#[derive(Debug, PartialEq)]
pub enum Reaction {
    /// Sends these messages.
    Send(Vec<Value>),
    /// Exits, or drops the connection.
    End,
}

/// Replies according to a script.
pub struct ScriptedMcp {
    script: Script,
    state: Mutex<State>,
    table: Option<Arc<table::Table>>,
}

#[derive(Default)]
struct State {
    initialized: bool,
    changed: bool,
    subscription: Option<Value>,
    grandchild: Option<u32>,
    /// The request that a late server has not rejected yet.
    put_off: Option<Value>,
}

impl ScriptedMcp {
    pub fn new(script: Script) -> Self {
        Self { script, state: Mutex::default(), table: None }
    }

    /// A server with the tools of a table.
    pub fn with_table(script: Script, table: Arc<table::Table>) -> Self {
        Self { script, state: Mutex::default(), table: Some(table) }
    }

    /// Reacts to one message.
    pub fn react(&self, message: &Value) -> Reaction {
        let id = message.get("id").cloned();
        let method = message["method"].as_str().unwrap_or_default();
        let Some(id) = id else {
            self.notified(method, message);
            return Reaction::Send(Vec::new());
        };
        if message["jsonrpc"] != "2.0" {
            return error(&id, -32600, "jsonrpc must be 2.0");
        }
        let unknown = match (self.script.era, method) {
            (Era::Newer, "initialize") => true,
            (Era::Newer, _) => false,
            (_, method) => !matches!(method, "initialize" | "ping" | "tools/list" | "tools/call"),
        };
        match self.script.era {
            Era::OlderAndSilent if unknown => return Reaction::Send(Vec::new()),
            Era::OlderAndFragile if unknown => return Reaction::End,
            Era::OlderAndLate if unknown => {
                self.state.lock().expect("no panic").put_off = Some(id);
                return Reaction::Send(Vec::new());
            }
            Era::Newer if unknown => return error(&id, -32022, "unsupported protocol version"),
            _ if unknown => return error(&id, -32601, "method not found"),
            _ => {}
        }
        if let Err(problem) = self.check_era(method, message) {
            return error(&id, -32602, &problem);
        }
        match method {
            "server/discover" => self.complete(&id, self.discovery()),
            "initialize" => self.initialize(&id, message),
            "ping" => self.complete(&id, json!({})),
            "tools/list" => self.list(&id, message),
            "tools/call" => tools::call(self, &id, message),
            "subscriptions/listen" => self.subscribe(&id, message),
            _ => error(&id, -32601, "method not found"),
        }
    }

    fn notified(&self, method: &str, message: &Value) {
        let mut state = self.state.lock().expect("no test panics while it holds the state");
        match method {
            "notifications/initialized" => state.initialized = true,
            "notifications/cancelled"
                if Some(&message["params"]["requestId"]) == state.subscription.as_ref() =>
            {
                state.subscription = None;
            }
            _ => {}
        }
    }

    /// The current protocol sends version and capabilities with each request; the legacy one has a handshake.
    fn check_era(&self, method: &str, message: &Value) -> Result<(), String> {
        if self.script.era == Era::Newer {
            let meta = &message["params"]["_meta"];
            if meta[VERSION_KEY] != NEWER {
                return Err(format!("_meta lacks {VERSION_KEY} {NEWER}"));
            }
            if !meta[CAPABILITIES_KEY].is_object() {
                return Err(format!("_meta lacks {CAPABILITIES_KEY}"));
            }
            return Ok(());
        }
        let initialized = self.state.lock().expect("no panic").initialized;
        if !initialized && !matches!(method, "initialize" | "ping") {
            return Err(format!("{method} before notifications/initialized"));
        }
        Ok(())
    }

    fn discovery(&self) -> Value {
        json!({
            "supportedVersions": [NEWER], "capabilities": {"tools": {"listChanged": true}},
            "serverInfo": {"name": "scripted", "version": "1"}, "ttlMs": 60_000, "cacheScope": "public",
            "instructions": self.instructions(),
        })
    }

    fn instructions(&self) -> &str {
        self.table.as_ref().and_then(|table| table.instructions.as_deref()).unwrap_or_default()
    }

    fn initialize(&self, id: &Value, message: &Value) -> Reaction {
        let asked = message["params"]["protocolVersion"].as_str().unwrap_or_default();
        let agrees = self.script.agrees || OLDER.contains(&asked);
        let version = if agrees { asked } else { OLDER[0] };
        let result = json!({
            "protocolVersion": version, "capabilities": {"tools": {"listChanged": true}},
            "serverInfo": {"name": "scripted", "version": "1"}, "instructions": self.instructions(),
        });
        let put_off = self.state.lock().expect("no panic").put_off.take();
        let late = put_off.map(|id| error(&id, -32601, "method not found"));
        match (late, self.complete(id, result)) {
            (Some(Reaction::Send(late)), Reaction::Send(answer)) => {
                Reaction::Send([late, answer].concat())
            }
            (_, answer) => answer,
        }
    }

    fn list(&self, id: &Value, message: &Value) -> Reaction {
        if self.script.unlisted_by.as_ref().is_some_and(|file| file.exists()) {
            return Reaction::Send(Vec::new());
        }
        let mut all = tools::definitions(self);
        if self.script.doubled {
            all.extend(tools::definitions(self));
        }
        if self.script.malformed {
            all.push(json!({"name": "no_schema"}));
            let object = json!({"type": "object"});
            all.push(json!({"name": "numbered", "description": 7, "inputSchema": object}));
        }
        let start: usize = match message["params"]["cursor"].as_str() {
            None => 0,
            Some(cursor) => match cursor.parse() {
                Ok(start) => start,
                Err(_) => return error(id, -32602, "unknown cursor"),
            },
        };
        let page = self.script.page.unwrap_or(all.len());
        let next = (start + page < all.len()).then(|| (start + page).to_string());
        let next = if self.script.endless_list { Some("0".to_owned()) } else { next };
        let mut result =
            json!({"tools": all.into_iter().skip(start).take(page).collect::<Vec<_>>()});
        if let Some(next) = next {
            result["nextCursor"] = json!(next);
        }
        if self.script.era == Era::Newer {
            result["ttlMs"] = json!(600_000);
            result["cacheScope"] = json!("public");
        }
        self.complete(id, result)
    }

    fn subscribe(&self, id: &Value, message: &Value) -> Reaction {
        let mut state = self.state.lock().expect("no test panics while it holds the state");
        state.subscription = Some(id.clone());
        Reaction::Send(vec![json!({
            "jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged",
            "params": {
                "notifications": message["params"]["notifications"],
                "_meta": {"io.modelcontextprotocol/subscriptionId": id},
            },
        })])
    }

    /// The notification of changed tools, in the form of the protocol.
    fn change_notice(&self) -> Option<Value> {
        let mut state = self.state.lock().expect("no test panics while it holds the state");
        state.changed = true;
        let mut notice = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
        if self.script.era == Era::Newer {
            let id = state.subscription.clone()?;
            notice["params"] = json!({"_meta": {"io.modelcontextprotocol/subscriptionId": id}});
        }
        Some(notice)
    }

    fn complete(&self, id: &Value, mut result: Value) -> Reaction {
        if self.script.era == Era::Newer {
            result["resultType"] = json!("complete");
        }
        Reaction::Send(vec![json!({"jsonrpc": "2.0", "id": id, "result": result})])
    }
}

fn error(id: &Value, code: i64, message: &str) -> Reaction {
    let mut error = json!({"code": code, "message": message});
    if code == -32022 {
        error["data"] = json!({"supported": [NEWER]});
    }
    Reaction::Send(vec![json!({"jsonrpc": "2.0", "id": id, "error": error})])
}
