//! A store that acknowledges before it writes: commits wait in memory for a while.
//!
//! It is indistinguishable from a correct store until the process is killed.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use throughline_engine::store::{
    Change, CheckReport, Erased, Expected, Found, Key, Kind, ListedThread, Page, Result, Scope,
    Store, StoreError, StoreFacts, Version,
};
use tokio::sync::{Mutex, mpsc};
use tokio::time::Instant;

use crate::memory::Memory;

/// A copy of the whole store in memory, and a queue of unwritten changes.
pub(super) struct DelayedWrites {
    store: Arc<dyn Store>,
    memory: Memory,
    /// The lock keeps queue and memory in the same order.
    queue: Mutex<mpsc::UnboundedSender<Delayed>>,
}

struct Delayed {
    since: Instant,
    key: Key,
    /// `None` means erase.
    change: Option<Change>,
}

impl DelayedWrites {
    pub(super) async fn wrap(store: Arc<dyn Store>, time: Duration) -> Result<Self> {
        let memory = Memory::new();
        let mut versions = HashMap::new();
        let mut after: Option<Key> = None;
        loop {
            let page = store.scan(after.as_ref(), usize::MAX).await?;
            let Some(last) = page.last() else { break };
            after = Some(last.key.clone());
            for listed in page {
                let Found::Head(head) = store.head(&listed.key, None).await? else { continue };
                let log = store.entries(&listed.key, 0..u64::MAX).await?;
                versions.insert(listed.key.clone(), listed.version);
                memory.seed(listed, head.bytes, log);
            }
        }
        let (queue, delayed) = mpsc::unbounded_channel();
        tokio::spawn(write_late(Arc::clone(&store), versions, delayed, time));
        Ok(Self { store, memory, queue: Mutex::new(queue) })
    }
}

fn delay(queue: &mpsc::UnboundedSender<Delayed>, key: &Key, change: Option<Change>) {
    // The receiving task lives as long as the runtime.
    let _ = queue.send(Delayed { since: Instant::now(), key: key.clone(), change });
}

async fn write_late(
    store: Arc<dyn Store>,
    mut written: HashMap<Key, Version>,
    mut delayed: mpsc::UnboundedReceiver<Delayed>,
    time: Duration,
) {
    while let Some(Delayed { since, key, change }) = delayed.recv().await {
        tokio::time::sleep_until(since + time).await;
        let outcome: Result<(), StoreError> = match change {
            Some(change) => {
                let expected = written.get(&key).map_or(Expected::Absent, |at| Expected::At(*at));
                store.commit(&key, expected, change).await.map(|at| {
                    written.insert(key, at);
                })
            }
            None => store.erase(&key).await.map(|_| {
                written.remove(&key);
            }),
        };
        if let Err(error) = outcome {
            tracing::warn!(%error, "a delayed commit failed");
        }
    }
}

#[async_trait]
impl Store for DelayedWrites {
    async fn head(&self, key: &Key, known: Option<Version>) -> Result<Found> {
        self.memory.head(key, known).await
    }

    async fn entries(&self, key: &Key, range: Range<u64>) -> Result<Vec<Bytes>> {
        self.memory.entries(key, range).await
    }

    async fn commit(&self, key: &Key, expected: Expected, change: Change) -> Result<Version> {
        let queue = self.queue.lock().await;
        let version = self.memory.commit(key, expected, change.clone()).await?;
        delay(&queue, key, Some(change));
        Ok(version)
    }

    async fn list(&self, scope: &Scope, kind: Kind, page: Page) -> Result<Vec<ListedThread>> {
        self.memory.list(scope, kind, page).await
    }

    async fn scan(&self, after: Option<&Key>, limit: usize) -> Result<Vec<ListedThread>> {
        self.memory.scan(after, limit).await
    }

    async fn erase(&self, key: &Key) -> Result<Erased> {
        let queue = self.queue.lock().await;
        let erased = self.memory.erase(key).await?;
        delay(&queue, key, None);
        Ok(erased)
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
        self.memory.check().await
    }
}
