//! Recall of turns of a user's other sessions, by words and meaning.
//!
//! One index covers the sessions of a user, up to [`SESSIONS_MAX`]. It is updated before each use: sessions are
//! listed by last change, and only changed ones are read. Their [stored](super::stored) index is loaded, and the
//! rest read from the log. The session that asks is not searched here: it has an index of its own. The index
//! contains no text; hits are read from their session, so what was erased, expired, archived or made private since
//! cannot return through it.
//!
//! Invariant: an index is found by the scope of the caller's own session; no id sent by a caller leads to another
//! user's.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use futures::{StreamExt as _, TryStreamExt as _, stream};
use jiff::{SignedDuration, Timestamp};

use super::standing::standing;
use super::stored::{MadeOf, StoredIndex};
use super::{Memory, Reading, RecallBounds, Recalled, SCORE_MIN, part_of};
use crate::agent::MemoryScope;
use crate::error::Result;
use crate::hash::ContentHash;
use crate::history;
use crate::id::{AgentName, SessionId};
use crate::search::{Hit, TURNS_EACH, TurnIndex, TurnUnit};
use crate::session::head::SessionHead;
use crate::session::unreadable::if_readable;
use crate::session::{LoadedSession, Sessions};
use crate::store::{Kind, ListedThread, Page, PageMark, Scope, Version};

/// Maximum sessions of a user in the index, newest first.
const SESSIONS_MAX: usize = 5_000;
/// Sessions listed at once: those that may have changed, and then older ones.
const NEWEST_SESSIONS: usize = 50;
const OLDER_SESSIONS: usize = 1_000;
const STEP_TURNS: u64 = 512;
/// Stored indexes read concurrently.
const READS_AT_ONCE: usize = 16;
/// Assumed maximum clock difference between servers.
const CLOCKS_DIFFER: SignedDuration = SignedDuration::from_mins(5);

pub(super) struct UserMemory {
    index: TurnIndex,
    sessions: HashMap<SessionId, IndexedSession>,
    /// Sessions by their number in the index.
    numbered: Vec<SessionId>,
    /// Every session last changed before this time is indexed.
    held_until: Option<Timestamp>,
}

struct IndexedSession {
    number: u64,
    version: Version,
    turns: u64,
    erased: u64,
    agent: Option<AgentName>,
    forked_from: Option<SessionId>,
    /// Whether other sessions may see it.
    is_open: bool,
}

/// A session before its turns are read.
struct SessionOutline {
    id: SessionId,
    version: Version,
    turns: u64,
    erased: u64,
    agent: Option<AgentName>,
    forked_from: Option<SessionId>,
    is_open: bool,
}

impl SessionOutline {
    fn of(loaded: &LoadedSession) -> Self {
        let head = &loaded.head;
        Self {
            id: head.id.clone(),
            version: loaded.version,
            turns: head.turns,
            erased: head.unused_turns(),
            agent: head.agent.clone(),
            forked_from: forked_from(head),
            is_open: is_open(head),
        }
    }

    /// The outline from a stored index, if that is of the listed version.
    fn stored(row: &ListedThread, made_of: &MadeOf) -> Option<Self> {
        (made_of.version == row.version).then(|| Self {
            id: row.key.id.clone().into(),
            version: row.version,
            turns: made_of.turns,
            erased: made_of.erased,
            agent: made_of.agent.clone(),
            forked_from: made_of.forked_from.clone(),
            is_open: made_of.is_open,
        })
    }
}

/// The stored index of a session; no units if other sessions may not see it.
struct Stored {
    made_of: MadeOf,
    units: Vec<TurnUnit>,
}

pub struct AcrossQuery<'a> {
    /// The session that searches.
    pub session: &'a LoadedSession,
    pub message: &'a str,
    pub vector: &'a [f32],
    pub scope: MemoryScope,
    /// The agent of sessions that name none.
    pub default_agent: &'a AgentName,
    /// Whether the sessions of an agent have a memory of their own.
    pub is_silent: &'a (dyn Fn(Option<&AgentName>) -> bool + Sync),
    /// How much is recalled.
    pub bounds: RecallBounds,
}

impl UserMemory {
    pub(super) fn new(index: TurnIndex) -> Self {
        let (sessions, numbered) = (HashMap::new(), Vec::new());
        Self { index, sessions, numbered, held_until: None }
    }

    /// The session of a hit, and its turn.
    fn session_of(&self, number: u64) -> (&SessionId, u64) {
        (&self.numbered[(number / TURNS_EACH) as usize], number % TURNS_EACH)
    }

    /// The first session of a line of forks. An edited message leaves a fork behind, and a fork shares turns with
    /// where it came from: neither is an earlier conversation of the other.
    fn root<'a>(&'a self, id: &'a SessionId, forked_from: Option<&'a SessionId>) -> &'a SessionId {
        let (mut root, mut before) = (id, forked_from);
        // Bounded, since an imported session may name any other.
        for _ in 0..self.numbered.len() + 1 {
            let Some(earlier) = before else { break };
            root = earlier;
            before = self.sessions.get(earlier).and_then(|held| held.forked_from.as_ref());
        }
        root
    }

    /// Removes a session's turns.
    pub(super) fn remove(&mut self, id: &SessionId) {
        if let Some(held) = self.sessions.get_mut(id) {
            for turn in 1..=held.turns {
                self.index.remove(held.number * TURNS_EACH + turn);
            }
            held.turns = 0;
            // No session has this version, so it is read again.
            held.version.number = 0;
        }
    }

    fn held(&mut self, current: &SessionOutline) -> &mut IndexedSession {
        let numbered = &mut self.numbered;
        self.sessions.entry(current.id.clone()).or_insert_with(|| {
            numbered.push(current.id.clone());
            IndexedSession {
                number: numbered.len() as u64 - 1,
                version: current.version,
                turns: 0,
                erased: current.erased,
                agent: current.agent.clone(),
                forked_from: current.forked_from.clone(),
                is_open: true,
            }
        })
    }

    /// Whether a session is indexed at its listed version.
    fn is_at(&self, row: &ListedThread) -> bool {
        let id: SessionId = row.key.id.clone().into();
        self.sessions.get(&id).is_some_and(|held| held.version == row.version)
    }

    /// Whether nothing of a session is indexed.
    fn lacks(&self, row: &ListedThread) -> bool {
        let id: SessionId = row.key.id.clone().into();
        self.sessions.get(&id).is_none_or(|held| held.turns == 0)
    }
}

impl Memory {
    /// Parts of turns of the user's other sessions that match a message, best first.
    pub async fn search_across(
        &self,
        sessions: &Sessions,
        wanted: &AcrossQuery<'_>,
    ) -> Result<Vec<Recalled>> {
        let scope = &wanted.session.key.scope;
        let own = &wanted.session.head;
        let hidden = |agent: Option<&AgentName>| {
            let named = |agent: Option<&AgentName>| agent.unwrap_or(wanted.default_agent).clone();
            let other_agent =
                wanted.scope == MemoryScope::Agent && named(agent) != named(own.agent.as_ref());
            other_agent || (wanted.is_silent)(agent)
        };
        let bounds = wanted.bounds;
        let looked_for = (wanted.message, wanted.vector, bounds.parts_max);
        let mut located = self.locate(sessions, (scope, Some(own)), looked_for, hidden).await?;
        located.retain(|(.., hit)| hit.score >= SCORE_MIN);
        let mut recalled: Vec<Recalled> = Vec::new();
        // Sessions repeat each other; the same words are told once.
        let mut told = HashSet::new();
        let mut reading = Reading::of(bounds.tokens);
        let mut rest = located.as_slice();
        while !rest.is_empty() {
            let (now, later) = rest.split_at(reading.step().min(rest.len()));
            let mut named: BTreeMap<SessionId, BTreeSet<u64>> = BTreeMap::new();
            for (session, turn, _) in now {
                named.entry(session.clone()).or_default().insert(*turn);
            }
            let standing = standing(sessions, scope, &named).await?;
            let found = recalled.len();
            recalled.extend(now.iter().filter_map(|(session, turn, hit)| {
                let (part, score) = (part_of(hit.part), hit.score);
                let found = standing.get(&(session.clone(), *turn));
                let record = found.filter(|record| record.is_recallable(part))?.clone();
                Some(Recalled { record, part, score, session: Some(session.clone()) })
            }));
            let new = recalled[found..].iter().filter(|found| {
                told.insert(ContentHash::of(&history::text_of(&found.record, found.part)))
            });
            if !reading.goes_on(now.len(), new.map(Recalled::tokens_shown).sum()) {
                break;
            }
            rest = later;
        }
        Ok(recalled)
    }

    /// Where the user's sessions match a text, best first: session, turn and hit. The texts are not read, so some
    /// may be gone.
    pub async fn search_sessions(
        &self,
        sessions: &Sessions,
        scope: &Scope,
        (text, vector): (&str, &[f32]),
        parts_max: usize,
    ) -> Result<Vec<(SessionId, u64, Hit)>> {
        let looked_for = (text, vector, parts_max);
        let mut located = self.locate(sessions, (scope, None), looked_for, |_| false).await?;
        located.retain(|(.., hit)| hit.fit >= SCORE_MIN);
        Ok(located)
    }

    /// Searches the user's sessions that are not `hidden` and not forks of the asking one or of its origin; what is
    /// new in the asking one is not indexed.
    async fn locate(
        &self,
        sessions: &Sessions,
        (scope, asking): (&Scope, Option<&SessionHead>),
        (message, vector, parts_max): (&str, &[f32], usize),
        hidden: impl Fn(Option<&AgentName>) -> bool,
    ) -> Result<Vec<(SessionId, u64, Hit)>> {
        let cell = self.users.get_or(scope, || UserMemory::new(self.empty_index()));
        let mut user = cell.lock().await;
        self.catch_up_user(sessions, (scope, asking.map(|own| &own.id)), &mut user).await?;
        let turns = user.sessions.values().map(|held| held.turns).sum();
        self.users.weigh(scope, &cell, turns, || user.index.bytes());
        let origin = asking.and_then(forked_from);
        let family = asking.map(|own| user.root(&own.id, origin.as_ref()));
        let mut excluded = vec![false; user.numbered.len()];
        for (id, held) in &user.sessions {
            let is_family = || Some(user.root(id, held.forked_from.as_ref())) == family;
            excluded[held.number as usize] =
                !held.is_open || is_family() || hidden(held.agent.as_ref());
        }
        if excluded.iter().all(|excluded| *excluded) {
            return Ok(Vec::new());
        }
        let excluded = |number: u64| excluded[(number / TURNS_EACH) as usize];
        let hits = user.index.search(message, vector, parts_max, excluded);
        let located = hits.into_iter().map(|hit| {
            let (session, turn) = user.session_of(hit.turn);
            (session.clone(), turn, hit)
        });
        Ok(located.collect())
    }

    /// Updates the index for the changed sessions of the scope, except the asking one.
    async fn catch_up_user(
        &self,
        sessions: &Sessions,
        (scope, asking): (&Scope, Option<&SessionId>),
        user: &mut UserMemory,
    ) -> Result<()> {
        let mut after: Option<PageMark> = None;
        let (mut newest, mut seen) = (None, 0);
        let mut left_out: Option<Timestamp> = None;
        while seen < SESSIONS_MAX {
            let limit = if after.is_none() { NEWEST_SESSIONS } else { OLDER_SESSIONS };
            let page = Page { limit, after };
            let listed = sessions.store().list(scope, Kind::Session, page).await?;
            let Some(last) = listed.last() else { break };
            newest = newest.or(listed.first().map(|newest| newest.changed_at));
            seen += listed.len();
            let (own, changed): (Vec<_>, Vec<_>) = listed
                .iter()
                .filter(|row| !user.is_at(row))
                .partition(|row| asking.is_some_and(|asking| *asking == row.key.id.clone().into()));
            left_out = left_out.or(own.first().map(|own| own.changed_at));
            let reading =
                changed.into_iter().map(|row| self.read_stored(sessions, row, user.lacks(row)));
            let mut reading = stream::iter(reading.collect::<Vec<_>>()).buffered(READS_AT_ONCE);
            while let Some((row, stored)) = reading.try_next().await? {
                self.take_in(sessions, row, stored, user).await?;
            }
            if user.held_until.is_some_and(|until| last.changed_at < until) {
                break;
            }
            after = Some(PageMark { changed_at: last.changed_at, id: last.key.id.clone() });
        }
        let settled = newest.and_then(|newest| newest.checked_sub(CLOCKS_DIFFER).ok());
        user.held_until = settled.map(|until| left_out.map_or(until, |own| own.min(until)));
        Ok(())
    }

    /// The stored index of a session, if `wanted`; a session that is partly indexed continues from its log.
    async fn read_stored<'a>(
        &self,
        sessions: &Sessions,
        row: &'a ListedThread,
        wanted: bool,
    ) -> Result<(&'a ListedThread, Option<Stored>)> {
        if !wanted {
            return Ok((row, None));
        }
        let store = sessions.store().as_ref();
        let found = StoredIndex::find(store, &row.key, self.embedder.name()).await?;
        let stored = match found {
            Some(found) if found.made_of.is_open => {
                let units = found.units(store, &row.key).await?;
                units.map(|units| Stored { made_of: found.made_of, units })
            }
            Some(found) => Some(Stored { made_of: found.made_of, units: Vec::new() }),
            None => None,
        };
        if stored.is_none() && row.entries > 0 {
            self.work.add(&row.key);
        }
        Ok((row, stored))
    }

    /// Indexes what is new in a session.
    async fn take_in(
        &self,
        sessions: &Sessions,
        row: &ListedThread,
        stored: Option<Stored>,
        user: &mut UserMemory,
    ) -> Result<()> {
        let as_stored =
            stored.as_ref().and_then(|stored| SessionOutline::stored(row, &stored.made_of));
        // The head is read only if the stored index is not of its version.
        let (current, loaded) = match as_stored {
            Some(current) => (current, None),
            None => match if_readable(sessions.find(&row.key).await)? {
                Some(loaded) => (SessionOutline::of(&loaded), Some(loaded)),
                None => return Ok(()),
            },
        };
        let held = user.held(&current);
        let another = held.version.incarnation != current.version.incarnation
            || held.erased != current.erased
            || held.turns > current.turns;
        let (number, mut turns) = (held.number, held.turns);
        if another || !current.is_open {
            user.remove(&current.id);
            turns = 0;
        }
        let fits = |stored: &Stored| {
            let still = |loaded: &LoadedSession| stored.made_of.fits(loaded.version, &loaded.head);
            stored.made_of.is_open && loaded.as_ref().is_none_or(still)
        };
        if current.is_open
            && turns == 0
            && let Some(stored) = stored.filter(fits)
        {
            for unit in &stored.units {
                user.index.put(number * TURNS_EACH + unit.turn, unit);
            }
            turns = stored.made_of.turns;
        }
        if let Some(loaded) = loaded.filter(|_| current.is_open) {
            while turns < current.turns {
                let end = (turns + STEP_TURNS).min(current.turns);
                let records = sessions.turns(&loaded, turns..end).await?;
                for unit in &self.units(&loaded.head, &records).await.0 {
                    user.index.put(number * TURNS_EACH + unit.turn, unit);
                }
                turns = end;
            }
        }
        let held = user.held(&current);
        (held.version, held.turns, held.erased) = (current.version, turns, current.erased);
        (held.is_open, held.agent) = (current.is_open, current.agent);
        held.forked_from = current.forked_from;
        Ok(())
    }
}

/// Whether a session is in the index of the user's sessions.
pub(super) fn is_open(head: &SessionHead) -> bool {
    let off = head.settings.memory == Some(MemoryScope::Off);
    head.deleted_at.is_none() && !head.settings.private && !off
}

fn forked_from(head: &SessionHead) -> Option<SessionId> {
    head.forked_from.as_ref().map(|from| from.session.clone())
}
