//! Describes entities for a prompt.
//!
//! Each entity is one line of data: names and values are quoted, bounded and on one line, with their origin.
//! [`usage`] tells the model how to use them. The caller decides what fits the prompt.

use std::fmt::Write as _;

use jiff::Timestamp;

use super::mention::Noticed;
use super::record::{Entity, EntityRef, RelationKind};
use super::relevance::relevance;
use super::trust::Trust;
use super::{Entities, KnownEntities};
use crate::pack::PackSet;

/// Maximum relations per line.
const TOLD_RELATIONS_MAX: usize = 8;
/// Maximum fields per line.
const TOLD_FIELDS_MAX: usize = 8;
/// Score bonus for being mentioned in the message, and for being related to that.
const MENTIONED: f64 = 100.0;
const RELATED: f64 = 20.0;

#[derive(Debug, Clone, PartialEq)]
pub struct EntityNote {
    pub entity: EntityRef,
    pub text: String,
    /// Higher is more relevant.
    pub score: f64,
    pub bearing: Relevance,
    /// The lowest trust of its sources.
    pub trust: Trust,
}

/// The relation of an entity to a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Relevance {
    None,
    /// Mentioned in the previous turn, or related to what the message refers to.
    Near,
    /// The message refers to it.
    Meant,
}

/// The entities to describe for a message, best first, at most `max`.
pub fn recall(
    entities: &Entities,
    known: &KnownEntities,
    noticed: &Noticed,
    packs: &PackSet,
    now: Timestamp,
    max: usize,
) -> Vec<EntityNote> {
    let meant: Vec<EntityRef> = noticed.mentions.iter().map(super::Mention::target).collect();
    let is_meant = |entity: &EntityRef| meant.iter().any(|one| one.is(entity));
    let from_index = meant.iter().filter(|entity| entities.get(entity).is_none());
    let from_index = from_index.filter_map(|entity| known.get(entity));
    let mut told: Vec<&Entity> = Vec::new();
    let tracked = entities.tracked.iter();
    let tracked = tracked.map(|one| entities.best(&one.entity, known).unwrap_or(one));
    for entity in tracked.chain(from_index) {
        if !told.iter().any(|other| other.entity.is(&entity.entity)) {
            told.push(entity);
        }
    }
    // A message that refers to nothing is not about what was spoken of before it.
    let refers = !meant.is_empty()
        || !noticed.references.is_empty()
        || !noticed.asked_about.is_empty()
        || !noticed.guesses.is_empty()
        || noticed.correction.is_some();
    let mut notes: Vec<EntityNote> = told
        .into_iter()
        .map(|entity| {
            let related = entity.relations.iter().any(|relation| is_meant(&relation.to));
            let in_focus = refers
                && entities
                    .focus
                    .first()
                    .is_some_and(|focus| focus.refs.iter().any(|one| one.is(&entity.entity)));
            let bearing = match (is_meant(&entity.entity), related || in_focus) {
                (true, _) => Relevance::Meant,
                (false, true) => Relevance::Near,
                (false, false) => Relevance::None,
            };
            let mut score = relevance(entity, packs, now);
            score += match bearing {
                Relevance::Meant => MENTIONED,
                Relevance::Near => RELATED,
                Relevance::None => 0.0,
            };
            let (text, trust) = (line(entity, now), entity.trust());
            EntityNote { entity: entity.entity.clone(), text, score, bearing, trust }
        })
        .collect();
    notes.sort_by(|one, two| {
        two.score.total_cmp(&one.score).then_with(|| one.entity.label().cmp(two.entity.label()))
    });
    notes.truncate(max);
    notes
}

/// Instructions for using the lines of [`recall`].
pub fn usage() -> &'static str {
    include_str!("../../prompts/entities.md").trim_end()
}

/// The same for a request without tools.
pub fn usage_without_tools() -> &'static str {
    include_str!("../../prompts/entities_without_tools.md").trim_end()
}

fn line(entity: &Entity, now: Timestamp) -> String {
    let mut line = format!("{} {}", entity.entity.kind, quoted(entity.entity.label()));
    if let Some(id) = entity.entity.id.as_ref().filter(|_| !entity.entity.name.is_empty()) {
        let _ = write!(line, " id={}", quoted(id));
    }
    let fields = entity.fresh_data(now).into_iter().flatten().take(TOLD_FIELDS_MAX);
    let fields: Vec<String> =
        fields.map(|(key, value)| format!("{}={value}", key_shown(key))).collect();
    if !fields.is_empty() {
        let _ = write!(line, "; details: {}", fields.join(", "));
    }
    let relations = entity.relations.iter().take(TOLD_RELATIONS_MAX);
    let relations: Vec<String> = relations
        .map(|relation| {
            let stands = match relation.relation {
                RelationKind::Parent => "in",
                RelationKind::Child => "has",
                RelationKind::Related => "with",
            };
            format!("{stands} {} {}", relation.to.kind, quoted(relation.to.label()))
        })
        .collect();
    if !relations.is_empty() {
        let _ = write!(line, "; related: {}", relations.join(", "));
    }
    let from: Vec<String> = entity.origins.iter().map(|origin| quoted(&origin.from)).collect();
    if !from.is_empty() {
        let _ = write!(line, "; from {}", from.join(" and "));
    }
    line
}

/// A plain identifier as is; anything else quoted like a value.
fn key_shown(key: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    if key.bytes().all(plain) { key.to_owned() } else { quoted(key) }
}

/// Text as a JSON string, which it cannot end.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
