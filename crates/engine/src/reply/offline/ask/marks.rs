//! What small words make of a message: "they have", "the latest 3", "its region".

use super::{Ask, Bound, Pointer};
use crate::entity::Number;
use crate::lexicon::Class;
use crate::reply::offline::fit::counts;
use crate::reply::offline::read::{Part, Role};
use crate::reply::offline::scene::Scene;
use crate::reply::offline::schema::written;

impl Scene<'_> {
    /// The word before a kind that says which ones are meant.
    pub(super) fn quantifier(&self, parts: &[Part], at: usize) -> Option<Class> {
        let before = &parts[at.checked_sub(1)?];
        let mut marks = [Class::Each, Class::Else].into_iter();
        let is_all = || self.language.is(Class::All, &before.lower).then_some(Class::All);
        marks.find(|class| before.is(*class)).or_else(is_all)
    }

    /// Whether what is asked for belongs to those who were spoken of: "which racks do they have".
    pub(super) fn says_they(&self, parts: &[Part]) -> bool {
        let they = |at: &usize| {
            let is_they = self.language.is(Class::They, &parts[*at].lower);
            let of = at.checked_sub(1).is_some_and(|before| parts[before].is(Class::Of));
            is_they && !of
        };
        let at = (0..parts.len()).find(they);
        at.is_some_and(|at| parts[at..].iter().any(|part| part.is(Class::Relates)))
    }

    /// The number that something is compared with, and how.
    pub(super) fn bound(&self, parts: &[Part], at: usize) -> Option<Bound> {
        let is = |class: Class| {
            let words: Vec<&str> = parts[at].lower.split_whitespace().collect();
            self.language.starts(class, words.iter().copied()) == Some(words.len())
        };
        let small = parts[at + 1..].iter().take_while(|part| part.role == Role::Filler).count();
        let number = parts.get(at + 1 + small)?;
        let value = written(&number.lower).parse::<f64>().ok()?;
        let (less, or_equal) = (is(Class::Less), is(Class::OrEqual));
        let bound = Bound { less, or_equal, number: value, at: at + 1 + small };
        (less || is(Class::More)).then_some(bound)
    }

    /// "The latest changes", "the last 3 changes": an order, and how many.
    pub(super) fn take_newest(&self, ask: &mut Ask, parts: &[Part]) {
        // "the last 2 commits", where a tool can be asked for so many.
        if self.offers.iter().any(|offer| counts(offer, parts, self.language)) {
            return;
        }
        for kind in &ask.kinds {
            let Some(before) = kind.at.checked_sub(1) else { continue };
            let number = parts[before].lower.parse::<usize>().ok();
            let number = number.filter(|_| parts[before].role == Role::Number);
            let at = if number.is_some() { before.checked_sub(1) } else { Some(before) };
            let Some(at) = at.filter(|at| self.is_newest(&parts[*at])) else { continue };
            ask.newest = Some(number.unwrap_or(usize::from(!kind.many)));
            ask.phrases
                .retain(|phrase| phrase.at != at && (number.is_none() || phrase.at != before));
        }
    }

    fn is_newest(&self, part: &Part) -> bool {
        let words: Vec<&str> = part.lower.split_whitespace().collect();
        let free = matches!(part.role, Role::Content | Role::Filler);
        let newest = self.language.starts(Class::Newest, words.iter().copied());
        free && newest == Some(words.len())
    }

    /// "Which sites are in its region?": the region is what is meant of it, not what is asked for.
    pub(super) fn own_kinds(&self, ask: &mut Ask, parts: &[Part]) {
        let Ask { kinds, pointers, .. } = ask;
        let owns = |pointer: &&mut Pointer| pointer.is_possessive && pointer.number == Number::One;
        for pointer in pointers.iter_mut().filter(owns) {
            let next = kinds.iter().position(|kind| kind.at == pointer.at + 1 && !kind.many);
            let Some(next) =
                next.filter(|next| *next > 0 && parts[pointer.at + 1].role != Role::Filler)
            else {
                continue;
            };
            pointer.kinds = Some(vec![kinds.remove(next).kind]);
        }
    }
}
