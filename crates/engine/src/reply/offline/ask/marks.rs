//! What small words make of a message: "they have", "the latest 3", "its region".

use super::{Ask, Bound, Follow, Phrase, Pointer, phrase};
use crate::entity::Number;
use crate::lexicon::Class;
use crate::pack::Kind;
use crate::reply::offline::fit::counts;
use crate::reply::offline::offer::{Offer, Slot};
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

    /// Whether a small word filters what is listed: "available", where only such things can be asked for.
    pub(super) fn is_filter_word(&self, parts: &[Part], at: usize) -> bool {
        let said = parts[at].lower.as_str();
        if self.language.is(Class::All, said) {
            return false;
        }
        let named = parts.iter().filter_map(|part| match &part.role {
            Role::Kind { kind, .. } => Some(kind),
            _ => None,
        });
        let mut kinds: Vec<&Kind> = named.collect();
        if kinds.is_empty() {
            kinds.extend(self.last_list(None).and_then(|spoken| spoken.query.kind.as_ref()));
        }
        let lists = kinds.into_iter().filter_map(|kind| self.list_of(kind));
        lists.flat_map(|offer| &offer.slots).any(|slot| slot.is_filtered_by(said))
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

    /// A word for a kind may be a value of what is listed: "items of type todo", or "only the todos" of the items.
    pub(super) fn take_values(&self, ask: &mut Ask, parts: &[Part]) {
        let only = ask.follows == Some(Follow::Only);
        let last = self.last_list(None).and_then(|spoken| spoken.query.kind.clone());
        let last = last.filter(|_| only);
        let words = ask.kinds.clone();
        for word in &words {
            let said = parts[word.at].lower.as_str();
            let before = word.at.checked_sub(1).map_or("", |at| parts[at].lower.as_str());
            let others = words.iter().map(|other| &other.kind).chain(&last);
            let others = others.filter(|kind| **kind != word.kind);
            let mut lists = others.filter_map(|kind| self.list_of(kind));
            let named = |offer: &Offer, slot: &Slot| offer.is_called(slot, before);
            let takes = lists.any(|offer| {
                let mut slots = offer.slots.iter();
                slots.any(|slot| slot.shape.choice(said).is_some() && (only || named(offer, slot)))
            });
            if takes {
                ask.phrases.retain(|phrase| phrase.at + 1 != word.at || only);
                ask.kinds.retain(|kind| kind.at != word.at);
                let value = phrase(&parts[word.at], &Role::Content, word.at);
                ask.phrases.push(Phrase { negated: word.negated, ..value });
            }
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
