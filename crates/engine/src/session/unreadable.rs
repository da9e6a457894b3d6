//! Stands in for a turn that cannot be read, so that the others are not lost with it.
//!
//! The stand-in is a record without content that says why. It counts as erased wherever content is used.
//!
//! Invariant: only damage is skipped, never a store that does not answer.

use jiff::Timestamp;

use crate::error::{Error, Result};
use crate::store::StoreError;

use super::record::{TurnError, TurnRecord};

/// The error code of a stand-in.
pub const CODE: &str = "unreadable";

/// The reason, if an error reports damage.
pub(crate) fn damage(error: &Error) -> Option<&str> {
    match error {
        Error::Store(StoreError::Damaged { reason, .. }) | Error::Unreadable { reason, .. } => {
            Some(reason)
        }
        _ => None,
    }
}

/// `None` in place of damage, for work on many sessions that one damaged one must not stop. The store has recorded
/// the damage.
pub(crate) fn if_readable<T>(found: Result<Option<T>>) -> Result<Option<T>> {
    match found {
        Err(error) if damage(&error).is_some() => Ok(None),
        found => found,
    }
}

/// The stand-in for a turn that cannot be read.
pub fn stand_in(turn: u64, at: Timestamp, reason: &str) -> TurnRecord {
    let message = format!("turn {turn} cannot be read: {reason}");
    TurnRecord { error: Some(TurnError::new(CODE, message)), ..TurnRecord::erased(turn, at) }
}
