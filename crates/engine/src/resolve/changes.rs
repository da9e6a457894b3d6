//! Detects changes made by tools since a look-up, on any server.
//!
//! If several processes may write, this is a thread with an empty log whose version moves before and after every
//! changing call: before, because the process may be killed during the call; after, because somebody may have
//! looked something up during it. A failed move stays pending and is made before the next look-up.
//!
//! Invariant: once a changing call has returned, no look-up that begins later gets the [`ChangeMark`] of one that
//! began before it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::access::system_scope;
use crate::clock::Clock;
use crate::id::ThreadId;
use crate::store::{Change, Expected, Found, Key, Kind, Result, Store, StoreError, Version};

const THREAD: &str = "changes-by-tools";
/// Time limit for reading it; waiting longer would cost more than the look-up.
const LOOK_LIMIT: Duration = Duration::from_millis(500);
/// Time limit for moving it.
const MOVE_LIMIT: Duration = Duration::from_secs(5);

/// The state of changes when a look-up began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeMark(Version);

pub struct Changes {
    /// `None` if this is the only process.
    store: Option<Arc<dyn Store>>,
    clock: Arc<dyn Clock>,
    key: Key,
    seen: Mutex<Option<Version>>,
    /// Moves this process has to make, and how many of them it has made.
    wanted: AtomicU64,
    made: AtomicU64,
}

/// A change in progress. Dropping it ends it too, because a turn may be cancelled during a call.
pub struct Changing<'a>(&'a Changes);

impl Drop for Changing<'_> {
    fn drop(&mut self) {
        self.0.wanted.fetch_add(1, Ordering::SeqCst);
    }
}

impl Changing<'_> {
    /// The call has ended, whatever its result.
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

    /// Announces a changing call.
    pub async fn begin(&self) -> Changing<'_> {
        self.wanted.fetch_add(1, Ordering::SeqCst);
        let changing = Changing(self);
        self.tell().await;
        changing
    }

    /// The current state of changes. `None` if unknown: then no cached result may be used, and no new one stored.
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
            Ok(Err(error)) => {
                tracing::warn!(%error, "cannot read the state of changes; cached look-ups are not used")
            }
            Err(_) => tracing::warn!(
                "reading the state of changes timed out; cached look-ups are not used"
            ),
        }
        None
    }

    /// Makes the pending moves; a failed one stays pending.
    async fn tell(&self) {
        let Some(store) = &self.store else { return };
        match tokio::time::timeout(MOVE_LIMIT, self.make_wanted(store.as_ref())).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                tracing::warn!(%error, "cannot announce a change to other servers; retrying later")
            }
            Err(_) => {
                tracing::warn!("announcing a change to other servers timed out; retrying later")
            }
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
            // Another process has moved it since we last looked, perhaps before our call. A move after the next
            // look counts for ours too.
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
                // Created instead of treated as version 0: a store that lost everything would be at 0 again.
                (Found::Missing | Found::Unchanged, _) => {
                    if let Some(version) = self.step(store, Expected::Absent).await? {
                        return Ok(version);
                    }
                }
            }
        }
    }

    /// The next version, or `None` if another process was first.
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
