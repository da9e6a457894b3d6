//! A turn that cannot be read stands for itself: the others of its session are not lost with it.
//!
//! In its place stands a record without content that says why. It counts as erased wherever content is looked at.
//!
//! Invariant: only damage is passed over, never a store that does not answer.

use jiff::Timestamp;

use crate::error::Error;
use crate::store::StoreError;

use super::record::{TurnError, TurnRecord};

/// The code of a record in the place of one that cannot be read.
pub const CODE: &str = "unreadable";

/// Why something is damaged, if an error tells of that.
pub(crate) fn damage(error: &Error) -> Option<&str> {
    match error {
        Error::Store(StoreError::Damaged { reason, .. }) | Error::Unreadable { reason, .. } => {
            Some(reason)
        }
        _ => None,
    }
}

/// The record in the place of a turn that cannot be read.
pub fn stand_in(turn: u64, at: Timestamp, reason: &str) -> TurnRecord {
    let message = format!("turn {turn} cannot be read: {reason}");
    TurnRecord {
        error: Some(TurnError { code: CODE.into(), message }),
        ..TurnRecord::erased(turn, at)
    }
}
