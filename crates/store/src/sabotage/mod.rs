//! Promises broken on purpose, so that a test can be seen to notice.
//!
//! Compiled only with the feature `sabotage`, which no shipped build has. Each switch is a store around
//! a store, so it works on every backend.

mod held_back;

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

/// Which promise is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sabotage {
    /// Commits are acknowledged at once and kept in memory this long before they are written.
    HoldBack(Duration),
    /// A commit is applied whatever version it expected.
    IgnoreVersions,
    /// A listing (and a search of the index) answers threads of every scope.
    IgnoreScopes,
    /// An erasure is answered and not done.
    KeepErased,
    /// A commit that fails is acknowledged.
    ClaimSuccess,
}

/// `store` with one promise broken.
pub async fn apply(store: Arc<dyn Store>, sabotage: Sabotage) -> Result<Arc<dyn Store>> {
    tracing::warn!(?sabotage, "a promise of the store is broken on purpose");
    Ok(match sabotage {
        Sabotage::HoldBack(time) => Arc::new(held_back::HeldBack::over(store, time).await?),
        Sabotage::IgnoreVersions => Arc::new(Careless { store, ignored: Ignored::Versions }),
        Sabotage::IgnoreScopes => Arc::new(Careless { store, ignored: Ignored::Scopes }),
        Sabotage::KeepErased => Arc::new(Careless { store, ignored: Ignored::Erasures }),
        Sabotage::ClaimSuccess => Arc::new(Careless { store, ignored: Ignored::Failures }),
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ignored {
    Versions,
    Scopes,
    Erasures,
    Failures,
}

/// A store that does not look at what it was told.
struct Careless {
    store: Arc<dyn Store>,
    ignored: Ignored,
}

#[async_trait]
impl Store for Careless {
    async fn head(&self, key: &Key, known: Option<Version>) -> Result<Found> {
        self.store.head(key, known).await
    }

    async fn entries(&self, key: &Key, range: Range<u64>) -> Result<Vec<Bytes>> {
        self.store.entries(key, range).await
    }

    async fn commit(&self, key: &Key, expected: Expected, change: Change) -> Result<Version> {
        if self.ignored == Ignored::Failures {
            return match self.store.commit(key, expected, change).await {
                Err(StoreError::Unavailable { .. }) => Ok(Version { number: 1, incarnation: 1 }),
                answer => answer,
            };
        }
        if self.ignored != Ignored::Versions {
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
        if self.ignored != Ignored::Scopes {
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
        if self.ignored == Ignored::Erasures {
            return Ok(Erased { heads: 1, ..Erased::default() });
        }
        self.store.erase(key).await
    }

    fn facts(&self) -> StoreFacts {
        self.store.facts()
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
