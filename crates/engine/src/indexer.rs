//! Keeps the full-text index up with the logs.
//!
//! Invariant: after [`Indexer::catch_up`] answers 0, every session of the scope is in the index as it was when
//! it was called.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::error::Result;
use crate::id::SessionId;
use crate::index::{Document, Index, Part, Position};
use crate::session::{LoadedSession, Sessions};
use crate::store::{Key, Kind, ListedThread, Page, PageMark, Scope};
use crate::worklist::Worklist;

/// Users of whom it is remembered how far the index has come.
const SCOPES_MAX: u64 = 10_000;
/// Turns indexed in one step.
const STEP_TURNS: u64 = 256;
/// Sessions looked at before a search: always, and in further steps where older ones may be behind.
const NEWEST_SESSIONS: usize = 50;
const OLDER_SESSIONS: usize = 1_000;
/// Sessions brought up to date before one search at most, and then handed to the background.
const CATCH_UP_MAX: usize = 500;
const BACKGROUND_MAX: u64 = 1_000;
/// How far the clocks of copies may be apart. A change with an earlier time than others is found all the same.
const CLOCKS_DIFFER: SignedDuration = SignedDuration::from_mins(5);

/// Puts sessions into the index and takes them out.
pub struct Indexer {
    index: Option<Arc<dyn Index>>,
    sessions: Arc<Sessions>,
    work: Arc<Worklist>,
    /// Every session of the scope that was last changed before that is in the index.
    indexed_until: moka::sync::Cache<Scope, Timestamp>,
}

impl Indexer {
    /// Keeps `index` up, where there is one.
    pub fn new(
        index: Option<Arc<dyn Index>>,
        sessions: Arc<Sessions>,
        work: Arc<Worklist>,
    ) -> Self {
        Self { index, sessions, work, indexed_until: moka::sync::Cache::new(SCOPES_MAX) }
    }

    /// The index, where there is one.
    pub fn index(&self) -> Option<&dyn Index> {
        self.index.as_deref()
    }

    /// The text of a hit; none where it is gone. An index of another copy may not know that it was erased.
    pub async fn text(
        &self,
        loaded: &LoadedSession,
        turn: u64,
        part: Part,
    ) -> Result<Option<String>> {
        if turn == 0 {
            return Ok(loaded.head.title.clone());
        }
        let found = self.sessions.turns(loaded, turn - 1..turn).await?;
        let Some(record) = found.first().filter(|record| loaded.head.uses(record)) else {
            self.remove(&loaded.key).await?;
            return Ok(None);
        };
        let text = if part == Part::Reply { &record.reply } else { &record.message };
        Ok(Some(text.clone()))
    }

    /// Brings the index up for the scope's sessions, newest first; what is too much for one search is left to
    /// the background. Says how many are left.
    pub async fn catch_up(&self, scope: &Scope) -> Result<u64> {
        let Some(index) = &self.index else { return Ok(0) };
        let mut known_until = self.indexed_until.get(scope);
        let mut after: Option<PageMark> = None;
        let (mut newest, mut brought, mut left) = (None, 0, 0);
        loop {
            let limit = if after.is_none() { NEWEST_SESSIONS } else { OLDER_SESSIONS };
            let listed =
                self.sessions.store().list(scope, Kind::Session, Page { limit, after }).await?;
            let Some(last) = listed.last() else { break };
            newest = newest.or(listed.first().map(|newest| newest.changed_at));
            let ids: Vec<SessionId> = listed.iter().map(|row| row.key.id.clone().into()).collect();
            for (listed, position) in listed.iter().zip(index.positions(scope, &ids).await?) {
                if position.is_some_and(|position| is_at(position, listed)) {
                    continue;
                }
                // It was there when everything was: somebody has emptied the index.
                if position.is_none() && known_until.is_some_and(|until| listed.changed_at < until)
                {
                    known_until = None;
                }
                if brought < CATCH_UP_MAX {
                    if let Some(loaded) = self.sessions.find(&listed.key).await? {
                        self.bring_up(&loaded).await?;
                    }
                    brought += 1;
                } else {
                    if left < BACKGROUND_MAX {
                        self.work.add(&listed.key);
                    }
                    left += 1;
                }
            }
            if known_until.is_some_and(|until| last.changed_at < until) {
                break;
            }
            after = Some(PageMark { changed_at: last.changed_at, id: last.key.id.clone() });
        }
        if left == 0
            && let Some(until) = newest.and_then(|newest| newest.checked_sub(CLOCKS_DIFFER).ok())
        {
            self.indexed_until.insert(scope.clone(), until);
        }
        Ok(left)
    }

    /// Brings the index up to date for one session.
    pub async fn bring_up(&self, loaded: &LoadedSession) -> Result<()> {
        let Some(index) = &self.index else { return Ok(()) };
        let (scope, session) = (&loaded.key.scope, &loaded.head.id);
        let known = index.position(scope, session).await?;
        let same_life = |p: &Position| p.version.incarnation == loaded.version.incarnation;
        let mut next = match known {
            Some(position)
                if position.version == loaded.version && position.entries == loaded.head.turns =>
            {
                return Ok(());
            }
            Some(position) if same_life(&position) => position.entries.min(loaded.head.turns),
            Some(_) => {
                index.remove_session(scope, session).await?;
                0
            }
            None => 0,
        };
        loop {
            let end = (next + STEP_TURNS).min(loaded.head.turns);
            let mut documents = Vec::new();
            for turn in self.sessions.turns(loaded, next..end).await? {
                if !loaded.head.uses(&turn) {
                    continue;
                }
                for (part, text) in [(Part::Message, &turn.message), (Part::Reply, &turn.reply)] {
                    documents.push(Document { turn: turn.turn, part, text: text.clone() });
                }
            }
            let title = loaded.head.title.clone().unwrap_or_default();
            documents.push(Document { turn: 0, part: Part::Title, text: title });
            let position = Position { version: loaded.version, entries: end };
            index.put(scope, session, documents, position).await?;
            next = end;
            if next >= loaded.head.turns {
                return Ok(());
            }
        }
    }

    /// Takes a session out of the index; says how many documents went.
    pub async fn remove(&self, key: &Key) -> Result<u64> {
        match &self.index {
            Some(index) => Ok(index.remove_session(&key.scope, &key.id.clone().into()).await?),
            None => Ok(0),
        }
    }
}

fn is_at(position: Position, listed: &ListedThread) -> bool {
    position.version == listed.version && position.entries == listed.entries
}
