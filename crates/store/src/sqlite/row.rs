//! Conversions between the contract's types and columns.
//!
//! Invariant: times are integer nanoseconds since the Unix epoch in 64 bits, so a listing's cursor compares
//! exactly with stored times.

use jiff::Timestamp;
use rusqlite::Row;
use throughline_engine::store::{Key, ListedThread, Version};

/// Converts a time to a column value. The 584 years that fit include any time of the engine's clock.
pub(crate) fn nanoseconds(time: Timestamp) -> i64 {
    let nanoseconds = time.as_nanosecond();
    i64::try_from(nanoseconds).unwrap_or(if nanoseconds < 0 { i64::MIN } else { i64::MAX })
}

/// Converts a column value to a time.
pub(crate) fn timestamp(nanoseconds: i64) -> Timestamp {
    Timestamp::from_nanosecond(i128::from(nanoseconds))
        .expect("64 bits of nanoseconds are within jiff's range")
}

/// Converts to SQLite's signed integers, saturating.
pub(crate) fn integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Reads a count; a negative one is an error.
pub(crate) fn count(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let number: i64 = row.get(column)?;
    u64::try_from(number).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, number))
}

/// The checksum stored with heads and entries.
pub(crate) fn checksum(bytes: &[u8]) -> i64 {
    i64::from(crc32fast::hash(bytes))
}

/// Reads the columns `version, incarnation`, starting at `first`.
pub(crate) fn version(row: &Row<'_>, first: usize) -> rusqlite::Result<Version> {
    Ok(Version { number: count(row, first)?, incarnation: row.get(first + 1)? })
}

/// Reads the columns `name, version, incarnation, entries, changed_at`; `key` is the parsed name.
pub(crate) fn listed(row: &Row<'_>, key: Key) -> rusqlite::Result<ListedThread> {
    Ok(ListedThread {
        key,
        version: version(row, 1)?,
        entries: count(row, 3)?,
        changed_at: timestamp(row.get(4)?),
    })
}
