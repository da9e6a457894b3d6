//! Search across a caller's sessions.
//!
//! Words come from the full-text index; what matches by meaning within the found sessions is ranked by
//! the same formula as recall. The index is brought up to date for the caller's sessions before it is
//! asked, up to a bound, and the answer says how many are still behind.
//!
//! Invariant: 0 behind means that every session of the caller is in the index as it was when the search began.

use jiff::SignedDuration;
use serde::Serialize;

use crate::access::{Action, Caller, authorize};
use crate::error::{Error, Result};
use crate::id::SessionId;
use crate::index::{Document, Hit, Part, Position, Query, Words};
use crate::session::Loaded;
use crate::session::record::TurnStatus;
use crate::store::{Key, Kind, Listed, Page, PageMark, Scope};

use super::Engine;

/// The most hits of one answer.
pub const LIMIT_MAX: usize = 100;
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

/// What a search found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SearchResults {
    /// The hits, best first.
    pub hits: Vec<SearchHit>,
    /// Sessions whose last changes are not in the index yet.
    pub sessions_behind: u64,
}

/// A hit with the session's title.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SearchHit {
    /// Where and what.
    #[serde(flatten)]
    pub hit: Hit,
    /// The session's title.
    pub title: Option<String>,
}

impl Engine {
    /// Finds words in the caller's sessions.
    pub async fn search(
        &self,
        caller: &Caller,
        text: &str,
        limit: usize,
        offset: usize,
    ) -> Result<SearchResults> {
        authorize(caller, Action::Read)?;
        if !(1..=LIMIT_MAX).contains(&limit) {
            return Err(Error::invalid("limit", format!("{limit} is outside 1-{LIMIT_MAX}")));
        }
        if text.trim().is_empty() {
            return Err(Error::invalid("q", "it is empty"));
        }
        let Some(index) = &self.index else {
            return Err(Error::Missing { kind: "index", name: "search".into(), known: Vec::new() });
        };
        let sessions_behind = self.catch_up(&caller.scope).await?;
        let mut query = Query {
            scope: caller.scope.clone(),
            text: text.to_owned(),
            words: Words::All,
            limit,
            offset,
        };
        let mut found = index.search(&query).await?;
        if found.is_empty() && offset == 0 {
            query.words = Words::Any;
            found = index.search(&query).await?;
        }
        let mut hits = Vec::with_capacity(found.len());
        for hit in found {
            let key = caller.session_key(&hit.session);
            match self.sessions.find(&key).await? {
                Some(loaded) if loaded.head.deleted_at.is_none() => {
                    if self.stands(&loaded, hit.turn).await? {
                        let title = loaded.head.title.clone();
                        hits.push(SearchHit { hit, title });
                    }
                }
                Some(_) => {}
                None => {
                    self.unindex(&key).await?;
                }
            }
        }
        Ok(SearchResults { hits, sessions_behind })
    }

    /// Whether a turn still has its words; an index of another copy may not know that they were erased.
    async fn stands(&self, loaded: &Loaded, turn: u64) -> Result<bool> {
        if turn == 0 || loaded.head.erased_turns == 0 {
            return Ok(true);
        }
        let found = self.sessions.turns(loaded, turn - 1..turn).await?;
        let stands = found.first().is_some_and(|record| record.status != TurnStatus::Erased);
        if !stands {
            self.unindex(&loaded.key).await?;
        }
        Ok(stands)
    }

    /// Brings the index up for the scope's sessions, newest first; what is too much for one search is left to
    /// the background. Says how many are left.
    async fn catch_up(&self, scope: &Scope) -> Result<u64> {
        let Some(index) = &self.index else { return Ok(0) };
        let mut known_until = self.indexed_until.get(scope);
        let mut after: Option<PageMark> = None;
        let (mut newest, mut brought, mut left) = (None, 0, 0);
        loop {
            let limit = if after.is_none() { NEWEST_SESSIONS } else { OLDER_SESSIONS };
            let listed = self.store().list(scope, Kind::Session, Page { limit, after }).await?;
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
                        self.index_session(&loaded).await?;
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
    pub(crate) async fn index_session(&self, loaded: &Loaded) -> Result<()> {
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
                if turn.status == TurnStatus::Erased {
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
    pub(crate) async fn unindex(&self, key: &Key) -> Result<u64> {
        match &self.index {
            Some(index) => Ok(index.remove_session(&key.scope, &key.id.clone().into()).await?),
            None => Ok(0),
        }
    }

    /// Makes the index anew from the logs; says how many sessions it holds.
    pub async fn rebuild_index(&self, caller: &Caller, progress: impl Fn(u64)) -> Result<u64> {
        authorize(caller, Action::Administer)?;
        let Some(index) = &self.index else { return Ok(0) };
        index.clear().await?;
        let mut after: Option<Key> = None;
        let mut sessions = 0;
        loop {
            let listed = self.store().scan(after.as_ref(), OLDER_SESSIONS).await?;
            let Some(last) = listed.last() else { return Ok(sessions) };
            after = Some(last.key.clone());
            for listed in listed.iter().filter(|listed| listed.key.kind == Kind::Session) {
                if let Some(loaded) = self.sessions.find(&listed.key).await? {
                    self.index_session(&loaded).await?;
                    sessions += 1;
                    progress(sessions);
                }
            }
        }
    }
}

fn is_at(position: Position, listed: &Listed) -> bool {
    position.version == listed.version && position.entries == listed.entries
}
