//! Forgets facts about a user and withdraws the turns that stated them.
//!
//! A fact is gathered when a turn is committed, never from the log, so it does not come back by itself. But
//! recalling the turn would state it again, so the turn is withheld, or erased if the caller asks for that.
//!
//! Invariant: turns are handled before the fact, so that a failed request can be repeated.

use std::collections::{BTreeMap, BTreeSet};

use crate::access::{Action, Caller, authorize};
use crate::error::{Error, Result};
use crate::fact::{self, Fact, FactHit, Forgetting, Forgotten};
use crate::id::SessionId;
use crate::memory;
use crate::session::LoadedSession;
use crate::session::erase::withhold_turns;
use crate::store::Key;
use crate::turn::TurnRequest;

use super::Engine;

/// Maximum turns checked for the same statement.
const SAID_AGAIN_MAX: usize = 50;

/// What happens to the turns that stated a forgotten fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SourceTurns {
    /// They stay in the session, but requests and searches ignore them.
    #[default]
    Withheld,
    /// Their content is erased, and everything gathered from them is forgotten.
    Erased,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ForgottenFacts {
    pub forgotten: Forgotten,
    /// The turns that stated them.
    pub said_in: BTreeMap<SessionId, BTreeSet<u64>>,
    pub turns: SourceTurns,
}

impl Engine {
    /// The facts that match `query` by words or meaning, best first; none from sessions that give nothing to others.
    pub async fn search_facts(
        &self,
        caller: &Caller,
        query: &str,
        limit: usize,
    ) -> Result<Vec<FactHit>> {
        let hits = self.facts.search(caller, query, limit).await?;
        memory::given(&self.sessions, (&caller.scope, None), hits).await
    }

    /// Forgets a fact with its earlier versions and the facts it supersedes, and the turns that state them.
    pub async fn forget_fact(
        &self,
        caller: &Caller,
        id: &str,
        turns: SourceTurns,
    ) -> Result<ForgottenFacts> {
        authorize(caller, Action::Write)?;
        let facts = self.facts.with_superseded(caller, id).await?;
        let mut said_in = sources(&facts);
        for fact in &facts {
            self.add_restatements(caller, fact, &mut said_in).await?;
        }
        let mut forgotten = self.leave_unused(caller, &mut said_in, turns).await?;
        match self.facts.forget(caller, id).await {
            Ok(more) => forgotten.add(more),
            // It was erased with its turn.
            Err(Error::Missing { .. }) if turns == SourceTurns::Erased => {}
            Err(error) => return Err(error),
        }
        Ok(ForgottenFacts { forgotten, said_in, turns })
    }

    /// Forgets all facts about the caller, and the turns they were gathered from.
    pub async fn forget_all_facts(
        &self,
        caller: &Caller,
        turns: SourceTurns,
    ) -> Result<ForgottenFacts> {
        authorize(caller, Action::Write)?;
        let mut said_in = sources(&self.facts.all(caller).await?);
        let mut forgotten = self.leave_unused(caller, &mut said_in, turns).await?;
        forgotten.add(self.facts.forget_all(caller).await?);
        Ok(ForgottenFacts { forgotten, said_in, turns })
    }

    /// Forgets what a message asks to forget; `None` if it asks for nothing of the kind.
    pub(super) async fn forget_as_told(
        &self,
        caller: &Caller,
        request: &TurnRequest,
    ) -> Result<Option<Forgetting>> {
        let message = request.input.message.as_str();
        let facts = self.facts.current(caller).await?;
        let before = match &request.session {
            Some(id) => self.sessions.find(&caller.session_key(id)).await?,
            None => None,
        };
        let just_said = |fact: &Fact| {
            let source = fact.source.as_ref().zip(before.as_ref());
            source.is_some_and(|(source, before)| {
                source.session == before.head.id && source.turn == before.head.turns
            })
        };
        let chosen = match fact::unwanted_facts(message, &facts, just_said) {
            None => return Ok(None),
            Some(Err(not_done)) => return Ok(Some(not_done)),
            Some(Ok(chosen)) => chosen,
        };
        for fact in &chosen.facts {
            self.forget_fact(caller, &fact.id, SourceTurns::Withheld).await?;
        }
        Ok(Some(Forgetting::Done { what: chosen.what }))
    }

    /// Withholds the turn that asked to forget something: it may name it, and so may the reply. Its commit has done so for a
    /// turn that finished at once; here goes what others have of it.
    pub(super) async fn withhold_request(&self, session: &LoadedSession, turn: u64) -> Result<()> {
        self.withhold(&session.key, &BTreeSet::from([turn])).await
    }

    /// Keeps turns out of later requests and of search; people can still read them.
    async fn withhold(&self, key: &Key, turns: &BTreeSet<u64>) -> Result<()> {
        self.forget_derived(key);
        withhold_turns(&self.sessions, key, turns).await?;
        self.indexer.remove(key).await?;
        Ok(())
    }

    /// Adds the turns in which the user stated the same, and those whose reply repeats it.
    async fn add_restatements(
        &self,
        caller: &Caller,
        fact: &Fact,
        said_in: &mut BTreeMap<SessionId, BTreeSet<u64>>,
    ) -> Result<()> {
        let vector = self.turns.selector.embed(&fact.text).await?;
        let looked_for = (fact.text.as_str(), vector.as_slice());
        let memory = &self.turns.memory;
        let found =
            memory.search_sessions(&self.sessions, &caller.scope, looked_for, SAID_AGAIN_MAX);
        let mut similar: BTreeMap<SessionId, BTreeSet<u64>> = BTreeMap::new();
        for (session, turn, _) in found.await? {
            similar.entry(session).or_default().insert(turn);
        }
        for (session, turns) in similar {
            let key = caller.session_key(&session);
            let Some(loaded) = self.sessions.find(&key).await? else { continue };
            for record in self.sessions.turns_at(&loaded, &turns).await? {
                if fact.is_stated_in(&record.message)
                    || fact.is_told_in(&record.message, &record.reply)
                {
                    said_in.entry(session.clone()).or_default().insert(record.turn);
                }
            }
        }
        Ok(())
    }

    /// Withholds turns; removes those that no longer exist from the list.
    async fn leave_unused(
        &self,
        caller: &Caller,
        said_in: &mut BTreeMap<SessionId, BTreeSet<u64>>,
        then: SourceTurns,
    ) -> Result<Forgotten> {
        let mut forgotten = Forgotten::default();
        for (id, turns) in said_in.iter_mut() {
            let key = caller.session_key(id);
            let count = self.sessions.find(&key).await?.map_or(0, |loaded| loaded.head.turns);
            turns.retain(|turn| *turn <= count);
            if turns.is_empty() {
                continue;
            }
            match then {
                SourceTurns::Withheld => {
                    self.withhold(&key, turns).await?;
                }
                SourceTurns::Erased => {
                    forgotten.add(self.erase_turns(caller, id, turns).await?.forgotten);
                }
            }
        }
        said_in.retain(|_, turns| !turns.is_empty());
        Ok(forgotten)
    }
}

/// The turns that stated the facts.
fn sources<'f>(facts: impl IntoIterator<Item = &'f Fact>) -> BTreeMap<SessionId, BTreeSet<u64>> {
    let mut said_in: BTreeMap<SessionId, BTreeSet<u64>> = BTreeMap::new();
    for source in facts.into_iter().filter_map(|fact| fact.source.as_ref()) {
        said_in.entry(source.session.clone()).or_default().insert(source.turn);
    }
    said_in
}
