//! Sittings: the units of one session and one day.
//!
//! A strong hit tells what its sitting was about, so the other units of that sitting rank a little higher.
//! Sittings are separated by day only, not by pauses, because the day of a unit does not depend on what else is
//! indexed.
//!
//! Invariant: lifting changes nothing if everything is in one sitting.

use std::collections::HashMap;

use jiff::civil::Date;

use super::bm25::Slot;
use crate::weights::RECALL_SITTING;

/// The session, and the day if known.
pub(super) type Sitting = (u64, Option<Date>);

#[derive(Debug, Default)]
pub(super) struct Sittings {
    numbers: HashMap<Sitting, u32>,
    of_slot: Vec<u32>,
}

impl Sittings {
    pub(super) fn set(&mut self, slot: Slot, sitting: Sitting) {
        let slot = slot as usize;
        if self.of_slot.len() <= slot {
            self.of_slot.resize(slot + 1, 0);
        }
        let next = self.numbers.len() as u32;
        self.of_slot[slot] = *self.numbers.entry(sitting).or_insert(next);
    }

    /// Adds to each score a share of how far the best of its sitting exceeds the best of the weakest sitting. NaN
    /// is ignored.
    pub(super) fn lift(&self, scores: &mut [f32]) {
        if self.numbers.len() < 2 {
            return;
        }
        let mut bests = vec![f32::NEG_INFINITY; self.numbers.len()];
        for (score, sitting) in scores.iter().zip(&self.of_slot) {
            let best = &mut bests[*sitting as usize];
            *best = best.max(*score);
        }
        let weakest =
            bests.iter().copied().filter(|best| best.is_finite()).fold(f32::INFINITY, f32::min);
        for (score, sitting) in scores.iter_mut().zip(&self.of_slot) {
            *score += RECALL_SITTING * (bests[*sitting as usize] - weakest);
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.of_slot.capacity() * size_of::<u32>()
            + self.numbers.capacity() * size_of::<(Sitting, u32)>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lifted(sittings: &[Sitting], scores: &[f32]) -> Vec<f32> {
        let mut held = Sittings::default();
        for (slot, sitting) in sittings.iter().enumerate() {
            held.set(slot as Slot, *sitting);
        }
        let mut scores = scores.to_vec();
        held.lift(&mut scores);
        scores
    }

    fn on(day: i8) -> Option<Date> {
        Some(jiff::civil::date(2024, 5, day))
    }

    #[test]
    fn what_was_said_with_a_strong_hit_comes_before_its_like() {
        let scores =
            lifted(&[(0, on(1)), (0, on(1)), (0, on(2)), (0, on(2))], &[1.0, 0.2, 0.3, 0.5]);
        let lift = RECALL_SITTING * 0.5;
        assert_eq!(scores, [1.0 + lift, 0.2 + lift, 0.3, 0.5]);
    }

    #[test]
    fn sessions_of_one_day_are_sittings_of_their_own() {
        let scores = lifted(&[(0, on(1)), (1, on(1)), (1, None)], &[1.0, 0.2, 0.2]);
        assert!(scores[0] > 1.0);
        assert_eq!(scores[1..], [0.2, 0.2]);
    }

    #[test]
    fn nothing_is_lifted_in_one_sitting_and_nothing_by_what_is_left_out() {
        assert_eq!(lifted(&[(0, on(1)); 3], &[1.0, 0.2, 0.0]), [1.0, 0.2, 0.0]);
        assert_eq!(lifted(&[], &[]), [0.0; 0]);
        let scores = lifted(
            &[(0, on(1)), (0, on(1)), (0, on(2)), (0, on(3))],
            &[f32::NAN, 0.2, f32::NAN, 0.1],
        );
        assert!(scores[0].is_nan() && scores[2].is_nan());
        assert_eq!(scores[1], 0.2 + RECALL_SITTING * 0.1);
        assert_eq!(scores[3], 0.1);
    }
}
