//! The relevance score of an entity.

use jiff::Timestamp;

use super::record::Entity;
use crate::pack::PackSet;

const SECONDS_A_DAY: f64 = 86_400.0;

/// Recency, frequency, connections and the type's own weight:
/// `max(0, 10 − days) + 2·ln(mentions + 1) + 0.5·relations + bonus`.
pub fn relevance(entity: &Entity, packs: &PackSet, now: Timestamp) -> f64 {
    let days = now.duration_since(entity.last_mentioned).as_secs_f64() / SECONDS_A_DAY;
    let recency = (10.0 - days.max(0.0)).max(0.0);
    let mentions = 2.0 * f64::from(entity.mention_count + 1).ln();
    #[expect(clippy::cast_precision_loss, reason = "RELATIONS_MAX is small")]
    let relations = 0.5 * entity.relations.len() as f64;
    recency + mentions + relations + packs.bonus(&entity.entity.kind)
}
