//! All facts of a user in memory, as of one version of the user's marker.
//!
//! Invariant: if a crashed or concurrent writer left several facts about one subject current, a newer one supersedes
//! the one before it here, unless it is trusted less.

use std::sync::Arc;

use crate::store::Version;

use super::Fact;
use super::plan::settle;

/// The facts of a user when the marker was at `mark`.
pub(super) struct Book {
    pub mark: Option<Version>,
    /// Every fact as stored, with the version of its thread.
    pub stored: Vec<(Version, Arc<Fact>)>,
    /// Most recently changed first.
    all: Vec<Arc<Fact>>,
    pub current: Arc<Vec<Fact>>,
}

impl Book {
    pub(super) fn new(mark: Option<Version>, stored: Vec<(Version, Arc<Fact>)>) -> Self {
        let mut all: Vec<Arc<Fact>> = stored.iter().map(|(_, fact)| fact.clone()).collect();
        settle(&mut all);
        let current = all.iter().filter(|fact| fact.superseded_by.is_none());
        let current = Arc::new(current.map(|fact| Fact::clone(fact)).collect());
        Self { mark, stored, all, current }
    }

    pub(super) fn facts(&self) -> impl Iterator<Item = &Fact> {
        self.all.iter().map(Arc::as_ref)
    }

    pub(super) fn find(&self, id: &str) -> Option<&Fact> {
        self.facts().find(|fact| fact.id == id)
    }

    pub(super) fn bytes(&self) -> usize {
        let texts = |fact: &Fact| {
            let sentence = fact.source.as_ref().map_or(0, |source| source.sentence.len());
            size_of::<Fact>() + fact.text.len() + sentence + 100
        };
        size_of::<Self>() + 2 * self.facts().map(texts).sum::<usize>()
    }
}
