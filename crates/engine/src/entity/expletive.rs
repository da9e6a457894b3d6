//! Expletive "it": "it is raining", "got it", "is it possible to".

use super::notice::Reading;
use super::token::{Clitic, Gap};
use crate::lexicon::Class;

/// Whether the "it" at `at` refers to nothing.
pub(super) fn is_empty_it(reading: &Reading<'_>, at: usize) -> bool {
    let joined = |index: usize, class: Class| {
        let token = reading.tokens.get(index).filter(|token| token.gap == Gap::Space);
        token.is_some_and(|token| reading.is(class, &token.lower))
    };
    let alone = reading.tokens.get(at + 1).is_none_or(|token| token.gap != Gap::Space);
    let is_said = reading.tokens[at].clitic == Clitic::S;
    // "it is possible", "it's late", "it was you", "is it possible"
    let asked = reading.is_before(at, Class::ItBe);
    let said = is_said || joined(at + 1, Class::ItBe);
    let mut follow = if is_said || asked { at + 1 } else { at + 2 };
    while joined(follow, Class::ItFiller) {
        follow += 1;
    }
    if ((said || asked) && joined(follow, Class::ItIs)) || joined(at + 1, Class::ItDoes) {
        return true;
    }
    // "got it", "forget it", "that's it", "call it a day"
    let before = at.checked_sub(1).filter(|_| reading.tokens[at].gap == Gap::Space);
    let is_this =
        |at: usize| reading.is_at(at, Class::This) && reading.tokens[at].clitic == Clitic::S;
    before.is_some_and(|before| {
        let idiom = reading.is_at(before, Class::ItIdiom) || is_this(before);
        (idiom && (alone || joined(at + 1, Class::ItEnd)))
            || (reading.is_at(before, Class::Does) && joined(at + 1, Class::DoesIt))
    })
}
