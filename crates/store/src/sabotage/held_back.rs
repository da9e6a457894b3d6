//! A store that answers before it writes: an acknowledged commit lies in memory for a while.
//!
//! It behaves like a sound store until the process is killed.

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

/// A copy of the whole store in memory, and a queue of what is not written yet.
pub(super) struct HeldBack {
    store: Arc<dyn Store>,
    memory: Memory,
    /// The lock keeps queue and memory in one order.
    queue: Mutex<mpsc::UnboundedSender<Held>>,
}

struct Held {
    since: Instant,
    key: Key,
    /// `None` to erase.
    change: Option<Change>,
}

impl HeldBack {
    pub(super) async fn over(store: Arc<dyn Store>, time: Duration) -> Result<Self> {
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
        let (queue, held) = mpsc::unbounded_channel();
        tokio::spawn(write_late(Arc::clone(&store), versions, held, time));
        Ok(Self { store, memory, queue: Mutex::new(queue) })
    }
}

fn hold(queue: &mpsc::UnboundedSender<Held>, key: &Key, change: Option<Change>) {
    // The task at the other end lives as long as the runtime.
    let _ = queue.send(Held { since: Instant::now(), key: key.clone(), change });
}

async fn write_late(
    store: Arc<dyn Store>,
    mut written: HashMap<Key, Version>,
    mut held: mpsc::UnboundedReceiver<Held>,
    time: Duration,
) {
    while let Some(Held { since, key, change }) = held.recv().await {
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
            tracing::warn!(%error, "a commit that was held back failed");
        }
    }
}

#[async_trait]
impl Store for HeldBack {
    async fn head(&self, key: &Key, known: Option<Version>) -> Result<Found> {
        self.memory.head(key, known).await
    }

    async fn entries(&self, key: &Key, range: Range<u64>) -> Result<Vec<Bytes>> {
        self.memory.entries(key, range).await
    }

    async fn commit(&self, key: &Key, expected: Expected, change: Change) -> Result<Version> {
        let queue = self.queue.lock().await;
        let version = self.memory.commit(key, expected, change.clone()).await?;
        hold(&queue, key, Some(change));
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
        hold(&queue, key, None);
        Ok(erased)
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
        self.memory.check().await
    }
}
