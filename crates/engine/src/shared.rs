//! Derived values that all copies of the server on one store may use, where the store offers it.
//!
//! A cache and nothing else: whoever uses it can do without. Who puts a value says within it what it was
//! made from, and who takes one compares; whether a value still holds is not decided here.
//!
//! Invariant: a value is found only in the scope that it was put into.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;

use crate::store::{Result, Scope};

/// A cache beside the store. Every method answers soon or fails; a failure is no more than a miss.
#[async_trait]
pub trait SharedCache: Send + Sync {
    /// The value of that name, if it is there and its time is not over.
    async fn get(&self, scope: &Scope, name: &str) -> Result<Option<Bytes>>;
    /// Keeps a value for `life`, in place of one that is there.
    async fn put(&self, scope: &Scope, name: &str, value: Bytes, life: Duration) -> Result<()>;
    /// Removes everything of a scope.
    async fn forget(&self, scope: &Scope) -> Result<()>;
}
