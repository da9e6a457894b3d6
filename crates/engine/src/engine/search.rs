//! Search across a caller's sessions.
//!
//! Words come from the full-text index; what matches by meaning within the found sessions is ranked by
//! the same formula as recall. The index is brought up to date for the caller's sessions before it is
//! asked, up to a bound, and the answer says how many are still behind.
//!
//! Invariant: 0 behind means that every session of the caller is in the index as it was when the search began.

use futures::{StreamExt as _, TryStreamExt as _, stream};
use serde::Serialize;

use crate::access::{Action, Caller, authorize};
use crate::error::{Error, Result};
use crate::index::{Hit, Query, Snippet, Words};
use crate::store::{Key, Kind};

use super::Engine;

/// The most hits of one answer.
pub const LIMIT_MAX: usize = 100;
/// Texts of hits that are read at the same time.
const READS_AT_ONCE: usize = 16;
/// Sessions read in one step while the index is made anew.
const REBUILD_STEP: usize = 1_000;

/// What a search found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SearchResults {
    /// The hits, best first.
    pub hits: Vec<SearchHit>,
    /// Sessions whose last changes are not in the index yet.
    pub sessions_behind: u64,
}

/// A hit with the place in its text and the session's title.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SearchHit {
    /// Where and what.
    #[serde(flatten)]
    pub hit: Hit,
    /// The place in the text.
    pub snippet: Snippet,
    /// The session's title.
    pub title: Option<String>,
}

struct FoundText {
    hit: Hit,
    title: Option<String>,
    text: String,
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
        let Some(index) = self.indexer.index() else {
            return Err(Error::Missing { kind: "index", name: "search".into(), known: Vec::new() });
        };
        let sessions_behind = self.indexer.catch_up(&caller.scope).await?;
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
        let reading = found.into_iter().map(|hit| self.read_hit(caller, hit));
        let reading = stream::iter(reading.collect::<Vec<_>>()).buffered(READS_AT_ONCE);
        let found: Vec<Option<FoundText>> = reading.try_collect().await?;
        let (texts, found): (Vec<String>, Vec<_>) =
            found.into_iter().flatten().map(|found| (found.text, (found.hit, found.title))).unzip();
        let snippets = index.snippets(&query, texts).await?;
        let hits = found.into_iter().zip(snippets);
        let hits = hits.map(|((hit, title), snippet)| SearchHit { hit, snippet, title }).collect();
        Ok(SearchResults { hits, sessions_behind })
    }

    /// A hit with its text; none where the index is behind and the text is gone.
    async fn read_hit(&self, caller: &Caller, hit: Hit) -> Result<Option<FoundText>> {
        let key = caller.session_key(&hit.session);
        let Some(loaded) = self.sessions.find(&key).await? else {
            self.indexer.remove(&key).await?;
            return Ok(None);
        };
        if loaded.head.deleted_at.is_some() {
            return Ok(None);
        }
        let text = self.indexer.text(&loaded, hit.turn, hit.part).await?;
        let title = loaded.head.title.clone();
        Ok(text.map(|text| FoundText { hit, title, text }))
    }

    /// Makes the index anew from the logs; says how many sessions it holds.
    pub async fn rebuild_index(&self, caller: &Caller, progress: impl Fn(u64)) -> Result<u64> {
        authorize(caller, Action::Administer)?;
        let Some(index) = self.indexer.index() else { return Ok(0) };
        index.clear().await?;
        let mut after: Option<Key> = None;
        let mut sessions = 0;
        loop {
            let listed = self.store().scan(after.as_ref(), REBUILD_STEP).await?;
            let Some(last) = listed.last() else { return Ok(sessions) };
            after = Some(last.key.clone());
            for listed in listed.iter().filter(|listed| listed.key.kind == Kind::Session) {
                if let Some(loaded) = self.sessions.find(&listed.key).await? {
                    self.indexer.bring_up(&loaded).await?;
                    sessions += 1;
                    progress(sessions);
                }
            }
        }
    }
}
