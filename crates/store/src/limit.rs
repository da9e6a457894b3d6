//! What a store takes at most, alike for every backend.
//!
//! A change that is over a limit is refused before anything is written.

use throughline_engine::store::{Change, Key, Result, StoreError};

/// The largest head, in bytes.
pub const HEAD_BYTES_MAX: usize = 16 * 1024 * 1024;
/// The largest log entry, in bytes.
pub const ENTRY_BYTES_MAX: usize = 32 * 1024 * 1024;
/// The largest change as a whole, in bytes.
pub const CHANGE_BYTES_MAX: usize = 64 * 1024 * 1024;
/// The longest stretch of a listing or a scan; a longer wish is answered with this many.
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

/// The refusal of an overwrite that names an entry the log does not have.
pub(crate) fn no_such_entry(key: &Key, number: u64) -> StoreError {
    StoreError::Refused {
        what: format!("an overwrite of {key}"),
        reason: format!("its log has no entry {number}"),
        hint: "overwrite only entries that were committed before".into(),
    }
}

/// A random number that tells one life of a key from the next.
pub(crate) fn new_incarnation() -> u32 {
    // The last 32 bits of a version 7 id are random.
    u32::try_from(uuid::Uuid::now_v7().as_u128() & u128::from(u32::MAX)).expect("masked to 32 bits")
}
