//! Guarantees broken on purpose, to show that the tests detect it.
//!
//! Compiled only with the feature `sabotage`, which no shipped build has. Each variant wraps a store, so it
//! works with every backend.

mod delayed_writes;

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use throughline_engine::store::{
    Change, CheckReport, Erased, Expected, Found, Key, Kind, ListedThread, Page, Result, Scope,
    Store, StoreError, StoreFacts, Version,
};

use crate::listing::page_of;

/// The guarantee to break.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sabotage {
    /// Acknowledge commits at once and write them only after this time.
    HoldBack(Duration),
    /// Apply a commit whatever version it expects.
    IgnoreVersions,
    /// List (and search) the threads of every scope.
    IgnoreScopes,
    /// Acknowledge an erasure without doing it.
    KeepErased,
    /// Acknowledge a commit although the store is unavailable or another commit was first.
    ClaimSuccess,
}

/// Wraps `store` so that it breaks one guarantee.
pub async fn apply(store: Arc<dyn Store>, sabotage: Sabotage) -> Result<Arc<dyn Store>> {
    tracing::warn!(?sabotage, "a guarantee of the store is broken on purpose");
    Ok(match sabotage {
        Sabotage::HoldBack(time) => {
            Arc::new(delayed_writes::DelayedWrites::wrap(store, time).await?)
        }
        Sabotage::IgnoreVersions => Arc::new(BrokenStore { store, broken: Broken::Versions }),
        Sabotage::IgnoreScopes => Arc::new(BrokenStore { store, broken: Broken::Scopes }),
        Sabotage::KeepErased => Arc::new(BrokenStore { store, broken: Broken::Erasures }),
        Sabotage::ClaimSuccess => Arc::new(BrokenStore { store, broken: Broken::Failures }),
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Broken {
    Versions,
    Scopes,
    Erasures,
    Failures,
}

/// Wraps a store and breaks one guarantee.
struct BrokenStore {
    store: Arc<dyn Store>,
    broken: Broken,
}

#[async_trait]
impl Store for BrokenStore {
    async fn head(&self, key: &Key, known: Option<Version>) -> Result<Found> {
        self.store.head(key, known).await
    }

    async fn entries(&self, key: &Key, range: Range<u64>) -> Result<Vec<Bytes>> {
        self.store.entries(key, range).await
    }

    async fn commit(&self, key: &Key, expected: Expected, change: Change) -> Result<Version> {
        if self.broken == Broken::Failures {
            return match self.store.commit(key, expected, change).await {
                Err(StoreError::Unavailable { .. } | StoreError::Conflict { .. }) => {
                    Ok(Version { number: 1, incarnation: 1 })
                }
                answer => answer,
            };
        }
        if self.broken != Broken::Versions {
            return self.store.commit(key, expected, change).await;
        }
        loop {
            let current = match self.store.head(key, None).await? {
                Found::Head(head) => Expected::At(head.version),
                Found::Missing | Found::Unchanged => Expected::Absent,
            };
            match self.store.commit(key, current, change.clone()).await {
                Err(StoreError::Conflict { .. }) => {}
                answer => return answer,
            }
        }
    }

    async fn list(&self, scope: &Scope, kind: Kind, page: Page) -> Result<Vec<ListedThread>> {
        if self.broken != Broken::Scopes {
            return self.store.list(scope, kind, page).await;
        }
        let mut all = self.store.scan(None, usize::MAX).await?;
        all.retain(|listed| listed.key.kind == kind);
        Ok(page_of(all, &page))
    }

    async fn scan(&self, after: Option<&Key>, limit: usize) -> Result<Vec<ListedThread>> {
        self.store.scan(after, limit).await
    }

    async fn erase(&self, key: &Key) -> Result<Erased> {
        if self.broken == Broken::Erasures {
            return Ok(Erased { heads: 1, ..Erased::default() });
        }
        self.store.erase(key).await
    }

    fn facts(&self) -> StoreFacts {
        self.store.facts()
    }

    fn is_alone(&self) -> bool {
        self.store.is_alone()
    }

    async fn ping(&self) -> Result<()> {
        self.store.ping().await
    }

    async fn probe_write(&self) -> Result<()> {
        self.store.probe_write().await
    }

    async fn check(&self) -> Result<CheckReport> {
        self.store.check().await
    }
}
