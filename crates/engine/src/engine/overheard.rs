//! What tools named in a user's recent calls outside turns.
//!
//! Such calls have no session that keeps it, and two of them may belong together: one reads, the next one acts on
//! what was read.
//!
//! Invariant: it contains hashes of words, no text; one user's never affect another's.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::permission::Named;
use crate::session::tool_words::ToolWords;
use crate::store::Scope;

/// Maximum users.
const USERS_MAX: u64 = 10_000;
/// Idle time after which a user's words are dropped.
const IDLE: Duration = Duration::from_hours(1);

pub(super) struct Overheard(moka::sync::Cache<Scope, Arc<Mutex<ToolWords>>>);

impl Default for Overheard {
    fn default() -> Self {
        Self(moka::sync::Cache::builder().max_capacity(USERS_MAX).time_to_idle(IDLE).build())
    }
}

impl Overheard {
    pub(super) fn of(&self, scope: &Scope) -> ToolWords {
        let words = self.0.get(scope).unwrap_or_default();
        words.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn remember(&self, scope: &Scope, named: &Named) {
        let words = self.0.get_with(scope.clone(), Arc::default);
        named.remember(&mut words.lock().unwrap_or_else(PoisonError::into_inner));
    }
}
