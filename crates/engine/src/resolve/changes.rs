//! Whether something was changed through a tool since a look-up, in any copy of the server.
//!
//! Where several processes may write, this is a thread with an empty log, whose version moves on before and
//! after every call that changes something: before, because a process may be killed during the call; after,
//! because somebody may have looked during it. A move that failed is owed, and made before the next look.
//!
//! Invariant: once a call that changes something has been answered, no look that begins later has the
//! [`ChangeMark`] of one that began before.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::access::system_scope;
use crate::clock::Clock;
use crate::id::ThreadId;
use crate::store::{Change, Expected, Found, Key, Kind, Result, Store, StoreError, Version};

/// The thread that moves on.
const THREAD: &str = "changes-by-tools";
/// Time to find out where it is. Nobody waits longer to be spared a call.
const LOOK_LIMIT: Duration = Duration::from_millis(500);
/// Time to move it on.
const MOVE_LIMIT: Duration = Duration::from_secs(5);

/// How far changes had come when a look-up began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeMark(Version);

/// Changes through tools.
pub struct Changes {
    /// Absent where this is the only process.
    store: Option<Arc<dyn Store>>,
    clock: Arc<dyn Clock>,
    key: Key,
    seen: Mutex<Option<Version>>,
    /// Moves that this process has to make, and how many of them it has made.
    wanted: AtomicU64,
    made: AtomicU64,
}

/// A change under way. Dropping it is its end, too: a turn may be given up during a call.
pub struct Changing<'a>(&'a Changes);

impl Drop for Changing<'_> {
    fn drop(&mut self) {
        self.0.wanted.fetch_add(1, Ordering::SeqCst);
    }
}

impl Changing<'_> {
    /// The call has ended, whatever came of it.
    pub async fn end(self) {
        let changes = self.0;
        drop(self);
        changes.tell().await;
    }
}

impl Changes {
    pub fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>) -> Self {
        let id = ThreadId::new(THREAD).expect("a constant name is valid");
        let key = Key { scope: system_scope(), kind: Kind::Job, id };
        let store = store.facts().many_writers.then_some(store);
        let (seen, wanted, made) = (Mutex::default(), AtomicU64::new(0), AtomicU64::new(0));
        Self { store, clock, key, seen, wanted, made }
    }

    /// A call that changes something is about to be made.
    pub async fn begin(&self) -> Changing<'_> {
        self.wanted.fetch_add(1, Ordering::SeqCst);
        let changing = Changing(self);
        self.tell().await;
        changing
    }

    /// Where changes are now. `None` where that cannot be told: then nothing kept may be used, and what is
    /// found may not be kept.
    pub async fn mark(&self) -> Option<ChangeMark> {
        let Some(store) = &self.store else {
            let number = self.wanted.load(Ordering::SeqCst);
            return Some(ChangeMark(Version { number, incarnation: 0 }));
        };
        let looking = async {
            self.make_wanted(store.as_ref()).await?;
            self.current(store.as_ref()).await
        };
        match tokio::time::timeout(LOOK_LIMIT, looking).await {
            Ok(Ok(version)) => return Some(ChangeMark(version)),
            Ok(Err(error)) => tracing::warn!(%error, "no look-up is spared"),
            Err(_) => tracing::warn!("no look-up is spared: the store takes too long"),
        }
        None
    }

    /// Makes the moves that are wanted; one that fails stays wanted.
    async fn tell(&self) {
        let Some(store) = &self.store else { return };
        match tokio::time::timeout(MOVE_LIMIT, self.make_wanted(store.as_ref())).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "other copies are told of a change later"),
            Err(_) => tracing::warn!("other copies are told of a change later: the store is slow"),
        }
    }

    async fn make_wanted(&self, store: &dyn Store) -> Result<()> {
        let wanted = self.wanted.load(Ordering::SeqCst);
        if self.made.load(Ordering::SeqCst) >= wanted {
            return Ok(());
        }
        let seen = *self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let moved = match seen {
            Some(version) => self.step(store, Expected::At(version)).await?,
            None => None,
        };
        if moved.is_none() {
            // Another process has moved it since we last looked, which may have been before our call. One
            // that moves it after the next look has done it for us as well.
            let expected = match store.head(&self.key, None).await? {
                Found::Head(head) => Expected::At(head.version),
                Found::Missing | Found::Unchanged => Expected::Absent,
            };
            self.step(store, expected).await?;
        }
        self.made.fetch_max(wanted, Ordering::SeqCst);
        Ok(())
    }

    async fn current(&self, store: &dyn Store) -> Result<Version> {
        loop {
            let seen = *self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            match (store.head(&self.key, seen).await?, seen) {
                (Found::Head(head), _) => return Ok(self.saw(head.version)),
                (Found::Unchanged, Some(version)) => return Ok(version),
                // It is made, rather than taken for version 0: a store that lost everything would be there again.
                (Found::Missing | Found::Unchanged, _) => {
                    if let Some(version) = self.step(store, Expected::Absent).await? {
                        return Ok(version);
                    }
                }
            }
        }
    }

    /// The next version, or `None` where another process was first.
    async fn step(&self, store: &dyn Store, expected: Expected) -> Result<Option<Version>> {
        let change = Change::of_head("{}", self.clock.now(), self.clock.id());
        match store.commit(&self.key, expected, change).await {
            Ok(version) => Ok(Some(self.saw(version))),
            Err(StoreError::Conflict { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn saw(&self, version: Version) -> Version {
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = Some(version);
        version
    }
}
