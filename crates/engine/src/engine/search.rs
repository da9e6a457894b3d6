//! Search across a caller's sessions.
//!
//! Words are found with the full-text index, similar meanings with the user's recall index. Texts containing
//! every word come first, then the results of both, merged by rank. The full-text index is updated for the
//! caller's sessions first, up to a limit; the result says how many sessions are still behind.
//!
//! Invariant: 0 behind means that the index had every session of the caller as it was when the search began.

use std::collections::BTreeSet;

use futures::{StreamExt as _, TryStreamExt as _, stream};
use serde::Serialize;

use crate::access::{Action, Caller, authorize};
use crate::error::{Error, Result};
use crate::index::{HITS_MAX, Hit, Part, Query, Snippet, Words};
use crate::search::{self, words::stems};
use crate::store::{Key, Kind};

use super::Engine;

/// Maximum hits per search.
pub(super) const LIMIT_MAX: usize = 100;
/// Rank offset of reciprocal rank fusion, so that the first ranks do not decide alone.
const PLACES_AHEAD: f64 = 60.0;
/// Texts of hits read concurrently.
const READS_AT_ONCE: usize = 16;
/// Sessions read per step of a rebuild.
const REBUILD_STEP: usize = 1_000;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SearchResults {
    /// Best first.
    pub hits: Vec<SearchHit>,
    /// Sessions whose latest changes are not in the index yet.
    pub sessions_behind: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SearchHit {
    #[serde(flatten)]
    pub hit: Hit,
    pub snippet: Snippet,
    pub title: Option<String>,
}

struct FoundText {
    hit: Hit,
    title: Option<String>,
    text: String,
}

impl Engine {
    /// Finds words and similar meanings in the caller's sessions.
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
            limit: offset.saturating_add(limit).min(HITS_MAX),
            offset: 0,
        };
        let every_word = index.search(&query).await?;
        let mut rankings = vec![self.by_meaning(caller, text, query.limit).await?];
        if every_word.is_empty() {
            query.words = Words::Any;
            rankings.insert(0, index.search(&query).await?);
        }
        let found = joined(every_word, &rankings).into_iter().skip(offset).take(limit);
        let reading = found.map(|hit| self.read_hit(caller, hit));
        let reading = stream::iter(reading.collect::<Vec<_>>()).buffered(READS_AT_ONCE);
        let found: Vec<Option<FoundText>> = reading.try_collect().await?;
        let (texts, found): (Vec<String>, Vec<_>) =
            found.into_iter().flatten().map(|found| (found.text, (found.hit, found.title))).unzip();
        let snippets = index.snippets(&query, texts).await?;
        let hits = found.into_iter().zip(snippets);
        let hits = hits.map(|((hit, title), snippet)| SearchHit { hit, snippet, title }).collect();
        Ok(SearchResults { hits, sessions_behind })
    }

    /// Texts of similar meaning, best first. None for a quoted phrase or a query in which every word has a digit:
    /// these are meant literally.
    async fn by_meaning(&self, caller: &Caller, text: &str, limit: usize) -> Result<Vec<Hit>> {
        let is_word = |word: &String| !word.contains(|letter: char| letter.is_numeric());
        if text.contains('"') || !stems(text).iter().any(is_word) {
            return Ok(Vec::new());
        }
        let vector = self.turns.selector.embed(text).await?;
        let (memory, looked_for) = (&self.turns.memory, (text, vector.as_slice()));
        let found =
            memory.search_sessions(&self.sessions, &caller.scope, looked_for, limit).await?;
        let hits = found.into_iter().filter_map(|(session, turn, hit)| {
            let part = match hit.part {
                search::Part::Message => Part::Message,
                search::Part::Reply => Part::Reply,
                search::Part::ToolResult => return None,
            };
            Some(Hit { session, turn, part, score: f64::from(hit.fit) })
        });
        Ok(hits.collect())
    }

    /// A hit with its text; `None` if the text is gone and the index outdated.
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

    /// Rebuilds the index from the logs; returns the number of sessions.
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

/// Merges hits: `first`, then those of `rankings` by rank.
fn joined(first: Vec<Hit>, rankings: &[Vec<Hit>]) -> Vec<Hit> {
    let place = |hit: &Hit| (hit.session.clone(), hit.turn, hit.part);
    let mut seen: BTreeSet<_> = first.iter().map(place).collect();
    let mut rest: Vec<Hit> = Vec::new();
    for hit in rankings.iter().flatten() {
        if !seen.insert(place(hit)) {
            continue;
        }
        let places = rankings.iter().filter_map(|hits| {
            let at = hits.iter().position(|other| place(other) == place(hit))?;
            Some(1.0 / (PLACES_AHEAD + at as f64))
        });
        rest.push(Hit { score: places.sum(), ..hit.clone() });
    }
    rest.sort_by(|left, right| right.score.total_cmp(&left.score));
    // Keeps the rest below the first, whose scores have another scale.
    first.into_iter().map(|hit| Hit { score: 1.0 + hit.score, ..hit }).chain(rest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::SessionId;

    fn hits(turns: &[u64]) -> Vec<Hit> {
        let session = SessionId::new("s").expect("valid");
        let hit = |turn: &u64| Hit {
            session: session.clone(),
            turn: *turn,
            part: Part::Message,
            score: 0.5,
        };
        turns.iter().map(hit).collect()
    }

    #[test]
    fn what_holds_every_word_comes_first_and_what_both_found_next() {
        let shown = joined(hits(&[7, 8]), &[hits(&[1, 2, 3]), hits(&[8, 3, 4])]);
        let turns: Vec<u64> = shown.iter().map(|hit| hit.turn).collect();
        assert_eq!(turns, [7, 8, 3, 1, 2, 4]);
        assert!(shown.is_sorted_by(|left, right| left.score >= right.score), "{shown:?}");
    }
}
