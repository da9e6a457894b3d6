//! Contexts that `prepare` made, kept for a while so that the exchange can be recorded with its receipt.
//!
//! A convenience with a bound, not a store: an application that records later than this, or on another
//! copy of the server, records without a receipt and is told so.

use std::sync::Arc;
use std::time::Duration;

use moka::sync::Cache;
use throughline_engine::context::Context;
use throughline_engine::store::Key;

/// How long a prepared context is remembered.
const AGE_MAX: Duration = Duration::from_secs(900);
/// Bytes of texts that are remembered, roughly.
const BYTES_MAX: u64 = 32 << 20;
/// What a context weighs beside its texts.
const CONTEXT_BYTES: usize = 4 << 10;

/// Prepared contexts by session and receipt.
#[derive(Debug)]
pub struct Prepared(Cache<(Key, String), Arc<Context>>);

impl Prepared {
    /// Nothing prepared yet.
    pub fn new() -> Self {
        let cache = Cache::builder()
            .max_capacity(BYTES_MAX)
            .weigher(|_: &(Key, String), context: &Arc<Context>| {
                let texts: usize = context.contents.values().map(String::len).sum();
                let pieces = context.receipt.pieces.len() * 256;
                u32::try_from(texts + pieces + CONTEXT_BYTES).unwrap_or(u32::MAX)
            })
            .time_to_live(AGE_MAX)
            .build();
        Self(cache)
    }

    /// Remembers a context under its receipt's id.
    pub fn keep(&self, session: Key, context: Context) -> Arc<Context> {
        let id = context.receipt.request_hash.to_string();
        let context = Arc::new(context);
        self.0.insert((session, id), context.clone());
        context
    }

    /// The context of that receipt, if it is still known.
    pub fn get(&self, session: Key, receipt: &str) -> Option<Arc<Context>> {
        self.0.get(&(session, receipt.to_owned()))
    }
}

impl Default for Prepared {
    fn default() -> Self {
        Self::new()
    }
}
