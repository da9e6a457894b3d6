//! Turns that stay in the session but are no longer used, because something said in them was to be forgotten.
//!
//! People still see them in the history. Requests, summaries and searches ignore them.
//!
//! Invariant: a withheld turn stays withheld, even once it is erased; so their number only grows.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Withheld {
    turns: BTreeSet<u64>,
    /// Number of turns when one was last added: requests up to then may show it and are not continued.
    until: u64,
}

impl Withheld {
    pub fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }

    pub fn holds(&self, turn: u64) -> bool {
        self.turns.contains(&turn)
    }

    pub fn count(&self) -> u64 {
        self.turns.len() as u64
    }

    /// Whether the request of `turn` may show one.
    pub fn may_be_shown_by(&self, turn: u64) -> bool {
        turn <= self.until
    }

    /// Adds turns to a session of `until` turns.
    pub(super) fn add(&mut self, turns: &BTreeSet<u64>, until: u64) {
        self.turns.extend(turns);
        self.until = until;
    }

    /// Those among the first `turns` turns.
    pub fn up_to(&self, turns: u64) -> Self {
        let first = self.turns.range(..=turns).copied().collect();
        Self { turns: first, until: self.until.min(turns) }
    }
}
