//! The order of a session's units, and how scores spread to neighbours.
//!
//! A reply often contains no word of the question it answers, so a unit is also found through its neighbours,
//! most of all through a question right before it.
//!
//! Invariant: units are linked in the order of their turns, whatever the order in which they were added.

use std::collections::BTreeMap;
use std::ops::Bound;

use super::bm25::Slot;
use super::turns::Part;

/// Share of a neighbour's score added to a unit's own.
const NEIGHBOUR_SHARE: f32 = 0.3;
/// The share if the previous unit asks a question.
const QUESTION_SHARE: f32 = 0.5;
/// The share of word scores of units two positions away.
const SECOND_SHARE: f32 = 0.15;
/// No neighbour on that side.
const NONE: Slot = Slot::MAX;

#[derive(Debug, Default)]
pub(super) struct Order {
    slots: BTreeMap<(u64, Part), Slot>,
    units: Vec<Unit>,
    /// The share each unit takes from the previous one.
    shares_of_previous: Vec<f32>,
    free: Vec<Slot>,
    /// Whether a unit was ever inserted between others or removed; otherwise neighbours are adjacent.
    is_mixed: bool,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Unit {
    pub turn: u64,
    pub part: Part,
    /// Whether it is in the index; an empty slot is reused.
    pub present: bool,
    pub asks: bool,
    previous: Slot,
    next: Slot,
}

impl Order {
    /// All slots, including empty ones.
    pub(super) fn units(&self) -> &[Unit] {
        &self.units
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(super) fn bytes(&self) -> usize {
        self.slots.len() * size_of::<((u64, Part), Slot)>()
            + self.units.capacity() * (size_of::<Unit>() + size_of::<f32>())
    }

    /// The slot of a unit, created if missing.
    pub(super) fn put(&mut self, turn: u64, part: Part, asks: bool) -> Slot {
        let slot = match self.slots.get(&(turn, part)) {
            Some(slot) => *slot,
            None => self.link(turn, part),
        };
        self.units[slot as usize].asks = asks;
        self.join(slot, self.units[slot as usize].next);
        slot
    }

    /// Removes a turn's units; returns their slots, and the units whose neighbours changed.
    pub(super) fn remove(&mut self, turn: u64) -> (Vec<Slot>, Vec<Slot>) {
        let range = (turn, Part::Message)..=(turn, Part::Reply);
        let found: Vec<_> = self.slots.range(range).map(|(key, slot)| (*key, *slot)).collect();
        let (mut removed, mut changed) = (Vec::new(), Vec::new());
        for (key, slot) in found {
            self.is_mixed = true;
            self.slots.remove(&key);
            let unit = &mut self.units[slot as usize];
            unit.present = false;
            let (previous, next) = (unit.previous, unit.next);
            self.join(previous, next);
            self.free.push(slot);
            removed.push(slot);
            changed.extend([previous, next].into_iter().filter(|slot| *slot != NONE));
        }
        changed.retain(|slot| self.units[*slot as usize].present);
        (removed, changed)
    }

    /// The units before and after a unit.
    pub(super) fn around(&self, slot: Slot) -> (Option<Slot>, Option<Slot>) {
        let unit = &self.units[slot as usize];
        let linked = |slot: Slot| (slot != NONE).then_some(slot);
        (linked(unit.previous), linked(unit.next))
    }

    /// The shares that a unit takes from the units before and after it.
    pub(super) fn shares(&self, slot: Slot) -> (f32, f32) {
        (self.shares_of_previous[slot as usize], NEIGHBOUR_SHARE)
    }

    /// Adds to each score its shares of the neighbours' scores.
    pub(super) fn spread(&self, scores: &[f32]) -> Vec<f32> {
        let mut spread = scores.to_vec();
        let shares = &self.shares_of_previous;
        if self.is_mixed {
            let at = |slot: Slot| scores.get(slot as usize).copied().unwrap_or(0.0);
            for ((score, unit), share) in spread.iter_mut().zip(&self.units).zip(shares) {
                *score += share * at(unit.previous) + NEIGHBOUR_SHARE * at(unit.next);
            }
            return spread;
        }
        // Adjacent, so that the compiler can vectorise it.
        if let ([_, spread @ ..], [_, shares @ ..]) = (spread.as_mut_slice(), shares.as_slice()) {
            for ((score, previous), share) in spread.iter_mut().zip(scores).zip(shares) {
                *score += share * previous;
            }
        }
        if let [_, nexts @ ..] = scores {
            for (score, next) in spread.iter_mut().zip(nexts) {
                *score += NEIGHBOUR_SHARE * next;
            }
        }
        spread
    }

    /// Like [`Self::spread`] for sparse scores, including units two positions away.
    pub(super) fn spread_wide(&self, scores: &[f32]) -> Vec<f32> {
        let mut spread = vec![0.0; scores.len()];
        let mut give = |slot: Slot, score: f32| {
            if let Some(place) = spread.get_mut(slot as usize) {
                *place += score;
            }
        };
        for (slot, own) in (0..).zip(scores).filter(|(_, own)| **own != 0.0) {
            let unit = &self.units[slot as usize];
            give(slot, *own);
            if let Some(previous) = self.units.get(unit.previous as usize) {
                give(unit.previous, NEIGHBOUR_SHARE * own);
                give(previous.previous, SECOND_SHARE * own);
            }
            if let Some(next) = self.units.get(unit.next as usize) {
                give(unit.next, self.shares_of_previous[unit.next as usize] * own);
                give(next.next, SECOND_SHARE * own);
            }
        }
        spread
    }

    /// Creates a slot and links it in order.
    fn link(&mut self, turn: u64, part: Part) -> Slot {
        let key = (turn, part);
        let (previous, next) = match self.slots.last_key_value() {
            Some((last, slot)) if *last < key => (*slot, NONE),
            _ => {
                let after = (Bound::Excluded(key), Bound::Unbounded);
                let previous = self.slots.range(..key).next_back();
                let next = self.slots.range(after).next();
                (previous.map_or(NONE, |(_, slot)| *slot), next.map_or(NONE, |(_, slot)| *slot))
            }
        };
        let unit = Unit { turn, part, present: true, asks: false, previous: NONE, next: NONE };
        let slot = match self.free.pop() {
            Some(slot) => {
                self.units[slot as usize] = unit;
                slot
            }
            None => {
                self.units.push(unit);
                self.shares_of_previous.push(NEIGHBOUR_SHARE);
                self.units.len() as Slot - 1
            }
        };
        self.is_mixed |= next != NONE || (previous != NONE && previous + 1 != slot);
        self.join(previous, slot);
        self.join(slot, next);
        self.slots.insert(key, slot);
        slot
    }

    fn join(&mut self, previous: Slot, next: Slot) {
        let mut share = NEIGHBOUR_SHARE;
        if let Some(unit) = self.units.get_mut(previous as usize) {
            unit.next = next;
            share = if unit.asks { QUESTION_SHARE } else { NEIGHBOUR_SHARE };
        }
        if let Some(unit) = self.units.get_mut(next as usize) {
            unit.previous = previous;
            self.shares_of_previous[next as usize] = share;
        }
    }
}
