//! Requests made by `prepare`, cached so that the exchange can be recorded with its receipt.
//!
//! A bounded cache, not a store. A copy that does not have a request prepares it again ([`ReceiptId`]): the same message
//! to the same session gives the same bytes. If they differ, because something was said or changed meanwhile, the
//! exchange is recorded without a receipt, and its caller is told so.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use moka::sync::Cache;

use crate::receipt::Receipt;
use crate::request::{AssembledRequest, TurnInput};
use crate::session::LoadedSession;
use crate::store::Key;

/// How long a prepared request is cached.
const AGE_MAX: Duration = Duration::from_secs(900);
/// Approximate size of the cache.
const BYTES_MAX: u64 = 32 << 20;
/// Size of a request besides its texts.
const REQUEST_BYTES: usize = 4 << 10;
/// Size of a piece besides its text, in the request and in its receipt.
const PIECE_BYTES: usize = 1 << 10;

/// Names a prepared request: its hash, and the budget that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceiptId {
    hash: String,
    budget_tokens: Option<u32>,
}

impl ReceiptId {
    pub fn of(receipt: &Receipt) -> Self {
        Self { hash: receipt.request_hash.to_string(), budget_tokens: receipt.asked_tokens }
    }

    pub(super) fn hash(&self) -> &str {
        &self.hash
    }

    /// What was prepared, if the exchange is the one that it was prepared for. Applications say when a past message was
    /// said with both calls, or only when they record.
    pub(super) fn inputs(&self, message: &str, at: Option<Timestamp>) -> Vec<TurnInput> {
        let times = [Some(None), at.map(Some)].into_iter().flatten();
        let input = |at| TurnInput {
            message: message.to_owned(),
            at,
            budget_tokens: self.budget_tokens,
            ..TurnInput::default()
        };
        times.map(input).collect()
    }
}

impl std::fmt::Display for ReceiptId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.budget_tokens {
            Some(budget) => write!(f, "{}.{budget}", self.hash),
            None => f.write_str(&self.hash),
        }
    }
}

impl From<&str> for ReceiptId {
    fn from(id: &str) -> Self {
        let named =
            id.split_once('.').and_then(|(hash, budget)| Some((hash, budget.parse().ok()?)));
        let (hash, budget_tokens) = named.map_or((id, None), |(hash, budget)| (hash, Some(budget)));
        Self { hash: hash.to_owned(), budget_tokens }
    }
}

/// Prepared requests by session, turns that were erased of it before, and receipt.
pub struct PreparedRequests(Cache<(Key, u64, String), Arc<AssembledRequest>>);

impl PreparedRequests {
    /// Caches a request under its receipt's id.
    pub(super) fn keep(
        &self,
        session: &LoadedSession,
        mut request: AssembledRequest,
    ) -> Arc<AssembledRequest> {
        // Only a reply needs them; the turns in them would be most of the cache.
        (request.recalled, request.recent, request.facts) = Default::default();
        let id = ReceiptId::of(&request.receipt).to_string();
        let request = Arc::new(request);
        self.0.insert((session.key.clone(), session.head.erased_turns, id), request.clone());
        request
    }

    /// The request of that receipt, if still cached and nothing was erased since.
    pub(super) fn get(
        &self,
        session: &LoadedSession,
        receipt: &ReceiptId,
    ) -> Option<Arc<AssembledRequest>> {
        self.0.get(&(session.key.clone(), session.head.erased_turns, receipt.to_string()))
    }
}

impl Default for PreparedRequests {
    fn default() -> Self {
        let cache = Cache::builder()
            .max_capacity(BYTES_MAX)
            .weigher(|_: &(Key, u64, String), request: &Arc<AssembledRequest>| {
                let texts: usize = request.contents.values().map(String::len).sum();
                let sent: usize = request.sent.iter().map(|sent| sent.piece.text.len()).sum();
                let pieces = request.receipt.pieces.len() * PIECE_BYTES;
                // The text is in the pieces, and again in the request.
                u32::try_from(texts + 2 * sent + pieces + REQUEST_BYTES).unwrap_or(u32::MAX)
            })
            .time_to_live(AGE_MAX)
            .build();
        Self(cache)
    }
}
