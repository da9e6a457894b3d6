//! Older turns of a user's other sessions, by their words and meaning.
//!
//! One index holds every session of a user. It is caught up before each use: sessions are listed newest change
//! first, and only those that changed are read. It holds no text; what it finds is read from its session again,
//! so what was erased, expired, put aside or made private since cannot come back through it.
//!
//! Invariant: an index is found by the scope of the caller's own session; no id that a caller sends leads to
//! another's.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::{Memory, Recalled, SCORE_MIN, part_of};
use crate::agent::MemoryScope;
use crate::error::Result;
use crate::id::{AgentName, SessionId};
use crate::piece::Source;
use crate::search::{Hit, TURNS_EACH, TurnIndex};
use crate::session::head::SessionHead;
use crate::session::record::{TurnRecord, TurnStatus};
use crate::session::{LoadedSession, Sessions};
use crate::store::{Key, Kind, Page, PageMark, Scope, Version};

/// Sessions of a user that are remembered across, newest first.
const SESSIONS_MAX: usize = 5_000;
/// Sessions listed at once: those that may have changed since, and older ones.
const NEWEST_SESSIONS: usize = 50;
const OLDER_SESSIONS: usize = 1_000;
/// Turns read from a log at once.
const STEP_TURNS: u64 = 512;
/// How far the clocks of copies may be apart.
const CLOCKS_DIFFER: SignedDuration = SignedDuration::from_mins(5);

/// The sessions of one user.
pub(super) struct UserMemory {
    index: TurnIndex,
    sessions: HashMap<SessionId, Held>,
    /// Sessions by their number in the index.
    numbered: Vec<SessionId>,
    /// Every session that was last changed before that is held.
    held_until: Option<Timestamp>,
}

/// A session in the index.
struct Held {
    number: u64,
    version: Version,
    turns: u64,
    erased: u64,
    agent: Option<AgentName>,
    /// Whether other sessions may see it.
    is_open: bool,
}

/// What is looked for, and for whom.
pub struct Across<'a> {
    /// The session that asks.
    pub session: &'a LoadedSession,
    /// The message.
    pub message: &'a str,
    /// Its vector.
    pub vector: &'a [f32],
    /// How far the session remembers.
    pub scope: MemoryScope,
    /// The most parts of turns.
    pub parts_max: usize,
}

impl UserMemory {
    pub(super) fn new(index: TurnIndex) -> Self {
        let (sessions, numbered) = (HashMap::new(), Vec::new());
        Self { index, sessions, numbered, held_until: None }
    }

    /// The session of a hit, and the turn in it.
    fn session_of(&self, number: u64) -> (&SessionId, u64) {
        (&self.numbered[(number / TURNS_EACH) as usize], number % TURNS_EACH)
    }

    /// Takes a session's turns out.
    fn remove(&mut self, id: &SessionId) {
        if let Some(held) = self.sessions.get_mut(id) {
            for turn in 1..=held.turns {
                self.index.remove(held.number * TURNS_EACH + turn);
            }
            held.turns = 0;
        }
    }

    fn held(&mut self, loaded: &LoadedSession) -> &mut Held {
        let numbered = &mut self.numbered;
        self.sessions.entry(loaded.head.id.clone()).or_insert_with(|| {
            numbered.push(loaded.head.id.clone());
            Held {
                number: numbered.len() as u64 - 1,
                version: loaded.version,
                turns: 0,
                erased: loaded.head.erased_turns,
                agent: loaded.head.agent.clone(),
                is_open: true,
            }
        })
    }
}

impl Memory {
    /// Parts of earlier turns of the user's other sessions that fit a message, best first.
    pub async fn search_across(
        &self,
        sessions: &Sessions,
        wanted: &Across<'_>,
    ) -> Result<Vec<Recalled>> {
        let scope = &wanted.session.key.scope;
        let empty = || Arc::new(tokio::sync::Mutex::new(UserMemory::new(self.empty_index())));
        let cell = self.users.get_with(scope.clone(), empty);
        let mut user = cell.lock().await;
        self.catch_up_user(sessions, scope, &mut user).await?;
        let own = &wanted.session.head;
        let hidden: BTreeSet<u64> = user
            .sessions
            .iter()
            .filter(|(id, held)| {
                let other_agent = wanted.scope == MemoryScope::Agent && held.agent != own.agent;
                **id == own.id || !held.is_open || other_agent
            })
            .map(|(_, held)| held.number)
            .collect();
        let excluded = |number: u64| hidden.contains(&(number / TURNS_EACH));
        let mut hits = user.index.search(wanted.message, wanted.vector, wanted.parts_max, excluded);
        hits.retain(|hit| hit.score >= SCORE_MIN);
        let mut found: BTreeMap<SessionId, BTreeSet<u64>> = BTreeMap::new();
        let located: Vec<(SessionId, u64, Hit)> = hits
            .into_iter()
            .map(|hit| {
                let (session, turn) = user.session_of(hit.turn);
                (session.clone(), turn, hit)
            })
            .collect();
        drop(user);
        for (session, turn, _) in &located {
            found.entry(session.clone()).or_default().insert(*turn);
        }
        let standing = standing(sessions, scope, &found).await?;
        let recalled = located.into_iter().filter_map(|(session, turn, hit)| {
            let record = standing.get(&(session.clone(), turn))?.clone();
            let (part, score) = (part_of(hit.part), hit.score);
            Some(Recalled { record, part, score, session: Some(session) })
        });
        Ok(recalled.collect())
    }

    /// Brings the index up for the sessions of the scope that changed.
    async fn catch_up_user(
        &self,
        sessions: &Sessions,
        scope: &Scope,
        user: &mut UserMemory,
    ) -> Result<()> {
        let mut after: Option<PageMark> = None;
        let (mut newest, mut seen) = (None, 0);
        while seen < SESSIONS_MAX {
            let limit = if after.is_none() { NEWEST_SESSIONS } else { OLDER_SESSIONS };
            let page = Page { limit, after };
            let listed = sessions.store().list(scope, Kind::Session, page).await?;
            let Some(last) = listed.last() else { break };
            newest = newest.or(listed.first().map(|newest| newest.changed_at));
            seen += listed.len();
            for row in &listed {
                let id: SessionId = row.key.id.clone().into();
                if user.sessions.get(&id).is_some_and(|held| held.version == row.version) {
                    continue;
                }
                if let Some(loaded) = sessions.find(&row.key).await? {
                    self.take_in(sessions, &loaded, user).await?;
                }
            }
            if user.held_until.is_some_and(|until| last.changed_at < until) {
                break;
            }
            after = Some(PageMark { changed_at: last.changed_at, id: last.key.id.clone() });
        }
        user.held_until = newest.and_then(|newest| newest.checked_sub(CLOCKS_DIFFER).ok());
        Ok(())
    }

    /// Takes in what is new of a session.
    async fn take_in(
        &self,
        sessions: &Sessions,
        loaded: &LoadedSession,
        user: &mut UserMemory,
    ) -> Result<()> {
        let head = &loaded.head;
        let held = user.held(loaded);
        let another = held.version.incarnation != loaded.version.incarnation
            || held.erased != head.erased_turns
            || held.turns > head.turns;
        let (is_open, number, mut turns) = (is_open(head), held.number, held.turns);
        if another || !is_open {
            user.remove(&head.id);
            turns = 0;
        }
        while is_open && turns < head.turns {
            let end = (turns + STEP_TURNS).min(head.turns);
            let records = sessions.turns(loaded, turns..end).await?;
            self.index(&records, &mut user.index, number * TURNS_EACH).await?;
            turns = end;
        }
        let held = user.held(loaded);
        (held.version, held.turns, held.erased) = (loaded.version, turns, head.erased_turns);
        (held.is_open, held.agent) = (is_open, head.agent.clone());
        Ok(())
    }
}

/// Whether other sessions of the user may see what was said in a session.
fn is_open(head: &SessionHead) -> bool {
    let off = head.settings.memory == Some(MemoryScope::Off);
    head.deleted_at.is_none() && !head.settings.private && !off
}

/// The turns of other sessions that pieces are from.
pub fn elsewhere<'a>(
    sources: impl Iterator<Item = &'a Source>,
) -> BTreeMap<SessionId, BTreeSet<u64>> {
    let mut named: BTreeMap<SessionId, BTreeSet<u64>> = BTreeMap::new();
    for source in sources {
        if let Source::Elsewhere { session, turn, .. } = source {
            named.entry(session.clone()).or_default().insert(*turn);
        }
    }
    named
}

/// The turns of other sessions that may still be shown.
pub async fn standing(
    sessions: &Sessions,
    scope: &Scope,
    wanted: &BTreeMap<SessionId, BTreeSet<u64>>,
) -> Result<HashMap<(SessionId, u64), Arc<TurnRecord>>> {
    let mut standing = HashMap::new();
    for (id, turns) in wanted {
        let key = Key { scope: scope.clone(), kind: Kind::Session, id: id.clone().into() };
        let Some(loaded) = sessions.find(&key).await? else { continue };
        if !is_open(&loaded.head) {
            continue;
        }
        for record in sessions.turns_at(&loaded, turns).await? {
            if record.status != TurnStatus::Erased && record.is_history() {
                standing.insert((id.clone(), record.turn), record);
            }
        }
    }
    Ok(standing)
}
