//! References with their aliases, and search among them.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::known::phrase_of;
use super::record::{Entity, EntityRef};
use super::{Entities, KnownEntities};
use crate::pack::{Action, Kind};

/// Maximum entities considered per word of a search, which bounds the cost of common words.
const POSTINGS_MAX: usize = 2000;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reference {
    /// Its id, or its slug or name if unknown.
    pub spec_id: String,
    pub name: String,
    pub mentioned_at: Timestamp,
    /// The last action that changed it, else discussed.
    pub action: Action,
    pub aliases: Vec<String>,
}

impl From<&Entity> for Reference {
    fn from(entity: &Entity) -> Self {
        let id = entity.entity.id.clone().or_else(|| entity.slug.clone());
        Self {
            spec_id: id.unwrap_or_else(|| entity.entity.name.clone()),
            name: entity.entity.label().to_owned(),
            mentioned_at: entity.last_mentioned,
            action: entity.action(),
            aliases: entity.aliases.clone(),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    pub entity: EntityRef,
    /// How well it matches, 0–1; 1 is its full name or an alias.
    pub score: f64,
}

impl Entities {
    /// References in the head, latest first; optionally of one type.
    pub fn references(&self, kind: Option<&Kind>) -> Vec<Reference> {
        latest_first(self.tracked.iter(), kind)
    }
}

impl KnownEntities {
    /// All references, latest first; optionally of one type.
    pub fn references(&self, kind: Option<&Kind>) -> Vec<Reference> {
        latest_first(self.iter(), kind)
    }

    /// Entities whose name or alias equals `query` or shares words with it, best first.
    pub fn find(&self, query: &str, kind: Option<&Kind>, max: usize) -> Vec<Found> {
        let phrase = phrase_of(query);
        let fits = |entity: &Entity| kind.is_none_or(|kind| entity.entity.kind == *kind);
        let exact = self.under(&phrase).into_iter().map(|(entity, _)| entity);
        let mut found: Vec<Found> = exact
            .filter(|entity| fits(entity))
            .take(max)
            .map(|entity| Found { entity: entity.entity.clone(), score: 1.0 })
            .collect();
        if found.is_empty() {
            found = self.sharing_words(&phrase, &fits, max);
        }
        found
    }

    fn sharing_words(
        &self,
        phrase: &str,
        fits: &dyn Fn(&Entity) -> bool,
        max: usize,
    ) -> Vec<Found> {
        let mut words: Vec<(&str, &[u32])> = phrase
            .split(' ')
            .filter_map(|word| Some((word, self.words.get(word)?.as_slice())))
            .collect();
        words.sort_by_key(|(_, slots)| slots.len());
        let asked = phrase.split(' ').count();
        let mut shared: std::collections::HashMap<u32, usize> = std::collections::HashMap::new();
        for (_, slots) in &words {
            for slot in slots.iter().take(POSTINGS_MAX) {
                *shared.entry(*slot).or_default() += 1;
            }
        }
        let mut found: Vec<(f64, &EntityRef)> = shared
            .into_iter()
            .filter_map(|(slot, shared)| {
                let entity = self.at(slot).filter(|entity| fits(entity))?;
                let own = entity.entity.name.split_whitespace().count();
                #[expect(clippy::cast_precision_loss, reason = "a handful of words")]
                let score = shared.min(asked) as f64 / asked.max(own).max(1) as f64;
                Some((score.min(0.99), &entity.entity))
            })
            .collect();
        let best_first = |one: &(f64, &EntityRef), two: &(f64, &EntityRef)| {
            two.0.total_cmp(&one.0).then_with(|| one.1.name.cmp(&two.1.name))
        };
        if found.len() > max && max > 0 {
            found.select_nth_unstable_by(max - 1, best_first);
        }
        found.truncate(max);
        found.sort_by(best_first);
        found.into_iter().map(|(score, entity)| Found { entity: entity.clone(), score }).collect()
    }
}

fn latest_first<'a>(
    entities: impl Iterator<Item = &'a Entity>,
    kind: Option<&Kind>,
) -> Vec<Reference> {
    let fits = |entity: &&Entity| kind.is_none_or(|kind| entity.entity.kind == *kind);
    let mut references: Vec<Reference> = entities.filter(fits).map(Reference::from).collect();
    references.sort_by_key(|reference| std::cmp::Reverse(reference.mentioned_at));
    references
}
