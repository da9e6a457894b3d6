//! Ranks rules, references and tools against a message.
//!
//! An item has an id chosen by the caller and a content hash, so that a change re-embeds only that item. Which
//! items are always included is not decided here.
//!
//! An id of three parts, `kind/group/name`, puts the item into a group: tools of one server support each other,
//! because a task that needs one often needs its siblings.
//!
//! Invariant: one entry per id.

use std::collections::HashMap;

use serde_json::Value;

use super::bm25::{Slot, WordIndex};
use super::calibrate::{self, Calibration};
use super::hybrid::{Span, best};
use super::vectors::Vectors;
use super::words::stems;

/// Weight of words for items, whose texts are written to be found.
const ITEM_WORDS_WEIGHT: f32 = 0.5;
/// Higher than for turns: descriptions vary in length for no reason of content.
const LENGTH_PENALTY: f32 = 0.75;
/// Share of its group's score added to an item's own.
const GROUP_SHARE: f32 = 0.3;
/// A group's score is the mean of this many of its best.
const GROUP_BEST: usize = 3;
/// Maximum characters of a parameter's description that are indexed.
const PARAMETER_CHARACTERS_MAX: usize = 200;

#[derive(Debug, Clone, PartialEq)]
pub struct ItemHit {
    pub id: String,
    /// How well it matches, 0–1, on the scale of thresholds.
    pub score: f32,
    pub bm25: f32,
    pub cosine: f32,
}

/// A word that favours tools: a message with `word` favours items whose id, or whose name after the last `/`,
/// starts with `prefix`.
#[derive(Debug, Clone, PartialEq)]
pub struct Steering {
    pub word: String,
    pub prefix: String,
    /// Added to the rank, in which the best match by words and meaning has at most 1.
    pub weight: f32,
}

#[derive(Debug)]
pub struct ItemIndex {
    slots: HashMap<String, Slot>,
    items: Vec<Option<Item>>,
    free: Vec<Slot>,
    groups: HashMap<String, usize>,
    words: WordIndex,
    vectors: Vectors,
    calibration: Calibration,
}

#[derive(Debug, Clone)]
struct Item {
    id: String,
    content_hash: String,
    group: Option<usize>,
}

impl Default for ItemIndex {
    fn default() -> Self {
        Self::new(Calibration::default())
    }
}

impl ItemIndex {
    /// For vectors of the embedder that `calibration` was measured with.
    pub fn new(calibration: Calibration) -> Self {
        Self {
            slots: HashMap::new(),
            items: Vec::new(),
            free: Vec::new(),
            groups: HashMap::new(),
            words: WordIndex::new(LENGTH_PENALTY),
            vectors: Vectors::default(),
            calibration,
        }
    }

    /// Whether the item is indexed with this content, so that it need not be embedded again.
    pub fn holds(&self, id: &str, content_hash: &str) -> bool {
        self.item(id).is_some_and(|item| item.content_hash == content_hash)
    }

    /// Adds or replaces an item. `vector` is that of `text`, or empty.
    pub fn upsert(&mut self, id: &str, text: &str, vector: &[f32], content_hash: &str) {
        let group = self.group_of(id);
        let item = Some(Item { id: id.to_owned(), content_hash: content_hash.to_owned(), group });
        let slot = match (self.slots.get(id), self.free.pop()) {
            (Some(slot), unused) => {
                self.free.extend(unused);
                *slot
            }
            (None, Some(slot)) => slot,
            (None, None) => {
                self.items.push(None);
                self.items.len() as Slot - 1
            }
        };
        self.items[slot as usize] = item;
        self.slots.insert(id.to_owned(), slot);
        self.words.set(slot, &stems(text));
        self.vectors.set(slot, vector);
    }

    pub fn remove(&mut self, id: &str) {
        if let Some(slot) = self.slots.remove(id) {
            self.items[slot as usize] = None;
            self.words.remove(slot);
            self.vectors.remove(slot);
            self.free.push(slot);
        }
    }

    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.slots.keys().map(String::as_str)
    }

    pub fn len(&self) -> usize {
        self.slots.len()
    }

    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Bytes used, without allocator overhead.
    pub fn bytes(&self) -> usize {
        let items: usize = self
            .items
            .iter()
            .flatten()
            .map(|item| 2 * item.id.len() + item.content_hash.len())
            .sum();
        let entry = size_of::<Option<Item>>() + size_of::<(String, Slot)>();
        items + self.items.capacity() * entry + self.words.bytes() + self.vectors.bytes()
    }

    /// Of the `candidates` best-ranked items, the first `keep` whose score is at least `threshold`.
    pub fn search(
        &self,
        query: &str,
        query_vector: &[f32],
        candidates: usize,
        keep: usize,
        threshold: f32,
    ) -> Vec<ItemHit> {
        let mut hits = self.rank(query, query_vector, candidates, &[]);
        hits.retain(|hit| hit.score >= threshold);
        hits.truncate(keep);
        hits
    }

    /// The `candidates` best-ranked items, best first, whatever their score.
    pub fn rank(
        &self,
        query: &str,
        query_vector: &[f32],
        candidates: usize,
        steering: &[Steering],
    ) -> Vec<ItemHit> {
        let stems = stems(query);
        let query = self.words.weigh(&stems);
        let words = self.words.score(&query, self.items.len());
        let mut cosines = self.vectors.scan(query_vector);
        cosines.resize(self.items.len(), 0.0);

        let present =
            || self.items.iter().enumerate().filter_map(|(at, i)| Some((at, i.as_ref()?)));
        let word_span = Span::of(present().map(|(at, _)| words[at]));
        let cosine_span = Span::of(present().map(|(at, _)| cosines[at]));
        let steering = heard(&stems, steering);
        let mut ranks: Vec<(Slot, f32)> = present()
            .map(|(at, item)| {
                let boost: f32 = steering.iter().map(|steering| steering.for_id(&item.id)).sum();
                let mixed = ITEM_WORDS_WEIGHT * word_span.place(words[at])
                    + (1.0 - ITEM_WORDS_WEIGHT) * cosine_span.place(cosines[at]);
                (at as Slot, mixed + boost)
            })
            .collect();
        self.add_groups(&mut ranks);

        let best = best(ranks.into_iter(), candidates);
        let fits: Vec<(f32, f32)> = best
            .iter()
            .map(|(slot, rank)| {
                let at = *slot as usize;
                (*rank, self.calibration.fit(words[at], &query, cosines[at]))
            })
            .collect();
        best.iter()
            .zip(calibrate::scores(&fits))
            .filter_map(|((slot, _), score)| {
                let at = *slot as usize;
                let id = self.items[at].as_ref()?.id.clone();
                Some(ItemHit { id, score, bm25: words[at], cosine: cosines[at] })
            })
            .collect()
    }

    /// Adds to each item a share of the score of its group's best; an item without a group is its own.
    fn add_groups(&self, ranks: &mut [(Slot, f32)]) {
        let mut strongest = vec![[f32::NEG_INFINITY; GROUP_BEST]; self.groups.len()];
        for (slot, rank) in ranks.iter() {
            if let Some(group) = self.group(*slot) {
                keep_best(&mut strongest[group], *rank);
            }
        }
        let strengths: Vec<f32> = strongest.iter().map(mean_of_present).collect();
        for (slot, rank) in ranks {
            let group = self.group(*slot).map_or(*rank, |group| strengths[group]);
            *rank += GROUP_SHARE * group;
        }
    }

    fn group(&self, slot: Slot) -> Option<usize> {
        self.items[slot as usize].as_ref()?.group
    }

    /// The group of an id of three parts.
    fn group_of(&mut self, id: &str) -> Option<usize> {
        let (group, _) = id.rsplit_once('/').filter(|(group, _)| group.contains('/'))?;
        let next = self.groups.len();
        Some(*self.groups.entry(group.to_owned()).or_insert(next))
    }

    fn item(&self, id: &str) -> Option<&Item> {
        self.slots.get(id).and_then(|slot| self.items[*slot as usize].as_ref())
    }
}

fn keep_best(best: &mut [f32; GROUP_BEST], rank: f32) {
    if rank > best[GROUP_BEST - 1] {
        best[GROUP_BEST - 1] = rank;
        best.sort_unstable_by(|left, right| right.total_cmp(left));
    }
}

fn mean_of_present(best: &[f32; GROUP_BEST]) -> f32 {
    let present = best.iter().filter(|rank| rank.is_finite());
    present.clone().sum::<f32>() / present.count().max(1) as f32
}

impl Steering {
    fn for_id(&self, id: &str) -> f32 {
        let name = id.rsplit('/').next().unwrap_or(id);
        let fits = id.starts_with(&self.prefix) || name.starts_with(&self.prefix);
        if fits { self.weight } else { 0.0 }
    }
}

/// The steering words in the query.
fn heard<'a>(query: &[String], steering: &'a [Steering]) -> Vec<&'a Steering> {
    steering
        .iter()
        .filter(|steering| {
            let words = stems(&steering.word);
            !words.is_empty() && words.iter().all(|word| query.contains(word))
        })
        .collect()
}

/// The searchable text of a tool: `server. name: description. parameters`.
pub fn tool_text(server: &str, name: &str, description: &str, input_schema: &Value) -> String {
    let mut text = format!("{server}. {name}: {description}.");
    let properties = input_schema.get("properties").and_then(Value::as_object);
    for (parameter, schema) in properties.into_iter().flatten() {
        text.push(' ');
        text.push_str(parameter);
        if let Some(description) = schema.get("description").and_then(Value::as_str) {
            text.push(' ');
            text.extend(description.chars().take(PARAMETER_CHARACTERS_MAX));
        }
    }
    text
}

#[cfg(test)]
#[path = "items_tests.rs"]
mod tests;
