//! Tools defined by a test, each with its reply; records every call.
//!
//! Definitions are sent as they are given, so that a malformed one stays malformed.
//!
//! Invariant: a call is recorded before it is answered.

use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};
use tokio::sync::watch;

/// One tool.
#[derive(Debug, Clone)]
pub struct TableTool {
    /// The definition as the server lists it.
    pub definition: Value,
    /// The reply to a call.
    pub answer: TableAnswer,
}

/// The reply to a call.
#[derive(Debug, Clone)]
pub enum TableAnswer {
    /// A result: `content`, `isError`…
    Result(Value),
    /// A protocol error.
    Error(i64, String),
}

/// The tools of a server; a test may change them while it runs.
#[derive(Debug)]
pub struct Table {
    /// The server's instructions to clients.
    pub instructions: Option<String>,
    tools: Mutex<Vec<TableTool>>,
    calls: Mutex<Vec<(String, Value)>>,
    pub(super) changes: watch::Sender<u64>,
}

impl Table {
    pub fn new(instructions: Option<String>, tools: Vec<TableTool>) -> Self {
        Self {
            instructions,
            tools: Mutex::new(tools),
            calls: Mutex::default(),
            changes: watch::Sender::new(0),
        }
    }

    /// Changes the list and notifies listening clients.
    pub fn change(&self, change: impl FnOnce(&mut Vec<TableTool>)) {
        change(&mut self.tools.lock().unwrap_or_else(PoisonError::into_inner));
        self.changes.send_modify(|count| *count += 1);
    }

    /// All calls so far, with their arguments.
    pub fn calls(&self) -> Vec<(String, Value)> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn definitions(&self) -> Vec<Value> {
        let tools = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
        tools.iter().map(|tool| tool.definition.clone()).collect()
    }

    pub(super) fn call(&self, params: &Value) -> TableAnswer {
        let name = params["name"].as_str().unwrap_or_default();
        let arguments = params.get("arguments").cloned().unwrap_or_else(|| json!({}));
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        calls.push((name.to_owned(), arguments));
        let tools = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
        let found = tools.iter().find(|tool| tool.definition["name"] == name);
        found.map_or_else(
            || TableAnswer::Error(-32602, "unknown tool".to_owned()),
            |tool| tool.answer.clone(),
        )
    }
}
