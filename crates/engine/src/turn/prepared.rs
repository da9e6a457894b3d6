//! Requests made by `prepare`, cached so that the exchange can be recorded with its receipt.
//!
//! A bounded cache, not a store: an application that records later, or on another server, records without a
//! receipt and is told so.

use std::sync::Arc;
use std::time::Duration;

use moka::sync::Cache;

use crate::request::AssembledRequest;
use crate::session::LoadedSession;
use crate::store::Key;

/// How long a prepared request is cached.
const AGE_MAX: Duration = Duration::from_secs(900);
/// Approximate size of the cache.
const BYTES_MAX: u64 = 32 << 20;
/// Size of a request besides its texts.
const REQUEST_BYTES: usize = 4 << 10;

/// Prepared requests by session, turns that were erased of it before, and receipt.
pub struct PreparedRequests(Cache<(Key, u64, String), Arc<AssembledRequest>>);

impl PreparedRequests {
    /// Caches a request under its receipt's id.
    pub(super) fn keep(
        &self,
        session: &LoadedSession,
        request: AssembledRequest,
    ) -> Arc<AssembledRequest> {
        let id = request.receipt.request_hash.to_string();
        let request = Arc::new(request);
        self.0.insert((session.key.clone(), session.head.erased_turns, id), request.clone());
        request
    }

    /// The request of that receipt, if still cached and nothing was erased since.
    pub(super) fn get(
        &self,
        session: &LoadedSession,
        receipt: &str,
    ) -> Option<Arc<AssembledRequest>> {
        self.0.get(&(session.key.clone(), session.head.erased_turns, receipt.to_owned()))
    }
}

impl Default for PreparedRequests {
    fn default() -> Self {
        let cache = Cache::builder()
            .max_capacity(BYTES_MAX)
            .weigher(|_: &(Key, u64, String), request: &Arc<AssembledRequest>| {
                let texts: usize = request.contents.values().map(String::len).sum();
                let pieces = request.receipt.pieces.len() * 256;
                u32::try_from(texts + pieces + REQUEST_BYTES).unwrap_or(u32::MAX)
            })
            .time_to_live(AGE_MAX)
            .build();
        Self(cache)
    }
}
