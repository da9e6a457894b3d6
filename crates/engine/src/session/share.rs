//! The read-only links of a session, as its head lists them.
//!
//! Who may open a link is decided here and by the clock; from a token to the session leads [`crate::share`].
//!
//! Invariant: a link shows turns up to the one that was the last when it was made, and never a later one.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::hash::ContentHash;

use super::head::SessionHead;

/// A read-only link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// Its id: the hash of its token.
    pub id: ContentHash,
    /// The last turn that it shows.
    pub up_to_turn: u64,
    /// The session's title when it was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it expires.
    pub expires_at: Timestamp,
}

impl SessionHead {
    /// The link of that id, if it opens at `now`.
    pub fn open_share(&self, id: &ContentHash, now: Timestamp) -> Option<&Share> {
        self.open_shares(now).find(|share| share.id == *id)
    }

    /// Links that open at `now`.
    pub fn open_shares(&self, now: Timestamp) -> impl Iterator<Item = &Share> {
        let shared = self.may_be_shared(now);
        self.shares.iter().filter(move |share| shared && share.expires_at > now)
    }

    /// Takes out the links of a session that is shared no more. Bringing it back does not bring them back.
    pub(crate) fn end_shares(&mut self, now: Timestamp) -> Vec<Share> {
        if self.may_be_shared(now) { Vec::new() } else { std::mem::take(&mut self.shares) }
    }

    /// Takes titles out of the session and its links that were made of words that are gone.
    pub(super) fn forget_titles(&mut self, gone: &[String]) {
        let shared = self.shares.iter_mut().map(|share| &mut share.title);
        for title in shared.chain([&mut self.title]) {
            title.take_if(|title| gone.contains(title));
        }
    }

    fn may_be_shared(&self, now: Timestamp) -> bool {
        self.deleted_at.is_none() && !self.is_expired(now) && !self.settings.private
    }
}
