//! The read-only links of a session, as listed in its head.
//!
//! Whether a link is valid is decided here; [`crate::share`] finds the session of a token.
//!
//! Invariant: a link shows turns up to the last one when it was created, never a later one.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::hash::ContentHash;

use super::head::SessionHead;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// The hash of its token.
    pub id: ContentHash,
    /// The last turn it shows.
    pub up_to_turn: u64,
    /// The session's title when it was created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
}

impl SessionHead {
    /// The link with that id, if it is valid at `now`.
    pub fn open_share(&self, id: &ContentHash, now: Timestamp) -> Option<&Share> {
        self.open_shares(now).find(|share| share.id == *id)
    }

    /// Links that are valid at `now`.
    pub fn open_shares(&self, now: Timestamp) -> impl Iterator<Item = &Share> {
        let shared = self.may_be_shared(now);
        self.shares.iter().filter(move |share| shared && share.expires_at > now)
    }

    /// Removes the links of a session that is no longer shared. Restoring it does not restore them.
    pub(crate) fn end_shares(&mut self, now: Timestamp) -> Vec<Share> {
        if self.may_be_shared(now) { Vec::new() } else { std::mem::take(&mut self.shares) }
    }

    /// Removes titles made from erased words from the session and its links.
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
