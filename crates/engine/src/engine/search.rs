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
use crate::id::SessionId;
use crate::index::{HITS_MAX, Hit, Part, Query, Snippet, Words};
use crate::search::{self, words::stems};
use crate::store::{Key, Kind};

use super::Engine;

/// Maximum hits per search.
pub(super) const LIMIT_MAX: usize = 100;
/// Maximum hits that are skipped.
const OFFSET_MAX: usize = 1_000_000;
/// The score of a place among the hits by meaning: its reciprocal, so many places further.
const PLACES_AHEAD: f64 = 60.0;
/// Places by which a hit by meaning moves up if it has some of the words.
const PLACES_FOR_A_WORD: usize = 2;
/// Where the first hit that has only some of the words stands.
const PLACE_BY_WORDS: usize = 3;
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
        if offset > OFFSET_MAX {
            return Err(Error::invalid("offset", format!("{offset} is outside 0-{OFFSET_MAX}")));
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
        let by_meaning = self.by_meaning(caller, text, query.limit).await?;
        let mut by_words = Vec::new();
        if every_word.is_empty() {
            query.words = Words::Any;
            by_words = index.search(&query).await?;
        }
        let found = joined(every_word, &by_words, &by_meaning).into_iter().skip(offset).take(limit);
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

/// Merges hits: `first`, then those by meaning in their order. One that also has some of the words moves up, and one that
/// has nothing but some of the words comes after the best by meaning.
fn joined(first: Vec<Hit>, by_words: &[Hit], by_meaning: &[Hit]) -> Vec<Hit> {
    let place = |hit: &Hit| (hit.session.clone(), hit.turn, hit.part);
    let position = |hits: &[Hit], hit: &Hit| hits.iter().position(|it| place(it) == place(hit));
    let mut seen: BTreeSet<_> = first.iter().map(place).collect();
    let mut rest: Vec<(usize, Hit)> = Vec::new();
    for hit in by_meaning.iter().chain(by_words) {
        if !seen.insert(place(hit)) {
            continue;
        }
        let at = match (position(by_meaning, hit), position(by_words, hit)) {
            (Some(at), Some(_)) => at.saturating_sub(PLACES_FOR_A_WORD),
            (Some(at), None) => at,
            (None, at) => PLACE_BY_WORDS + at.unwrap_or_default(),
        };
        rest.push((at, hit.clone()));
    }
    rest.sort_by_key(|(at, _)| *at);
    let score = |at: usize| 1.0 / (PLACES_AHEAD + at as f64);
    let rest = rest.into_iter().enumerate().map(|(at, (_, hit))| Hit { score: score(at), ..hit });
    // Keeps the rest below the first, whose scores have another scale.
    let first = first.into_iter().map(|hit| Hit { score: 1.0 + hit.score, ..hit });
    let all: Vec<Hit> = first.chain(rest).collect();
    // Every hit shows the title of its session; the title by itself would be the same one again.
    let told: BTreeSet<SessionId> =
        all.iter().filter(|hit| hit.part != Part::Title).map(|hit| hit.session.clone()).collect();
    all.into_iter().filter(|hit| hit.part != Part::Title || !told.contains(&hit.session)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn what_holds_every_word_comes_first_then_meaning_with_words_then_meaning() {
        let shown = joined(hits(&[7, 8]), &hits(&[1, 2, 5]), &hits(&[8, 3, 4, 5]));
        let turns: Vec<u64> = shown.iter().map(|hit| hit.turn).collect();
        assert_eq!(turns, [7, 8, 3, 5, 4, 1, 2]);
        assert!(shown.is_sorted_by(|left, right| left.score >= right.score), "{shown:?}");
    }

    #[test]
    fn the_title_of_a_session_is_a_hit_only_if_nothing_else_of_it_is() {
        let title = Hit { turn: 0, part: Part::Title, ..hits(&[1])[0].clone() };
        let with = joined(Vec::new(), &[title.clone(), hits(&[1])[0].clone()], &[]);
        assert_eq!(with.iter().map(|hit| hit.turn).collect::<Vec<_>>(), [1]);
        assert_eq!(joined(Vec::new(), &[title], &[]).len(), 1);
    }
}
