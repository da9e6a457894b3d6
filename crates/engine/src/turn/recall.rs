//! What earlier turns bring to a message: from the user's other sessions, or gathered for the same message before.

use std::sync::Arc;

use super::{Pipeline, Turn};
use crate::agent::MemoryScope;
use crate::enrich::{Enrichment, EnrichmentKey, MadeOf};
use crate::error::Result;
use crate::memory::{Across, Recalled};
use crate::request::{self, Asks};
use crate::resolve::LookedUp;

impl Pipeline {
    /// How far the session remembers.
    pub(super) fn memory_scope(&self, turn: &Turn) -> MemoryScope {
        turn.session.head.settings.memory.unwrap_or(turn.agent.memory)
    }

    /// **recall** beyond the session: turns of the user's other sessions. Never cached: what was erased there
    /// must not come back.
    pub(super) async fn recall_across(
        &self,
        turn: &Turn,
        (message, vector): (&str, &[f32]),
    ) -> Result<Vec<Recalled>> {
        let (session, scope) = (&turn.session, self.memory_scope(turn));
        let asks = request::asks(message) != Asks::Nothing || session.head.turns == 0;
        if !asks || matches!(scope, MemoryScope::Off | MemoryScope::Session) {
            return Ok(Vec::new());
        }
        // Sessions repeat each other; the same words are told once.
        let parts_max = 2 * self.limits.recalled_parts;
        let wanted = Across { session, message, vector, scope, parts_max };
        self.memory.search_across(&self.sessions, &wanted).await
    }

    /// An enrichment that was made lately and still holds.
    pub(super) async fn cached_enrichment(
        &self,
        key: &EnrichmentKey,
        made_of: MadeOf,
    ) -> Option<Arc<Enrichment>> {
        let cached = self.enrichments.get(key, made_of, self.clock.now());
        let cached = match cached {
            Some(cached) => {
                let holds = match cached.looked_up {
                    LookedUp::Never => true,
                    LookedUp::At(mark) => self.resolver.look_ups.changes.mark().await == Some(mark),
                    LookedUp::Unknown => false,
                };
                holds.then_some(cached)
            }
            None => None,
        };
        self.enrichments.count(cached.is_some());
        cached
    }
}
