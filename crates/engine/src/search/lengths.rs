//! Factors that turn the summed products of a unit and its neighbours into a cosine.
//!
//! A factor needs the products of three vectors with each other. Each product is in several factors, so it is
//! computed once and kept.
//!
//! Invariant: products and factors are those of the units as they are linked now.

use super::bm25::Slot;
use super::order::Order;
use super::vectors::Vectors;

/// Content words at which a unit's vector counts half: "Wow, thanks!" is similar to everything.
const SHORT_WORDS: f32 = 4.0;

#[derive(Debug, Default)]
pub(super) struct Lengths {
    content_words: Vec<u16>,
    products: Vec<Products>,
    factors: Vec<f32>,
}

/// Content words of a text that is neither short nor long.
const LONG_WORDS: f32 = 30.0;

/// The products of a unit's vector.
#[derive(Debug, Clone, Copy, Default)]
struct Products {
    itself: f32,
    /// With the previous unit.
    previous: f32,
    /// With the unit before that.
    second: f32,
}

impl Lengths {
    /// By slot. Smaller for short units.
    pub(super) fn factors(&self) -> &[f32] {
        &self.factors
    }

    /// After a unit was set.
    pub(super) fn set(&mut self, slot: Slot, content_words: u16, order: &Order, vectors: &Vectors) {
        let at = slot as usize;
        if self.factors.len() <= at {
            self.content_words.resize(at + 1, 0);
            self.products.resize(at + 1, Products::default());
            self.factors.resize(at + 1, 0.0);
        }
        self.content_words[at] = content_words;
        self.relink(slot, order, vectors);
    }

    /// After a unit or its links changed.
    pub(super) fn relink(&mut self, slot: Slot, order: &Order, vectors: &Vectors) {
        let (previous, next) = order.around(slot);
        let second_next = next.and_then(|next| order.around(next).1);
        for slot in [Some(slot), next, second_next].into_iter().flatten() {
            self.multiply(slot, order, vectors);
        }
        for slot in [Some(slot), previous, next].into_iter().flatten() {
            self.refresh(slot, order);
        }
    }

    /// How long a unit is, 0–1.
    pub(super) fn share(&self, slot: Slot) -> f32 {
        let words = f32::from(self.content_words.get(slot as usize).copied().unwrap_or(0));
        words / (words + LONG_WORDS)
    }

    pub(super) fn bytes(&self) -> usize {
        let a_unit = size_of::<u16>() + size_of::<Products>() + size_of::<f32>();
        self.factors.capacity() * a_unit
    }

    fn multiply(&mut self, slot: Slot, order: &Order, vectors: &Vectors) {
        let previous = order.around(slot).0;
        let second = previous.and_then(|previous| order.around(previous).0);
        let [itself, previous, second] = vectors.products(slot, [Some(slot), previous, second]);
        self.products[slot as usize] = Products { itself, previous, second };
    }

    fn refresh(&mut self, slot: Slot, order: &Order) {
        let of =
            |slot: Option<Slot>| slot.map_or(Products::default(), |s| self.products[s as usize]);
        let (previous, next) = order.around(slot);
        let (of_previous, own, of_next) = (of(previous), of(Some(slot)), of(next));
        let (before, after) = order.shares(slot);
        let squared = own.itself
            + before * before * of_previous.itself
            + after * after * of_next.itself
            + 2.0 * (before * own.previous + after * of_next.previous)
            + 2.0 * before * after * of_next.second;
        let words = f32::from(self.content_words[slot as usize]);
        let prior = words / (words + SHORT_WORDS);
        self.factors[slot as usize] = if squared > 0.0 { prior / squared.sqrt() } else { 0.0 };
    }
}
