//! Decisions about tools beyond one session: for a user, or for everyone.
//!
//! One small thread per scope: a user's own, or the system's. It is read with its version, so that a decision
//! revoked on one server is revoked on all.
//!
//! Invariant: a scope's decisions are written by somebody who may write to that scope.

use std::sync::Arc;

use moka::sync::Cache;
use serde::{Deserialize, Serialize};

use crate::access::system_scope;
use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::id::ThreadId;
use crate::rule::{self, Decision};
use crate::store::{Change, Expected, Found, Key, Kind, Scope, Store, StoreError, Version};
use crate::tool::ToolName;

/// The id of the thread, next to those of pins.
const NAME: &str = "decisions";
const DECISIONS_MAX: usize = 1_000;
/// Maximum scopes in the cache.
const SCOPES_MAX: u64 = 10_000;

pub struct Decisions {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    cache: Cache<Scope, (Version, Arc<[Decision]>)>,
}

#[derive(Default, Serialize, Deserialize)]
struct Stored {
    decisions: Vec<Decision>,
}

/// Maximum attempts against concurrent writers.
const ATTEMPTS_MAX: usize = 20;

/// Whether a thread has decisions and is not a pin.
pub fn is_decisions(key: &Key) -> bool {
    key.kind == Kind::Pin && key.id.as_str() == NAME
}

impl Decisions {
    pub fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>) -> Self {
        Self { store, clock, cache: Cache::new(SCOPES_MAX) }
    }

    /// The decisions for everyone, and the user's own.
    pub async fn of(&self, scope: &Scope) -> Result<(Arc<[Decision]>, Arc<[Decision]>)> {
        let system = system_scope();
        let (everyone, user) = tokio::join!(self.read(&system), self.read(scope));
        Ok((everyone?, user?))
    }

    pub async fn read(&self, scope: &Scope) -> Result<Arc<[Decision]>> {
        let key = key_of(scope)?;
        let cached = self.cache.get(scope);
        let known = cached.as_ref().map(|(version, _)| *version);
        match (self.store.head(&key, known).await?, cached) {
            (Found::Unchanged, Some((_, decisions))) => Ok(decisions),
            (Found::Head(head), _) => {
                let decisions: Arc<[Decision]> = parse(&key, &head.bytes)?.decisions.into();
                self.cache.insert(scope.clone(), (head.version, decisions.clone()));
                Ok(decisions)
            }
            (Found::Missing | Found::Unchanged, _) => {
                self.cache.invalidate(scope);
                Ok(Arc::new([]))
            }
        }
    }

    /// Stores a decision, replacing an earlier one about the same tool.
    pub async fn keep(&self, scope: &Scope, decision: Decision) -> Result<()> {
        self.change(scope, |decisions| {
            rule::decide(decisions, decision.clone(), DECISIONS_MAX);
            true
        })
        .await
        .map(drop)
    }

    /// Revokes a decision; returns whether there was one.
    pub async fn revoke(&self, scope: &Scope, tool: &ToolName) -> Result<bool> {
        self.change(scope, |decisions| {
            let before = decisions.len();
            decisions.retain(|decision| decision.tool != *tool);
            decisions.len() < before
        })
        .await
    }

    async fn change(
        &self,
        scope: &Scope,
        change: impl Fn(&mut Vec<Decision>) -> bool,
    ) -> Result<bool> {
        let key = key_of(scope)?;
        for _ in 0..ATTEMPTS_MAX {
            let (expected, mut stored) = match self.store.head(&key, None).await? {
                Found::Head(head) => (Expected::At(head.version), parse(&key, &head.bytes)?),
                Found::Missing | Found::Unchanged => (Expected::Absent, Stored::default()),
            };
            if !change(&mut stored.decisions) {
                return Ok(false);
            }
            let head = serde_json::to_vec(&stored).map_err(|error| unreadable(&key, &error))?;
            let change = Change::of_head(head, self.clock.now(), self.clock.id());
            match self.store.commit(&key, expected, change).await {
                Ok(version) => {
                    self.cache.insert(scope.clone(), (version, stored.decisions.into()));
                    return Ok(true);
                }
                Err(StoreError::Conflict { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::UnderWay { key: key.id.to_string() })
    }
}

fn key_of(scope: &Scope) -> Result<Key> {
    Ok(Key { scope: scope.clone(), kind: Kind::Pin, id: ThreadId::new(NAME)? })
}

fn parse(key: &Key, bytes: &[u8]) -> Result<Stored> {
    serde_json::from_slice(bytes).map_err(|error| unreadable(key, &error))
}

fn unreadable(key: &Key, error: &serde_json::Error) -> Error {
    Error::Unreadable { what: key.to_string(), reason: error.to_string() }
}
