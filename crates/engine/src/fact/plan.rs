//! Plans the addition of facts: which are new, known, or superseded.
//!
//! A pure function. A newer statement about the same subject supersedes an older one unless it is trusted less:
//! what a model extracted or an import contained never replaces a person's own words. Then both stay, and the
//! result names the contradiction.
//!
//! Invariant: after a plan, at most one fact about a subject is a person's and current, and at most one a model's or
//! an import's.

use std::collections::HashMap;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::limits::Limits;

use super::draft::comparable;
use super::gather::subject_key;
use super::{Fact, Trust};

/// The result of adding a fact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddedFact {
    /// The fact as stored.
    pub fact: Fact,
    /// Whether it existed already.
    pub known: bool,
    pub superseded: Vec<Fact>,
    /// Facts about the same subject that differ and are trusted more.
    pub contradicts: Vec<Fact>,
}

#[derive(Debug, Default)]
pub(super) struct Plan {
    pub added: Vec<AddedFact>,
    /// New facts, possibly superseded within the plan.
    pub new: Vec<Fact>,
    /// Ids of existing facts that are now superseded, and by which.
    pub superseded: Vec<(String, String)>,
    /// Facts confirmed by a person: their trust rises.
    pub confirmed: Vec<(String, Trust)>,
}

impl Plan {
    /// Plans adding `wanted`, each with a fresh id, to `existing`.
    pub(super) fn of(existing: &[Fact], wanted: Vec<Fact>, limits: &Limits) -> Result<Self> {
        let mut plan = Self::default();
        let mut texts: HashMap<String, Fact> = HashMap::new();
        let mut subjects: HashMap<String, Vec<Fact>> = HashMap::new();
        for fact in existing.iter().filter(|fact| fact.superseded_by.is_none()) {
            texts.insert(comparable(&fact.text), fact.clone());
            if let Some(subject) = &fact.subject {
                subjects.entry(subject_key(subject)).or_default().push(fact.clone());
            }
        }
        for fact in wanted {
            // A fact that is already superseded is history and competes with nothing.
            if fact.superseded_by.is_some() {
                plan.new.push(fact.clone());
                plan.added.push(AddedFact::new(fact));
                continue;
            }
            if let Some(known) = texts.get(&comparable(&fact.text)) {
                plan.know(known.clone(), &fact);
                continue;
            }
            let mut added = AddedFact::new(fact.clone());
            if let Some(subject) = &fact.subject {
                let rivals = std::mem::take(subjects.entry(subject_key(subject)).or_default());
                let (older, stronger): (Vec<Fact>, Vec<Fact>) =
                    rivals.into_iter().partition(|rival| may_replace(&fact, rival));
                for rival in &older {
                    texts.remove(&comparable(&rival.text));
                    plan.supersede(&rival.id, &fact.id);
                }
                subjects
                    .insert(subject_key(subject), [stronger.clone(), vec![fact.clone()]].concat());
                (added.superseded, added.contradicts) = (older, stronger);
            }
            texts.insert(comparable(&fact.text), fact.clone());
            plan.new.push(fact);
            plan.added.push(added);
        }
        plan.check_room(existing.len(), limits)?;
        Ok(plan)
    }

    fn know(&mut self, mut known: Fact, told: &Fact) {
        if weight(told.trust) > weight(known.trust) {
            known.trust = told.trust;
            match self.new.iter_mut().find(|new| new.id == known.id) {
                Some(new) => new.trust = told.trust,
                None => self.confirmed.push((known.id.clone(), told.trust)),
            }
        }
        self.added.push(AddedFact { known: true, ..AddedFact::new(known) });
    }

    fn supersede(&mut self, old: &str, by: &str) {
        match self.new.iter_mut().find(|new| new.id == old) {
            Some(new) => new.superseded_by = Some(by.to_owned()),
            None => self.superseded.push((old.to_owned(), by.to_owned())),
        }
    }

    fn check_room(&self, existing: usize, limits: &Limits) -> Result<()> {
        let size = existing + self.new.len();
        if self.new.is_empty() || size <= limits.facts_max {
            return Ok(());
        }
        Err(Error::OverLimit {
            what: "the number of memories".into(),
            size: size as u64,
            limit: "facts_max",
            allowed: limits.facts_max as u64,
        })
    }
}

impl AddedFact {
    fn new(fact: Fact) -> Self {
        Self { fact, known: false, superseded: Vec::new(), contradicts: Vec::new() }
    }
}

/// Marks, in memory, what a crashed or concurrent writer left unmarked: a fact about one subject that a newer one may
/// replace is superseded.
pub(super) fn settle(facts: &mut [Arc<Fact>]) {
    let mut standing: HashMap<String, usize> = HashMap::new();
    let mut order: Vec<usize> = (0..facts.len()).collect();
    order.sort_by(|a, b| age(&facts[*a]).cmp(&age(&facts[*b])));
    for at in order {
        let Some(subject) = facts[at].subject.as_deref().map(subject_key) else { continue };
        if facts[at].superseded_by.is_some() {
            continue;
        }
        match standing.get(&subject).copied() {
            Some(older) if may_replace(&facts[at], &facts[older]) => {
                let id = facts[at].id.clone();
                Arc::make_mut(&mut facts[older]).superseded_by = Some(id);
                standing.insert(subject, at);
            }
            Some(_) => {}
            None => {
                standing.insert(subject, at);
            }
        }
    }
}

fn age(fact: &Fact) -> (jiff::Timestamp, &str) {
    (fact.changed_at, &fact.id)
}

/// Whether a newer fact about the same subject may supersede an older one.
pub(super) fn may_replace(newer: &Fact, older: &Fact) -> bool {
    weight(newer.trust) >= weight(older.trust)
}

fn weight(trust: Trust) -> u8 {
    match trust {
        Trust::Told | Trust::Said => 1,
        Trust::Model | Trust::Imported => 0,
    }
}
