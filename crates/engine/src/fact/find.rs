//! Finds facts by kind, subject and session, or by words and meaning.
//!
//! Invariant: a search returns current facts only; a list returns superseded ones on request.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use tokio::sync::Mutex;

use crate::access::{Action, Caller, authorize};
use crate::error::{Error, Result};
use crate::hash::ContentHash;
use crate::id::{SessionId, ThreadId};
use crate::search::ItemIndex;
use crate::store::{Page, PageMark, Scope};

use super::draft::comparable;
use super::gather::subject_key;
use super::stored::Facts;
use super::{Fact, FactKind};

/// Maximum facts per page.
const ANSWER_MAX: usize = 100;
/// Minimum score of a fact without a word of the query, on the 0–1 scale of thresholds.
const MEANING_MIN: f32 = 0.5;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FactFilter {
    pub kind: Option<FactKind>,
    pub subject: Option<String>,
    /// Only facts gathered in this session.
    pub session: Option<SessionId>,
    pub with_superseded: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FactList {
    /// Most recently changed first.
    pub facts: Vec<Fact>,
    pub total: usize,
    /// The cursor of the next page; `None` at the end.
    pub next: Option<PageMark>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct FactHit {
    pub fact: Fact,
    /// How well it matches, 0–1.
    pub score: f32,
}

impl Facts {
    /// A page of the caller's facts.
    pub async fn list(
        &self,
        caller: &Caller,
        filter: &FactFilter,
        Page { limit, after }: Page,
    ) -> Result<FactList> {
        authorize(caller, Action::Read)?;
        check_limit(limit)?;
        let book = self.book(&caller.scope).await?;
        let found: Vec<&Fact> = book.facts().filter(|fact| filter.admits(fact)).collect();
        let is_due = |fact: &&&Fact| {
            let place = (fact.changed_at, fact.id.as_str());
            after.as_ref().is_none_or(|mark| place < (mark.changed_at, mark.id.as_str()))
        };
        let mut facts: Vec<Fact> =
            found.iter().filter(is_due).take(limit + 1).map(|fact| Fact::clone(fact)).collect();
        let more = facts.len() > limit;
        facts.truncate(limit);
        let last = facts.last().filter(|_| more);
        let next = last.map(|fact| -> Result<PageMark> {
            Ok(PageMark { changed_at: fact.changed_at, id: ThreadId::new(&*fact.id)? })
        });
        Ok(FactList { total: found.len(), next: next.transpose()?, facts })
    }

    /// The caller's current facts that match `query` by words or meaning, best first.
    pub async fn search(&self, caller: &Caller, query: &str, limit: usize) -> Result<Vec<FactHit>> {
        authorize(caller, Action::Read)?;
        check_limit(limit)?;
        if query.trim().is_empty() {
            return Err(Error::invalid("q", "it is empty"));
        }
        if query.len() > self.limits.message_bytes_max {
            return Err(Error::OverLimit {
                what: "the length of the query in bytes".into(),
                size: query.len() as u64,
                limit: "message_bytes_max",
                allowed: self.limits.message_bytes_max as u64,
            });
        }
        let vector = self.embed(&[query]).await.pop().unwrap_or_default();
        let current = self.current(caller).await?;
        Ok(self.fitting(&caller.scope, &current, (query, &vector), limit).await)
    }

    /// The `current` facts that match a message, best first.
    pub(crate) async fn fitting(
        &self,
        scope: &Scope,
        current: &[Fact],
        (query, vector): (&str, &[f32]),
        limit: usize,
    ) -> Vec<FactHit> {
        if current.is_empty() {
            return Vec::new();
        }
        let index = self
            .indexes
            .get_with(scope.clone(), || Arc::new(Mutex::new(ItemIndex::new(self.calibration))));
        let mut index = index.lock().await;
        self.bring_up_to_date(&mut index, current).await;
        let hits = index.rank(query, vector, limit, &[]);
        drop(index);
        let by_id: HashMap<&str, &Fact> = current.iter().map(|f| (f.id.as_str(), f)).collect();
        let hits = hits.into_iter().filter(|hit| hit.bm25 > 0.0 || hit.score >= MEANING_MIN);
        hits.filter_map(|hit| {
            let fact = Fact::clone(by_id.get(hit.id.as_str())?);
            Some(FactHit { fact, score: hit.score })
        })
        .collect()
    }

    /// Vectors of `texts`; empty if the embedder fails, so that words alone decide.
    async fn embed(&self, texts: &[&str]) -> Vec<Vec<f32>> {
        self.embedder.embed(texts).await.unwrap_or_else(|error| {
            tracing::warn!(embedder = self.embedder.name(), %error, "embedding failed; facts are searched by words only");
            vec![Vec::new(); texts.len()]
        })
    }

    async fn bring_up_to_date(&self, index: &mut ItemIndex, facts: &[Fact]) {
        let present: HashSet<&str> = facts.iter().map(|fact| fact.id.as_str()).collect();
        let gone: Vec<String> =
            index.ids().filter(|id| !present.contains(id)).map(str::to_owned).collect();
        for id in gone {
            index.remove(&id);
        }
        let new: Vec<(&Fact, ContentHash)> = facts
            .iter()
            .map(|fact| (fact, ContentHash::of(&fact.text)))
            .filter(|(fact, hash)| !index.holds(&fact.id, hash.as_str()))
            .collect();
        let texts: Vec<&str> = new.iter().map(|(fact, _)| fact.text.as_str()).collect();
        if texts.is_empty() {
            return;
        }
        let vectors = self.embed(&texts).await;
        for ((fact, hash), vector) in new.iter().zip(vectors) {
            index.upsert(&fact.id, &fact.text, &vector, hash.as_str());
        }
    }
}

impl FactFilter {
    fn admits(&self, fact: &Fact) -> bool {
        let subject = self.subject.as_ref().map(|subject| subject_key(&comparable(subject)));
        (self.with_superseded || fact.superseded_by.is_none())
            && self.kind.is_none_or(|kind| fact.kind == kind)
            && subject.is_none_or(|key| fact.subject.as_deref().map(subject_key) == Some(key))
            && self.session.as_ref().is_none_or(|session| {
                fact.source.as_ref().is_some_and(|source| source.session == *session)
            })
    }
}

fn check_limit(limit: usize) -> Result<()> {
    if (1..=ANSWER_MAX).contains(&limit) {
        return Ok(());
    }
    Err(Error::invalid("limit", format!("{limit} is outside 1-{ANSWER_MAX}")))
}
