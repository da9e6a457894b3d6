//! Ranks the older turns of a session against a message.
//!
//! Each part of a turn (message, tool results, reply) is a *unit*. A unit is found by its own words and meaning
//! and, less, by those of its neighbours. Units of a speaker named in the message rank higher, and so do units
//! of the same sitting as a strong hit; what the assistant said ranks lower, unless the message speaks to it. The caller excludes the turns of the history window.
//!
//! Invariant: results depend on the indexed turns, not on the order in which they were added.

use jiff::civil::Date;

use super::bm25::WordIndex;
use super::calibrate::{self, Calibration};
use super::hybrid::{Span, best};
use super::lengths::Lengths;
use super::order::Order;
use super::sittings::Sittings;
use super::speakers::Speakers;
use super::unit::TurnUnit;
use super::vectors::Vectors;
use crate::lexicon;
use crate::weights::{
    RECALL_ASSISTANT, RECALL_MEANING, RECALL_QUESTION, RECALL_SAID_FIT, RECALL_SPEAKER,
    RECALL_WORDS,
};

/// Turn numbers per session in an index of several: session 3 starts at three times this.
pub const TURNS_EACH: u64 = 1 << 32;

/// Low, because turns are short and length says little.
const LENGTH_PENALTY: f32 = 0.3;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    Message,
    ToolResult,
    Reply,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    pub turn: u64,
    pub part: Part,
    /// How well it matches, 0–1, on the scale of thresholds.
    pub score: f32,
    /// How well it matches by itself, without its neighbours.
    pub fit: f32,
    pub bm25: f32,
    pub cosine: f32,
}

#[derive(Debug)]
pub struct TurnIndex {
    order: Order,
    words: WordIndex,
    vectors: Vectors,
    speakers: Speakers,
    sittings: Sittings,
    lengths: Lengths,
    calibration: Calibration,
}

impl Default for TurnIndex {
    fn default() -> Self {
        Self::new(Calibration::default())
    }
}

impl TurnIndex {
    /// For vectors of the embedder that `calibration` was measured with.
    pub fn new(calibration: Calibration) -> Self {
        Self {
            order: Order::default(),
            words: WordIndex::new(LENGTH_PENALTY),
            vectors: Vectors::default(),
            speakers: Speakers::default(),
            sittings: Sittings::default(),
            lengths: Lengths::default(),
            calibration,
        }
    }

    /// Adds or replaces a part of a turn. `vector` is that of `text`, or empty.
    pub fn add(&mut self, turn: u64, part: Part, speaker: &str, text: &str, vector: &[f32]) {
        self.put(turn, &TurnUnit::new((turn, part), speaker, text, vector, None));
    }

    /// Adds a part with a known day, so that it is also found by its date.
    pub fn add_dated(
        &mut self,
        turn: u64,
        part: Part,
        speaker: &str,
        text: &str,
        vector: &[f32],
        date: Date,
    ) {
        self.put(turn, &TurnUnit::new((turn, part), speaker, text, vector, Some(date)));
    }

    /// Adds or replaces a unit of turn `number`.
    pub fn put(&mut self, number: u64, unit: &TurnUnit) {
        let slot = self.order.put(number, unit.part, unit.asks);
        self.words.set_counted(slot, &unit.words);
        self.vectors.set_packed(slot, &unit.vector);
        self.speakers.set(slot, &unit.speaker);
        self.sittings.set(slot, (number / TURNS_EACH, unit.day));
        self.lengths.set(slot, unit.content_words, &self.order, &self.vectors);
    }

    /// Removes all parts of a turn.
    pub fn remove(&mut self, turn: u64) {
        let (removed, changed) = self.order.remove(turn);
        for slot in removed {
            self.words.remove(slot);
            self.vectors.remove(slot);
        }
        for slot in changed {
            self.lengths.relink(slot, &self.order, &self.vectors);
        }
    }

    pub fn len(&self) -> usize {
        self.order.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes used, without allocator overhead.
    pub fn bytes(&self) -> usize {
        self.order.bytes()
            + self.order.units().len() * size_of::<Option<u16>>()
            + self.lengths.bytes()
            + self.sittings.bytes()
            + self.words.bytes()
            + self.vectors.bytes()
    }

    /// Who asks about something earlier asks most often for what they said themselves; a long reply shares words with
    /// nearly any message.
    fn lower_assistant(&self, ranks: &mut [f32]) {
        for (slot, (rank, unit)) in (0..).zip(ranks.iter_mut().zip(self.order.units())) {
            if unit.part == Part::Reply && !self.speakers.is_named(slot) {
                *rank += RECALL_ASSISTANT * self.lengths.share(slot);
            }
        }
    }

    /// The `keep` best matching parts of turns, best first, without `excluded` turns.
    pub fn search(
        &self,
        message: &str,
        query_vector: &[f32],
        keep: usize,
        excluded: impl Fn(u64) -> bool,
    ) -> Vec<Hit> {
        let units = self.order.units();
        let named = self.speakers.named(message);
        let query = self.words.weigh(&named.words);
        let words = self.words.score(&query, units.len());
        let mut cosines = self.vectors.scan(query_vector);
        cosines.resize(units.len(), 0.0);

        let mut near_words = self.order.spread_wide(&words);
        let mut near_cosines = self.order.spread(&cosines);
        for (cosine, factor) in near_cosines.iter_mut().zip(self.lengths.factors()) {
            *cosine *= factor;
        }
        for (at, unit) in units.iter().enumerate() {
            if !unit.present || excluded(unit.turn) {
                (near_words[at], near_cosines[at]) = (f32::NAN, f32::NAN);
            }
        }
        let (word_span, cosine_span) = (Span::over(&near_words), Span::over(&near_cosines));
        let near = units.iter().zip(near_words.iter().zip(&near_cosines));
        let mut ranks: Vec<f32> = near
            .map(|(unit, (words, cosine))| {
                RECALL_WORDS * word_span.place(*words)
                    + RECALL_MEANING * cosine_span.place(*cosine)
                    + if unit.asks { RECALL_QUESTION } else { 0.0 }
            })
            .collect();
        for slot in self.speakers.slots_of(&named) {
            ranks[slot] += RECALL_SPEAKER;
        }
        if !lexicon::addresses(message) {
            self.lower_assistant(&mut ranks);
        }
        self.sittings.lift(&mut ranks);

        let best = best((0..).zip(ranks), keep);
        let fits: Vec<(f32, f32)> = best
            .iter()
            .map(|(slot, rank)| {
                let at = *slot as usize;
                let fit = self.calibration.fit(words[at], &query, cosines[at]);
                let said = named.nothing_else && self.speakers.said_by(*slot, &named);
                (*rank, if said { fit.max(RECALL_SAID_FIT) } else { fit })
            })
            .collect();
        best.iter()
            .zip(fits.iter().zip(calibrate::scores(&fits)))
            .map(|((slot, _), ((_, fit), score))| {
                let at = *slot as usize;
                let (turn, part) = (units[at].turn, units[at].part);
                Hit { turn, part, score, fit: *fit, bm25: words[at], cosine: cosines[at] }
            })
            .collect()
    }
}

#[cfg(test)]
#[path = "turns_tests.rs"]
mod tests;
