//! A cache of derived values shared by all servers on one store, if the store offers it.
//!
//! It is only a cache: everything works without it. A value states what it was made from, and the reader
//! compares; whether it is still valid is not decided here.
//!
//! Invariant: a value is found only in the scope it was stored in.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;

use crate::store::{Key, Result, Scope};

/// Figures of a session that other programs may watch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionFigures {
    /// Tokens of its last request.
    pub context_tokens: u32,
    /// Entities it is about.
    pub entities: usize,
}

/// Every method answers quickly or fails; a failure is the same as a miss.
#[async_trait]
pub trait SharedCache: Send + Sync {
    /// The value, if present and not expired.
    async fn get(&self, scope: &Scope, name: &str) -> Result<Option<Bytes>>;
    /// Stores a value for `life`, replacing any other.
    async fn put(&self, scope: &Scope, name: &str, value: Bytes, life: Duration) -> Result<()>;
    /// Removes all values of a scope.
    async fn forget(&self, scope: &Scope) -> Result<()>;
    /// Publishes the figures of a session for a while.
    async fn publish(&self, session: &Key, figures: SessionFigures) -> Result<()>;
}
