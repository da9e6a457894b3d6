//! Index of all entities a session knows, by name, alias, id or spelling.
//!
//! Built from the head and the log and held in memory only. The head has the most relevant ones
//! ([`super::Entities`]).
//!
//! Invariant: a search takes a few hash look-ups, whatever the number of entities.

use std::collections::{HashMap, HashSet};

use super::limits::{KNOWN_ENTITIES_MAX, NAME_WORDS_MAX};
use super::record::{Entity, EntityRef};
use super::spelling::Spellings;
use super::token;
use crate::pack::Kind;

#[derive(Debug, Clone, Default)]
pub struct KnownEntities {
    slots: Vec<Option<Entity>>,
    phrases: HashMap<String, Vec<Filed>>,
    /// The maximum number of words of a phrase starting with this word.
    longest: HashMap<String, usize>,
    ids: HashMap<String, Vec<u32>>,
    pub(super) words: HashMap<String, Vec<u32>>,
    pub(super) spellings: Spellings,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Filed {
    pub slot: u32,
    pub is_alias: bool,
}

impl KnownEntities {
    pub fn new() -> Self {
        Self::default()
    }

    /// An index of these entities; a later duplicate replaces an earlier one.
    pub fn of(entities: impl IntoIterator<Item = Entity>) -> Self {
        let mut known = Self::new();
        for entity in entities {
            known.learn(entity);
        }
        known
    }

    pub fn len(&self) -> usize {
        self.slots.iter().flatten().count()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All entities in the order they were added.
    pub fn iter(&self) -> impl Iterator<Item = &Entity> {
        self.slots.iter().flatten()
    }

    /// Adds an entity or replaces an equal one. Ignored when the limit is reached.
    pub fn learn(&mut self, entity: Entity) {
        let slot = match self.slot_of(&entity.entity) {
            Some(slot) => slot,
            None if self.slots.len() >= KNOWN_ENTITIES_MAX => return,
            None => {
                self.slots.push(None);
                u32::try_from(self.slots.len() - 1).expect("KNOWN_ENTITIES_MAX fits 32 bits")
            }
        };
        self.file(slot, &entity);
        self.slots[slot as usize] = Some(entity);
    }

    /// Removes an entity and its index entries.
    pub fn forget(&mut self, entity: &EntityRef) -> Option<Entity> {
        let slot = self.slot_of(entity)?;
        let removed = self.slots[slot as usize].take()?;
        for (phrase, _) in phrases_of(&removed) {
            if let Some(filed) = self.phrases.get_mut(&phrase) {
                filed.retain(|entry| entry.slot != slot);
            }
            for word in phrase.split(' ') {
                if let Some(filed) = self.words.get_mut(word) {
                    filed.retain(|other| *other != slot);
                }
            }
        }
        if let Some(filed) = removed.entity.id.as_ref().and_then(|id| self.ids.get_mut(id)) {
            filed.retain(|other| *other != slot);
        }
        Some(removed)
    }

    pub fn get(&self, entity: &EntityRef) -> Option<&Entity> {
        self.slot_of(entity).and_then(|slot| self.slots[slot as usize].as_ref())
    }

    pub fn with_id<'a>(&'a self, kind: &'a Kind, id: &str) -> impl Iterator<Item = &'a Entity> {
        let slots = self.ids.get(id).into_iter().flatten();
        slots.filter_map(|slot| self.at(*slot)).filter(move |entity| entity.entity.kind == *kind)
    }

    pub(super) fn at(&self, slot: u32) -> Option<&Entity> {
        self.slots.get(slot as usize)?.as_ref()
    }

    /// The maximum number of words of a known phrase that starts with `word`.
    pub(super) fn words_from(&self, word: &str) -> usize {
        self.longest.get(word).copied().unwrap_or(0)
    }

    /// Entities with a phrase of lower-case words, names before aliases.
    pub(super) fn under(&self, phrase: &str) -> Vec<(&Entity, bool)> {
        let filed = self.phrases.get(phrase).into_iter().flatten();
        let mut found: Vec<_> =
            filed.filter_map(|entry| Some((self.at(entry.slot)?, entry.is_alias))).collect();
        found.sort_by_key(|(_, is_alias)| *is_alias);
        found
    }

    fn slot_of(&self, entity: &EntityRef) -> Option<u32> {
        let by_id = entity.id.as_ref().and_then(|id| self.ids.get(id)).and_then(|slots| {
            let is = |slot: &&u32| self.at(**slot).is_some_and(|known| known.entity.is(entity));
            slots.iter().find(is).copied()
        });
        by_id.or_else(|| {
            let filed = self.phrases.get(&phrase_of(&entity.name))?;
            let is = |entry: &&Filed| {
                !entry.is_alias && self.at(entry.slot).is_some_and(|known| known.entity.is(entity))
            };
            filed.iter().find(is).map(|entry| entry.slot)
        })
    }

    fn file(&mut self, slot: u32, entity: &Entity) {
        let earlier: HashSet<String> = self
            .at(slot)
            .map(|known| phrases_of(known).into_iter().map(|(phrase, _)| phrase).collect())
            .unwrap_or_default();
        for (phrase, is_alias) in phrases_of(entity) {
            if earlier.contains(&phrase) {
                continue;
            }
            let first = phrase.split(' ').next().unwrap_or_default().to_owned();
            let words = phrase.split(' ').count();
            let longest = self.longest.entry(first).or_default();
            *longest = words.max(*longest);
            for word in phrase.split(' ') {
                let filed = self.words.entry(word.to_owned()).or_default();
                if filed.last() != Some(&slot) {
                    filed.push(slot);
                }
            }
            if !is_alias {
                self.spellings.add(&phrase, slot);
            }
            let filed = self.phrases.entry(phrase).or_default();
            if !filed.iter().any(|entry| entry.slot == slot) {
                filed.push(Filed { slot, is_alias });
            }
        }
        if let Some(id) = &entity.entity.id {
            let filed = self.ids.entry(id.clone()).or_default();
            if !filed.contains(&slot) {
                filed.push(slot);
            }
        }
    }
}

/// A normalised name: lower-case words separated by single spaces.
pub(super) fn phrase_of(name: &str) -> String {
    let (words, _) = token::tokens(name);
    let words: Vec<&str> =
        words.iter().take(NAME_WORDS_MAX).map(|word| word.lower.as_str()).collect();
    words.join(" ")
}

/// All phrases of an entity, and whether each is an alias. An id that is not a plain number can be used like a
/// name.
fn phrases_of(entity: &Entity) -> Vec<(String, bool)> {
    let name = [(phrase_of(&entity.entity.name), false)].into_iter();
    let slug = entity.slug.iter().map(|slug| (phrase_of(slug), true));
    let id = entity.entity.id.iter().filter(|id| !id.bytes().all(|byte| byte.is_ascii_digit()));
    let id = id.map(|id| (phrase_of(id), true));
    let aliases = entity.aliases.iter().map(|alias| (phrase_of(alias), true));
    let mut phrases: Vec<(String, bool)> = Vec::new();
    for (phrase, is_alias) in name.chain(slug).chain(id).chain(aliases) {
        if !phrase.is_empty() && !phrases.iter().any(|(known, _)| *known == phrase) {
            phrases.push((phrase, is_alias));
        }
    }
    phrases
}
