//! The last request of a drop-in client, cached for each session: the next one is stored as a difference to it.
//!
//! A cache, not a store: without it the text is put together from the turns that store it, as many as there are.
//!
//! Invariant: an entry is used only for the stored form that it was kept with.

use std::sync::Arc;
use std::time::Duration;

use moka::sync::Cache;

use crate::session::LoadedSession;
use crate::session::client_body::ClientBody;
use crate::store::Key;

/// How long a request is cached after its last use.
const IDLE_MAX: Duration = Duration::from_secs(900);
/// Size of the cache.
const BYTES_MAX: u64 = 32 << 20;
/// Size of an entry besides its texts.
const ENTRY_BYTES: usize = 512;

/// What is kept of a session.
struct Kept {
    incarnation: u32,
    erased_turns: u64,
    stored: ClientBody,
    text: String,
}

pub(crate) struct ClientBodies(Cache<Key, Arc<Kept>>);

impl ClientBodies {
    /// The text of a stored request, if it is the last one and nothing was erased since.
    pub(super) fn get(&self, session: &LoadedSession, stored: &ClientBody) -> Option<String> {
        let is_it = |kept: &Arc<Kept>| {
            kept.incarnation == session.version.incarnation
                && kept.erased_turns == session.head.erased_turns
                && kept.stored == *stored
        };
        Some(self.0.get(&session.key).filter(is_it)?.text.clone())
    }

    pub(super) fn keep(&self, session: &LoadedSession, stored: &ClientBody, text: &str) {
        let kept = Kept {
            incarnation: session.version.incarnation,
            erased_turns: session.head.erased_turns,
            stored: stored.clone(),
            text: text.to_owned(),
        };
        self.0.insert(session.key.clone(), Arc::new(kept));
    }

    pub(crate) fn forget(&self, session: &Key) {
        self.0.invalidate(session);
    }
}

impl Default for ClientBodies {
    fn default() -> Self {
        let cache = Cache::builder()
            .max_capacity(BYTES_MAX)
            .weigher(|_: &Key, kept: &Arc<Kept>| {
                u32::try_from(2 * kept.text.len() + ENTRY_BYTES).unwrap_or(u32::MAX)
            })
            .time_to_idle(IDLE_MAX)
            .build();
        Self(cache)
    }
}
