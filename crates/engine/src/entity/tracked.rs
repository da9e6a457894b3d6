//! The entities in a session's head, and when they were last mentioned.
//!
//! Everything here is stored with the head, so it is small: the most relevant entities, and references of the
//! last turns and of the last list. What drops out can be found with [`super::KnownEntities`] and rebuilt from
//! the log.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::KnownEntities;
use super::limits::*;
use super::mention::Topic;
use super::record::{Entity, EntityRef};
use super::relevance::relevance;
use crate::pack::PackSet;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Entities {
    /// The most relevant ones, unordered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tracked: Vec<Entity>,
    /// The last list shown, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub last_listed: Vec<EntityRef>,
    #[serde(default)]
    pub listed_turn: u64,
    /// The candidates of the last question to the user, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asked: Vec<EntityRef>,
    #[serde(default)]
    pub asked_turn: u64,
    /// What the last turns mentioned, newest first, the main entity of a turn first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub focus: Vec<Focus>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<Topic>,
    /// What the user wanted forgotten; it is not restored from the log.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forgotten: Vec<Forgotten>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forgotten {
    #[serde(flatten)]
    pub entity: EntityRef,
    /// The turn of the request; later mentions count again.
    pub turn: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Focus {
    pub turn: u64,
    /// The main one first.
    pub refs: Vec<EntityRef>,
}

impl Entities {
    /// Whether what that turn says about an entity was forgotten.
    pub fn has_forgotten(&self, entity: &EntityRef, turn: u64) -> bool {
        self.forgotten.iter().any(|gone| turn <= gone.turn && gone.entity.is(entity))
    }

    pub fn get(&self, entity: &EntityRef) -> Option<&Entity> {
        self.tracked.iter().find(|tracked| tracked.entity.is(entity))
    }

    /// The best record of an entity: as tracked, unless only the index knows its id.
    pub fn best<'a>(&'a self, entity: &EntityRef, known: &'a KnownEntities) -> Option<&'a Entity> {
        let tracked = self.get(entity);
        match tracked.filter(|tracked| tracked.entity.id.is_some()) {
            Some(tracked) => Some(tracked),
            None => known.get(entity).or(tracked),
        }
    }

    /// Tracked entities with their relevance, most relevant first.
    pub fn by_relevance(&self, packs: &PackSet, now: Timestamp) -> Vec<(&Entity, f64)> {
        let mut scored: Vec<_> =
            self.tracked.iter().map(|entity| (entity, relevance(entity, packs, now))).collect();
        scored.sort_by(|(one, a), (two, b)| {
            b.total_cmp(a).then_with(|| one.entity.label().cmp(two.entity.label()))
        });
        scored
    }

    /// What the latest turns mentioned, newest first, without repeats.
    pub fn active(&self) -> Vec<&EntityRef> {
        let mut active: Vec<&EntityRef> = Vec::new();
        for entity in self.focus.iter().flat_map(|focus| &focus.refs) {
            if !active.iter().any(|known| known.is(entity)) {
                active.push(entity);
            }
        }
        active
    }

    /// Keeps the most relevant entities and returns the others for the log. What the last turns mentioned stays,
    /// however many things a tool listed since.
    pub(super) fn prune(&mut self, packs: &PackSet, now: Timestamp) -> Vec<Entity> {
        if self.tracked.len() <= HEAD_ENTITIES_MAX {
            return Vec::new();
        }
        let spoken: Vec<EntityRef> =
            self.active().into_iter().take(HEAD_ENTITIES_MAX / 2).cloned().collect();
        let is_spoken = |entity: &EntityRef| spoken.iter().any(|one| one.is(entity));
        let mut scored: Vec<(f64, Entity)> = std::mem::take(&mut self.tracked)
            .into_iter()
            .map(|entity| {
                let score = if is_spoken(&entity.entity) { f64::INFINITY } else { 0.0 };
                (score + relevance(&entity, packs, now), entity)
            })
            .collect();
        scored.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        let dropped = scored.split_off(HEAD_ENTITIES_MAX);
        self.tracked = scored.into_iter().map(|(_, entity)| entity).collect();
        dropped.into_iter().map(|(_, entity)| entity).collect()
    }

    /// Adds what a turn mentioned, before what it already mentioned.
    pub(super) fn focus_on(&mut self, turn: u64, refs: Vec<EntityRef>) {
        if refs.is_empty() {
            return;
        }
        match self.focus.first_mut() {
            Some(focus) if focus.turn == turn => {
                focus.refs.retain(|old| !refs.iter().any(|new| new.is(old)));
                focus.refs.splice(0..0, refs);
            }
            _ => self.focus.insert(0, Focus { turn, refs }),
        }
        self.focus[0].refs.truncate(FOCUS_REFS_MAX);
        self.focus.truncate(FOCUS_TURNS_MAX);
    }

    /// Puts an entity into focus, so that "it" refers to it.
    pub fn speak_of(&mut self, entity: EntityRef, turn: u64) {
        self.focus_on(turn, vec![entity]);
    }

    /// Stores a list that was shown.
    pub(super) fn list(&mut self, turn: u64, mut listed: Vec<EntityRef>) {
        listed.truncate(LISTED_MAX);
        self.last_listed = listed;
        self.listed_turn = turn;
    }
}
