//! Errors of commands: what failed, and what to try.
//!
//! Invariant: neither message nor hint contains a secret.

use std::fmt;

use serde_json::{Value, json};
use throughline_engine::error::Error;
use throughline_engine::store::StoreError;
use throughline_store::StoreUrl;
use throughline_store::url::InvalidStoreUrl;

/// A failed command.
#[derive(Debug)]
pub struct Failure {
    /// What failed.
    pub message: String,
    /// What to try.
    pub hint: Option<String>,
    /// Exit code: 1 for a failure, 2 for wrong use.
    pub exit: u8,
    /// Stable code for programs, the same as in REST.
    pub code: String,
}

impl Failure {
    pub fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        let (message, hint) = (message.into(), Some(hint.into()));
        Self { message, hint, exit: 1, code: "failed".into() }
    }

    /// Sets the code.
    pub fn coded(self, code: impl Into<String>) -> Self {
        Self { code: code.into(), ..self }
    }

    /// The error as JSON.
    pub fn json(&self) -> Value {
        json!({"error": {"code": self.code, "message": self.message, "hint": self.hint}})
    }

    /// The store does not exist, and creating an empty one would mislead.
    pub fn no_store(url: &StoreUrl) -> Self {
        Self::new(
            format!("there is no store {url}"),
            "check the path; serve and chat create a new store",
        )
        .coded("no_store")
    }

    /// The command was used wrongly.
    pub fn wrong_use(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { exit: 2, ..Self::new(message, hint).coded("wrong_use") }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::new(error.to_string(), error.hint()).coded(error.code())
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Error::Store(error).into()
    }
}

impl From<InvalidStoreUrl> for Failure {
    fn from(error: InvalidStoreUrl) -> Self {
        Self::wrong_use(error.to_string(), error.hint())
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self { message: format!("{error:#}"), hint: None, exit: 1, code: "failed".into() }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self { message: error.to_string(), hint: None, exit: 1, code: "failed".into() }
    }
}
