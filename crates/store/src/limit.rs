//! Size limits shared by every backend.
//!
//! Invariant: a change over a limit is refused before anything is written.

use throughline_engine::store::{Change, Key, Result, StoreError};

/// Maximum size of a head.
pub const HEAD_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Maximum size of a log entry.
pub const ENTRY_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Maximum total size of a change.
pub const CHANGE_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Maximum number of threads per page of a listing or scan; larger requests are capped.
pub const PAGE_THREADS_MAX: usize = 10_000;

/// Refuses a change that is over a limit.
pub fn check_sizes(key: &Key, change: &Change) -> Result<()> {
    refuse_over(|| format!("the head of {key}"), change.head.len(), HEAD_BYTES_MAX)?;
    let mut total = change.head.len();
    let replaced = change.overwrite.iter().map(|(_, bytes)| bytes);
    for bytes in change.append.iter().chain(replaced) {
        refuse_over(|| format!("an entry of {key}"), bytes.len(), ENTRY_BYTES_MAX)?;
        total += bytes.len();
    }
    refuse_over(|| format!("a change of {key}"), total, CHANGE_BYTES_MAX)
}

fn refuse_over(what: impl FnOnce() -> String, size: usize, limit: usize) -> Result<()> {
    if size <= limit {
        return Ok(());
    }
    Err(StoreError::TooLarge { what: what(), size: size as u64, limit: limit as u64 })
}

/// The error for overwriting an entry that the log does not have.
pub(crate) fn no_such_entry(key: &Key, number: u64) -> StoreError {
    StoreError::Refused {
        what: format!("an overwrite of {key}"),
        reason: format!("its log has no entry {number}"),
        hint: "overwrite only entries that are already committed".into(),
    }
}

/// Returns a random number that distinguishes successive threads with the same key.
pub(crate) fn new_incarnation() -> u32 {
    // The last 32 bits of a version 7 UUID are random.
    u32::try_from(uuid::Uuid::now_v7().as_u128() & u128::from(u32::MAX)).expect("masked to 32 bits")
}
