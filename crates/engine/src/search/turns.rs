//! The older turns of one session, ranked against a message.
//!
//! Each part of a turn (what was asked, answered, and returned by tools) is a *unit*. A unit is found by
//! its own words and meaning and, a little, by those of the units before and after it, because an answer
//! often holds no word of the question it answers. The window of recent turns is the caller's: it says
//! which turns to leave out.
//!
//! Invariant: units are linked in the order of their turns, whatever the order in which they were added.

use std::collections::BTreeMap;
use std::ops::Bound;

use super::bm25::{Slot, WordIndex};
use super::calibrate::{self, Calibration};
use super::hybrid::{Span, WORDS_WEIGHT, best};
use super::vectors::Vectors;
use super::words::stems;

/// How much of a neighbouring unit's score is added to a unit's own.
const NEIGHBOUR_SHARE: f32 = 0.3;
/// Content words at which a unit's vector counts half: "Wow, thanks!" is near to everything.
const SHORT_WORDS: f32 = 4.0;
/// No neighbour on that side.
const NONE: Slot = Slot::MAX;

/// Which part of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// What the user said.
    Message,
    /// What the tools returned.
    ToolResult,
    /// What was replied.
    Reply,
}

/// A part of a turn that was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// The turn's number.
    pub turn: u64,
    /// Which part of it.
    pub part: Part,
    /// How well it fits, 0–1, on the scale that thresholds use.
    pub score: f32,
    /// By its words alone.
    pub bm25: f32,
    /// By its vector alone.
    pub cosine: f32,
}

/// The searchable turns of one session.
#[derive(Debug, Default)]
pub struct TurnIndex {
    units: Vec<Unit>,
    order: BTreeMap<(u64, Part), Slot>,
    free: Vec<Slot>,
    words: WordIndex,
    vectors: Vectors,
    calibration: Calibration,
}

#[derive(Debug, Clone, Copy)]
struct Unit {
    turn: u64,
    part: Part,
    previous: Slot,
    next: Slot,
    /// Turns the sum of a unit's and its neighbours' dot products into a cosine, short units held back.
    dense_factor: f32,
    present: bool,
}

impl TurnIndex {
    /// An empty index for vectors of the embedder that `calibration` was measured with.
    pub fn new(calibration: Calibration) -> Self {
        Self { calibration, ..Self::default() }
    }

    /// Adds a part of a turn, or replaces it. `vector` is that of `"{speaker}: {text}"`, or empty.
    pub fn add(&mut self, turn: u64, part: Part, speaker: &str, text: &str, vector: &[f32]) {
        let slot = match self.order.get(&(turn, part)) {
            Some(slot) => *slot,
            None => self.link(turn, part),
        };
        self.words.set(slot, &stems(&format!("{speaker}: {text}")));
        self.vectors.set(slot, vector);
        self.refresh_around(slot);
    }

    /// Takes all parts of a turn out.
    pub fn remove(&mut self, turn: u64) {
        let range = (turn, Part::Message)..=(turn, Part::Reply);
        let found: Vec<_> = self.order.range(range).map(|(key, slot)| (*key, *slot)).collect();
        for (key, slot) in found {
            self.order.remove(&key);
            let Unit { previous, next, .. } = self.units[slot as usize];
            self.join(previous, next);
            self.units[slot as usize].present = false;
            self.words.remove(slot);
            self.vectors.remove(slot);
            self.free.push(slot);
            self.refresh(previous);
            self.refresh(next);
        }
    }

    /// How many parts of turns are held.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether nothing is held.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Bytes held, without what the allocator adds.
    pub fn bytes(&self) -> usize {
        let links = self.order.len() * (size_of::<(u64, Part)>() + size_of::<Slot>());
        self.units.capacity() * size_of::<Unit>()
            + links
            + self.words.bytes()
            + self.vectors.bytes()
    }

    /// The `keep` parts of turns that fit best, best first; none of the turns that are `excluded`.
    pub fn search(
        &self,
        query: &str,
        query_vector: &[f32],
        keep: usize,
        excluded: impl Fn(u64) -> bool,
    ) -> Vec<Hit> {
        let query = stems(query);
        let mut words = vec![0.0; self.units.len()];
        self.words.score(&query, &mut words);
        let mut cosines = self.vectors.scan(query_vector);
        cosines.resize(self.units.len(), 0.0);

        let near_words = self.with_neighbours(&words);
        let mut near_cosines = self.with_neighbours(&cosines);
        for (cosine, unit) in near_cosines.iter_mut().zip(&self.units) {
            *cosine *= unit.dense_factor;
        }

        let eligible: Vec<Slot> = (0..self.units.len() as Slot)
            .filter(|slot| {
                let unit = &self.units[*slot as usize];
                unit.present && !excluded(unit.turn)
            })
            .collect();
        let span = |scores: &[f32]| Span::of(eligible.iter().map(|slot| scores[*slot as usize]));
        let (word_span, cosine_span) = (span(&near_words), span(&near_cosines));
        let mixed = eligible.iter().map(|&slot| {
            let at = slot as usize;
            let score = WORDS_WEIGHT * word_span.place(near_words[at])
                + (1.0 - WORDS_WEIGHT) * cosine_span.place(near_cosines[at]);
            (slot, score)
        });

        let most = calibrate::most_possible(&self.words.weigh(&query));
        best(mixed, keep)
            .into_iter()
            .map(|(slot, _)| {
                let unit = &self.units[slot as usize];
                let (bm25, cosine) = (words[slot as usize], cosines[slot as usize]);
                let score = self.calibration.score(bm25, most, cosine);
                Hit { turn: unit.turn, part: unit.part, score, bm25, cosine }
            })
            .collect()
    }

    fn with_neighbours(&self, scores: &[f32]) -> Vec<f32> {
        let at = |slot: Slot| if slot == NONE { 0.0 } else { scores[slot as usize] };
        self.units
            .iter()
            .zip(scores)
            .map(|(unit, own)| own + NEIGHBOUR_SHARE * (at(unit.previous) + at(unit.next)))
            .collect()
    }

    /// Makes room for a new unit and puts it into its place in the order.
    fn link(&mut self, turn: u64, part: Part) -> Slot {
        let key = (turn, part);
        let previous = self.order.range(..key).next_back().map_or(NONE, |(_, slot)| *slot);
        let after = (Bound::Excluded(key), Bound::Unbounded);
        let next = self.order.range(after).next().map_or(NONE, |(_, slot)| *slot);
        let unit =
            Unit { turn, part, previous: NONE, next: NONE, dense_factor: 0.0, present: true };
        let slot = match self.free.pop() {
            Some(slot) => {
                self.units[slot as usize] = unit;
                slot
            }
            None => {
                self.units.push(unit);
                self.units.len() as Slot - 1
            }
        };
        self.join(previous, slot);
        self.join(slot, next);
        self.order.insert(key, slot);
        slot
    }

    fn join(&mut self, previous: Slot, next: Slot) {
        if previous != NONE {
            self.units[previous as usize].next = next;
        }
        if next != NONE {
            self.units[next as usize].previous = previous;
        }
    }

    fn refresh_around(&mut self, slot: Slot) {
        let Unit { previous, next, .. } = self.units[slot as usize];
        for slot in [previous, slot, next] {
            self.refresh(slot);
        }
    }

    /// Works out anew what depends on a unit's neighbours.
    fn refresh(&mut self, slot: Slot) {
        if slot == NONE {
            return;
        }
        let Unit { previous, next, .. } = self.units[slot as usize];
        let dot = |left, right| self.vectors.between(left, right);
        let share = NEIGHBOUR_SHARE;
        let squared = dot(slot, slot)
            + share * share * (dot(previous, previous) + dot(next, next))
            + 2.0 * share * (dot(slot, previous) + dot(slot, next))
            + 2.0 * share * share * dot(previous, next);
        let words = self.words.words(slot) as f32;
        let prior = words / (words + SHORT_WORDS);
        self.units[slot as usize].dense_factor =
            if squared > 0.0 { prior / squared.sqrt() } else { 0.0 };
    }
}

#[cfg(test)]
#[path = "turns_tests.rs"]
mod tests;
