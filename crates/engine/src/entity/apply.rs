//! Adds noticed and harvested entities to the session's memory.
//!
//! Only confident mentions are stored. Entities that drop out of the head are returned, so that nothing is lost
//! silently.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::harvest::Harvest;
use super::limits::*;
use super::mention::{Correction, Mention, Noticed};
use super::record::{ActionAt, Entity, EntityRef, MentionContext, bounded};
use super::trust::{Origin, Trust, add_origin};
use super::{Entities, KnownEntities};
use crate::pack::{Action, ENTITY_ALIASES_MAX, PackSet};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    pub turn: u64,
    pub now: Timestamp,
}

impl Entities {
    /// Adds what was noticed in `message`; returns entities that left the head.
    pub fn apply_noticed(
        &mut self,
        noticed: &Noticed,
        message: &str,
        known: &mut KnownEntities,
        packs: &PackSet,
        at: Moment,
    ) -> Vec<Entity> {
        let mut spoken: Vec<EntityRef> = Vec::new();
        for mention in noticed.mentions.iter().filter(|mention| mention.is_sure()) {
            let target = mention.target();
            let again = spoken.iter().any(|earlier| earlier.is(&target));
            let mut entity = self.bring(&target, known, at.now);
            if !again {
                record_mention(&mut entity, mention, message, at);
                spoken.push(entity.entity.clone());
            }
            if mention.how.names_it() {
                let from = "message".to_owned();
                let origin = Origin { trust: Trust::User, from, turn: at.turn };
                add_origin(&mut entity.origins, origin);
            }
            self.keep(entity, known, packs);
        }
        if let Some(topic) = &noticed.topic {
            if let Some(main) = &topic.entity {
                spoken.sort_by_key(|entity| !entity.is(main));
            }
            self.topic = Some(topic.clone());
        }
        if let Some(ambiguity) = noticed.ambiguous.first() {
            (self.asked, self.asked_turn) = (ambiguity.candidates.clone(), at.turn);
        }
        self.focus_on(at.turn, spoken);
        if let Some(correction) = &noticed.correction {
            self.correct(correction, at.turn);
        }
        self.prune(packs, at.now)
    }

    /// Adds what a tool returned; returns entities that left the head.
    pub fn apply_harvest(
        &mut self,
        harvest: &Harvest,
        known: &mut KnownEntities,
        packs: &PackSet,
        at: Moment,
    ) -> Vec<Entity> {
        self.part_with_the_ambiguous(harvest, known);
        for found in &harvest.entities {
            let mut entity = self.bring(&found.entity, known, at.now);
            merge(&mut entity, found, at.turn);
            self.keep(entity, known, packs);
        }
        if !harvest.listed.is_empty() {
            self.list(at.turn, harvest.listed.clone());
        }
        if let [single] = harvest.listed.as_slice() {
            self.focus_after_mentions(at.turn, single.clone());
        }
        self.prune(packs, at.now)
    }

    /// Removes an entity everywhere; returns whether it was known.
    pub fn forget(&mut self, entity: &EntityRef, known: &mut KnownEntities) -> bool {
        let was_known = known.forget(entity).is_some();
        let before = self.tracked.len();
        self.tracked.retain(|tracked| !tracked.entity.is(entity));
        for tracked in &mut self.tracked {
            tracked.relations.retain(|relation| !relation.to.is(entity));
        }
        self.last_listed.retain(|listed| !listed.is(entity));
        self.asked.retain(|asked| !asked.is(entity));
        for focus in &mut self.focus {
            focus.refs.retain(|spoken| !spoken.is(entity));
        }
        self.focus.retain(|focus| !focus.refs.is_empty());
        let about = self.topic.as_ref().and_then(|topic| topic.entity.as_ref());
        if about.is_some_and(|about| about.is(entity)) {
            self.topic = None;
        }
        was_known || self.tracked.len() < before
    }

    /// Removes what only the erased `turns` mentioned; `is_said` tells whether another turn has a name. Data from
    /// tools is dropped whatever its turn; it is looked up again.
    pub fn forget_turns(&mut self, turns: &BTreeSet<u64>, is_said: impl Fn(&str) -> bool) {
        let stays = |entity: &EntityRef| is_said(entity.label());
        self.tracked.retain(|tracked| stays(&tracked.entity));
        for tracked in &mut self.tracked {
            let Entity { entity, slug, url, data, data_expires_at, .. } = tracked;
            tracked.mention_contexts.retain(|context| !turns.contains(&context.turn));
            tracked.relations.retain(|relation| stays(&relation.to));
            tracked.aliases.retain(|alias| entity.name.contains(alias) || is_said(alias));
            (*slug, *url, *data_expires_at) = (None, None, None);
            data.clear();
        }
        self.last_listed.retain(stays);
        self.asked.retain(stays);
        for focus in &mut self.focus {
            focus.refs.retain(stays);
        }
        self.focus.retain(|focus| !turns.contains(&focus.turn) && !focus.refs.is_empty());
        self.topic = self.topic.take().filter(|topic| topic.entity.as_ref().is_none_or(stays));
        self.forgotten.retain(|gone| stays(&gone.entity));
    }

    /// Replaces what was understood by what was meant, and puts it in focus.
    pub fn correct(&mut self, correction: &Correction, turn: u64) {
        if let Some(wrong) = &correction.wrong {
            for focus in &mut self.focus {
                focus.refs.retain(|spoken| !spoken.is(wrong));
            }
            self.focus.retain(|focus| !focus.refs.is_empty());
            if let Some(tracked) = self.tracked.iter_mut().find(|known| known.entity.is(wrong)) {
                tracked.mention_count = tracked.mention_count.saturating_sub(1);
            }
        }
        if let Some(right) = &correction.right {
            self.focus_on(turn, vec![right.clone()]);
        }
    }

    /// A name without an id that turns out to match several entities meant none of them for certain, so it is
    /// dropped instead of being assigned to the first.
    fn part_with_the_ambiguous(&mut self, harvest: &Harvest, known: &mut KnownEntities) {
        let without_id = self.tracked.iter().filter(|tracked| tracked.entity.id.is_none());
        let fits = |entity: &EntityRef| {
            let same = |found: &&Entity| found.entity.id.is_some() && found.entity.is(entity);
            harvest.entities.iter().filter(same).count()
        };
        let ambiguous: Vec<EntityRef> = without_id
            .map(|tracked| &tracked.entity)
            .filter(|entity| fits(entity) > 1)
            .cloned()
            .collect();
        for entity in ambiguous {
            known.forget(&entity);
            self.tracked.retain(|tracked| tracked.entity != entity);
            for focus in &mut self.focus {
                focus.refs.retain(|spoken| *spoken != entity);
            }
        }
        self.focus.retain(|focus| !focus.refs.is_empty());
    }

    /// The entity as tracked, as known, or new.
    fn bring(&mut self, entity: &EntityRef, known: &KnownEntities, now: Timestamp) -> Entity {
        let tracked = self.tracked.iter().position(|tracked| tracked.entity.is(entity));
        match tracked {
            Some(index) => self.tracked.swap_remove(index),
            None => match known.get(entity) {
                Some(known) => known.clone(),
                None => Entity::new(entity.clone(), now),
            },
        }
    }

    fn keep(&mut self, mut entity: Entity, known: &mut KnownEntities, packs: &PackSet) {
        add_aliases(&mut entity, packs);
        known.learn(entity.clone());
        self.tracked.push(entity);
    }

    /// A single result becomes the focus, unless the turn named an entity of that type.
    fn focus_after_mentions(&mut self, turn: u64, single: EntityRef) {
        let spoken = self.focus.first().filter(|focus| focus.turn == turn);
        let named =
            spoken.is_some_and(|focus| focus.refs.iter().any(|one| one.kind == single.kind));
        if !named {
            self.focus_on(turn, vec![single]);
        }
    }
}

/// Adds the aliases that the pack derives from the name.
pub fn add_aliases(entity: &mut Entity, packs: &PackSet) {
    for alias in packs.aliases(&entity.entity.kind, &entity.entity.name) {
        if entity.aliases.len() < ENTITY_ALIASES_MAX && !entity.aliases.contains(&alias) {
            entity.aliases.push(alias);
        }
    }
}

fn record_mention(entity: &mut Entity, mention: &Mention, message: &str, at: Moment) {
    entity.last_mentioned = at.now.max(entity.last_mentioned);
    entity.mention_count += 1;
    if entity.entity.name.is_empty() {
        entity.entity.name.clone_from(&mention.name);
    }
    entity.mention_contexts.push(MentionContext { turn: at.turn, text: around(message, mention) });
    let surplus = entity.mention_contexts.len().saturating_sub(CONTEXTS_MAX);
    entity.mention_contexts.drain(..surplus);
    act(entity, Action::Discussed, at.now);
}

fn act(entity: &mut Entity, action: Action, mentioned_at: Timestamp) {
    match entity.actions.last_mut() {
        Some(last) if last.action == action => last.mentioned_at = mentioned_at,
        _ => entity.actions.push(ActionAt { action, mentioned_at }),
    }
    let surplus = entity.actions.len().saturating_sub(ACTIONS_MAX);
    entity.actions.drain(..surplus);
}

fn around(message: &str, mention: &Mention) -> String {
    let half = CONTEXT_CHARACTERS_MAX / 2;
    let before = message[..mention.span.start].char_indices().rev().take(half).last();
    let start = before.map_or(mention.span.start, |(at, _)| at);
    bounded(&message[start..], CONTEXT_CHARACTERS_MAX)
}

/// A known entity merged with what a tool returned.
pub fn with_found(known: Option<&Entity>, found: &Entity, turn: u64) -> Entity {
    let Some(known) = known else { return found.clone() };
    let mut entity = known.clone();
    merge(&mut entity, found, turn);
    entity
}

/// Merges a tool's data; its id, address and data replace older ones.
fn merge(entity: &mut Entity, found: &Entity, turn: u64) {
    if found.entity.id.is_some() {
        entity.entity.id.clone_from(&found.entity.id);
    }
    if !found.entity.name.is_empty() {
        entity.entity.name.clone_from(&found.entity.name);
    }
    if found.slug.is_some() {
        entity.slug.clone_from(&found.slug);
    }
    if found.url.is_some() {
        entity.url.clone_from(&found.url);
    }
    if !found.data.is_empty() {
        entity.data.clone_from(&found.data);
        entity.data_expires_at = found.data_expires_at;
    }
    entity.last_mentioned = entity.last_mentioned.max(found.last_mentioned);
    for relation in &found.relations {
        entity.relate(relation.clone());
    }
    for alias in &found.aliases {
        if entity.aliases.len() < ENTITY_ALIASES_MAX && !entity.aliases.contains(alias) {
            entity.aliases.push(alias.clone());
        }
    }
    for entry in &found.actions {
        act(entity, entry.action, entry.mentioned_at);
    }
    for origin in &found.origins {
        add_origin(&mut entity.origins, Origin { turn, ..origin.clone() });
    }
}
