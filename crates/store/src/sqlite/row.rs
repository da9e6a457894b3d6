//! Between the contract's types and columns.
//!
//! Invariant: times are whole nanoseconds since 1970 in 64 bits, so what a listing answers can be
//! compared with what is stored, exactly.

use jiff::Timestamp;
use rusqlite::Row;
use throughline_engine::store::{Key, ListedThread, Version};

/// A time as a column. The engine's clock is within the 584 years that fit.
pub(crate) fn nanoseconds(time: Timestamp) -> i64 {
    let nanoseconds = time.as_nanosecond();
    i64::try_from(nanoseconds).unwrap_or(if nanoseconds < 0 { i64::MIN } else { i64::MAX })
}

/// A column as a time.
pub(crate) fn timestamp(nanoseconds: i64) -> Timestamp {
    Timestamp::from_nanosecond(i128::from(nanoseconds))
        .expect("64 bits of nanoseconds are within jiff's range")
}

/// A number that SQLite counts in 63 bits.
pub(crate) fn integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A count from a column; a negative one is an error of the file.
pub(crate) fn count(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let number: i64 = row.get(column)?;
    u64::try_from(number).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, number))
}

/// The checksum that is kept beside heads and entries.
pub(crate) fn checksum(bytes: &[u8]) -> i64 {
    i64::from(crc32fast::hash(bytes))
}

/// Columns `version, incarnation` from `first` on.
pub(crate) fn version(row: &Row<'_>, first: usize) -> rusqlite::Result<Version> {
    Ok(Version { number: count(row, first)?, incarnation: row.get(first + 1)? })
}

/// Columns `name, version, incarnation, entries, changed_at`; the name is given as `key`.
pub(crate) fn listed(row: &Row<'_>, key: Key) -> rusqlite::Result<ListedThread> {
    Ok(ListedThread {
        key,
        version: version(row, 1)?,
        entries: count(row, 3)?,
        changed_at: timestamp(row.get(4)?),
    })
}
