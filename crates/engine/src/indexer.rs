//! Keeps the full-text index in step with the logs.
//!
//! Invariant: after [`Indexer::catch_up`] returns 0, the index has every session of the scope as it was at the
//! time of the call.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::error::Result;
use crate::id::SessionId;
use crate::index::{Document, Index, Part, Position};
use crate::session::unreadable::if_readable;
use crate::session::{LoadedSession, Sessions};
use crate::store::{Key, Kind, ListedThread, Page, PageMark, Scope};
use crate::worklist::Worklist;

/// Maximum number of scopes in `indexed_until`.
const SCOPES_MAX: u64 = 10_000;
/// Turns indexed per step.
const STEP_TURNS: u64 = 256;
/// Sessions checked before a search; more in further steps if older ones may be behind.
const NEWEST_SESSIONS: usize = 50;
const OLDER_SESSIONS: usize = 1_000;
/// Maximum sessions indexed before one search; the rest is left to the background.
const CATCH_UP_MAX: usize = 500;
const BACKGROUND_MAX: u64 = 1_000;
/// Assumed maximum clock difference between servers, so that a change with an earlier timestamp is still found.
const CLOCKS_DIFFER: SignedDuration = SignedDuration::from_mins(5);

pub struct Indexer {
    index: Option<Arc<dyn Index>>,
    sessions: Arc<Sessions>,
    work: Arc<Worklist>,
    /// Every session last changed before this time is indexed.
    indexed_until: moka::sync::Cache<Scope, Timestamp>,
}

impl Indexer {
    pub fn new(
        index: Option<Arc<dyn Index>>,
        sessions: Arc<Sessions>,
        work: Arc<Worklist>,
    ) -> Self {
        Self { index, sessions, work, indexed_until: moka::sync::Cache::new(SCOPES_MAX) }
    }

    pub fn index(&self) -> Option<&dyn Index> {
        self.index.as_deref()
    }

    /// The text of a hit; `None` if it was erased, which another server's index may not know yet.
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

    /// Indexes the scope's outdated sessions, newest first; what is too much for one search is left to the
    /// background. Returns how many are left.
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
                // It was indexed before, so the index was cleared.
                if position.is_none() && known_until.is_some_and(|until| listed.changed_at < until)
                {
                    known_until = None;
                }
                if brought < CATCH_UP_MAX {
                    if let Some(loaded) = if_readable(self.sessions.find(&listed.key).await)? {
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

    /// Indexes one session up to its last turn.
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

    /// Removes a session from the index; returns the number of documents removed.
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
