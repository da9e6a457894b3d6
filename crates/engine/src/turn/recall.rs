//! Enriches a message: its meaning, look-ups, and matching earlier turns.

use std::sync::Arc;
use std::time::Duration;

use super::{Pipeline, Turn};
use crate::access::Caller;
use crate::agent::MemoryScope;
use crate::budget::Budget;
use crate::enrich::{Enrichment, EnrichmentKey, MadeOf};
use crate::entity::KnownEntities;
use crate::error::Result;
use crate::fact::{Fact, FactDraft, FactHit, FactKind, FactSource, Trust, gather};
use crate::id::AgentName;
use crate::lexicon::AsksBack;
use crate::memory::{self, AcrossQuery, RecallBounds, Recalled};
use crate::notice::{self, Understanding, Understood};
use crate::piece::{SentPiece, Source};
use crate::request::{RecallRoom, TurnInput};
use crate::resolve::{self, LookedUp, Reader};
use crate::search::split_name;
use crate::session::record::{TurnKind, TurnRecord};

/// Parts of older turns considered if the message does not ask about anything earlier.
const RECALLED_PARTS_UNASKED: usize = 24;
/// Maximum facts shown for any message, newest first.
const FACTS_ALWAYS_MAX: usize = 40;
/// Facts considered for that: some may come from sessions that do not contribute.
const FACTS_CONSIDERED_MAX: usize = 60;
/// Maximum facts shown because they match the message.
const FACTS_FITTING_MAX: usize = 10;

impl Pipeline {
    /// **notice**, **resolve**, **recall**, once per message to an unchanged session.
    pub(super) async fn enrich(
        &self,
        turn: &Turn,
        input: &TurnInput,
        room: RecallRoom,
    ) -> Result<(Arc<Enrichment>, Arc<KnownEntities>)> {
        let session = &turn.session;
        let reader = match (&turn.model, turn.kind) {
            (Err(_), TurnKind::Chat | TurnKind::Query) => Reader::Offline,
            _ => Reader::Model,
        };
        let known = self.memory.known(&self.sessions, session).await?;
        let key = EnrichmentKey::new(&session.key, &input.message, reader, room.tokens);
        let made_of = MadeOf { version: session.version, agents: turn.agents_generation };
        if let Some(enrichment) = self.cached_enrichment(&key, made_of).await {
            let known = notice::with_found_entities(known, &enrichment.found, session);
            return Ok((enrichment, known));
        }

        let understanding = notice::read(session, &input.message, known, &self.packs);
        let policy = match resolve::could_need(&understanding, session) {
            true => self.policy(turn).await?,
            false => self.rules.configured(turn.agent.clone()),
        };
        let things = (session, &policy, turn.tools.as_slice());
        let limit = Duration::from_millis(self.limits.look_up_ms_max);
        let resolving = self.resolver.at_once(things, understanding, reader, limit, &turn.cancel);
        let (Understanding { noticed, known, found }, looked_up) = resolving.await;

        let vector = self.selector.embed(&input.message).await?;
        let message = (input.message.as_str(), vector.as_slice());
        let parts_max = match room.asks {
            AsksBack::Yes | AsksBack::Perhaps => self.limits.recalled_parts,
            AsksBack::InPassing | AsksBack::No => {
                RECALLED_PARTS_UNASKED.min(self.limits.recalled_parts)
            }
        };
        let bounds = RecallBounds { parts_max, tokens: room.tokens };
        let recalled = match self.memory_scope(turn) {
            MemoryScope::Off => Vec::new(),
            _ => self.memory.search(&self.sessions, session, message, bounds, |_| true).await?,
        };

        let entities = &session.head.entities;
        let understood = Understood { noticed: &noticed, entities, known: &known };
        let about = notice::about(&understood, &recalled, &self.packs, self.clock.now());
        let enrichment =
            Arc::new(Enrichment { vector, noticed, found, looked_up, recalled, about });
        if enrichment.looked_up != LookedUp::Unknown {
            self.enrichments.keep(key, made_of, enrichment.clone(), self.clock.now());
        }
        Ok((enrichment, known))
    }

    /// Tokens that recalled turns may take in the request for a message.
    pub(super) fn recall_room(&self, turn: &Turn, message: &str, budget: Budget) -> RecallRoom {
        RecallRoom::of(message, turn.session.head.turns, budget, &self.limits)
    }

    /// How far the session remembers.
    pub(super) fn memory_scope(&self, turn: &Turn) -> MemoryScope {
        turn.session.head.settings.memory.unwrap_or(turn.agent.memory)
    }

    /// **recall** beyond the session: turns of the user's other sessions. Never cached, because what was erased
    /// there must not return.
    pub(super) async fn recall_across(
        &self,
        turn: &Turn,
        (message, vector): (&str, &[f32]),
        room: RecallRoom,
    ) -> Result<Vec<Recalled>> {
        let (session, scope) = (&turn.session, self.memory_scope(turn));
        let asks = match room.asks {
            AsksBack::Yes => true,
            // Named speakers ask each other about the present.
            AsksBack::Perhaps => split_name(message).0.is_none() || session.head.turns == 0,
            AsksBack::InPassing | AsksBack::No => session.head.turns == 0,
        };
        if !asks || matches!(scope, MemoryScope::Off | MemoryScope::Session) {
            return Ok(Vec::new());
        }
        // Sessions repeat each other; the same words are shown once.
        let parts_max = 2 * self.limits.recalled_parts;
        let bounds = RecallBounds { parts_max, tokens: room.elsewhere };
        let agents = self.agents.current();
        let is_silent = |agent: Option<&AgentName>| {
            let scope = agents.get(agent).map(|agent| agent.memory);
            matches!(scope, Ok(MemoryScope::Off | MemoryScope::Session))
        };
        let (default_agent, is_silent) = (agents.default_name(), &is_silent);
        let wanted =
            AcrossQuery { session, message, vector, scope, default_agent, is_silent, bounds };
        self.memory.search_across(&self.sessions, &wanted).await
    }

    /// Whether anything beyond the session is remembered.
    pub(super) fn remembers_user(&self, turn: &Turn) -> bool {
        matches!(self.memory_scope(turn), MemoryScope::Agent | MemoryScope::User)
    }

    /// The limit of facts, if what the user states cannot be stored any more.
    pub(super) async fn memory_full(&self, turn: &Turn) -> Option<usize> {
        match turn.model {
            Err(_) if self.remembers_user(turn) => {
                self.facts.full(&turn.session.key.scope).await.ok().flatten()
            }
            _ => None,
        }
    }

    /// Facts about the user: instructions and profile, then what matches the message.
    pub(super) async fn facts_for(
        &self,
        turn: &Turn,
        message: (&str, &[f32]),
    ) -> Result<Vec<FactHit>> {
        if !self.remembers_user(turn) {
            return Ok(Vec::new());
        }
        let scope = &turn.session.key.scope;
        let current = self.facts.of_scope(scope).await?;
        if current.is_empty() {
            return Ok(Vec::new());
        }
        let all = gather::asked(message.0).iter().any(gather::Question::is_for_all);
        let always =
            |fact: &&Fact| all || matches!(fact.kind, FactKind::Instruction | FactKind::Profile);
        let always = current.iter().filter(always).take(FACTS_CONSIDERED_MAX);
        let always = always.map(|fact| FactHit { fact: fact.clone(), score: 1.0 }).collect();
        let own_agent = self.memory_scope(turn) == MemoryScope::Agent;
        let agents = self.agents.current();
        let (head, default_agent) = (&turn.session.head, agents.default_name());
        let asking = (scope, Some(memory::Asking { head, own_agent, default_agent }));
        let mut facts = memory::given(&self.sessions, asking, always).await?;
        facts.truncate(FACTS_ALWAYS_MAX);
        let fitting = self.facts.fitting(scope, &current, message, 2 * FACTS_FITTING_MAX).await;
        let mut fitting = memory::given(&self.sessions, asking, fitting).await?;
        fitting.truncate(FACTS_FITTING_MAX);
        let is_other = |hit: &FactHit| !facts.iter().any(|known| known.fact.id == hit.fact.id);
        let others: Vec<FactHit> = fitting.into_iter().filter(is_other).collect();
        facts.extend(others);
        Ok(facts)
    }

    /// Records which facts a request included, also those that an earlier request brought in: a stored receipt does not
    /// repeat them. A failure does not affect the turn.
    pub(super) async fn note_facts_used(&self, caller: &Caller, sent: &[Arc<SentPiece>]) {
        let used: Vec<&str> = sent
            .iter()
            .filter_map(|sent| match &sent.piece.source {
                Source::Fact { id, .. } => Some(id.as_str()),
                _ => None,
            })
            .collect();
        if used.is_empty() {
            return;
        }
        if let Err(error) = self.facts.mark_used(caller, &used, self.clock.now()).await {
            tracing::warn!(%error, "cannot record when facts were last used");
        }
    }

    /// Stores what the user stated in a message as facts. A failure does not affect the turn.
    pub(super) async fn gather_facts(&self, caller: &Caller, turn: &Turn, record: &TurnRecord) {
        let asked = record.kind != TurnKind::Imported && !turn.session.head.settings.private;
        // A message that names its speaker is not the user's own.
        let own = split_name(&record.message).0.is_none();
        if !asked || !own || !self.remembers_user(turn) {
            return;
        }
        let source = |sentence: String| FactSource {
            session: turn.session.head.id.clone(),
            turn: record.turn,
            sentence,
        };
        let known = self.facts.of_scope(&turn.session.key.scope).await.unwrap_or_default();
        let known: Vec<&Fact> = known.iter().collect();
        let stated = gather::stated_over(&record.message, &known).into_iter();
        let mut drafts: Vec<FactDraft> = stated
            .map(|statement| FactDraft {
                text: statement.text,
                subject: statement.subject,
                kind: statement.kind,
                trust: if statement.explicit { Trust::Told } else { Trust::Said },
                source: Some(source(statement.sentence)),
            })
            .collect();
        if drafts.is_empty() {
            drafts.extend(self.corrected_fact(turn, record).await);
        }
        if drafts.is_empty() {
            return;
        }
        if let Err(error) = self.facts.add_all(caller, drafts).await {
            tracing::warn!(%error, "cannot store facts from the message");
        }
    }

    /// The one fact that the turn before stated, with the value that this message gives instead.
    async fn corrected_fact(&self, turn: &Turn, record: &TurnRecord) -> Option<FactDraft> {
        let current = self.facts.of_scope(&turn.session.key.scope).await.ok()?;
        let session = &turn.session.head.id;
        let mut just_said = current.iter().filter(|fact| {
            let source = fact.source.as_ref().filter(|source| source.session == *session);
            source.is_some_and(|source| source.turn + 1 == record.turn)
        });
        let (fact, None) = (just_said.next()?, just_said.next()) else { return None };
        let text = gather::corrected(&record.message, &fact.text)?;
        let sentence = record.message.trim().to_owned();
        let source = FactSource { session: session.clone(), turn: record.turn, sentence };
        Some(FactDraft {
            text,
            subject: fact.subject.clone(),
            kind: fact.kind,
            trust: Trust::Said,
            source: Some(source),
        })
    }

    /// A recent enrichment that is still valid.
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
