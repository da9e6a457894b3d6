//! Values of a new thing that follow each other: "register Schnuffi, a hamster, owner Timo Kern".
//!
//! Invariant: there are at least as many parameters that need a text as such values, and each value has one.

use super::ask::Phrase;
use super::fill::Filling;
use super::offer::{Means, Slot};
use super::read::{Part, Role};
use crate::entity::token::Gap;
use crate::lexicon::{self, Class, Family};

impl<'s> Filling<'s, '_> {
    /// Assigns values that follow each other to the parameters that still need one; gives back those without one.
    pub(super) fn spread(&mut self, left: Vec<&'s Phrase>) -> Vec<&'s Phrase> {
        let makes = matches!(self.offer.family, Some(Family::Create | Family::Add));
        let number = |phrase: &Phrase| phrase.text.parse::<f64>().is_ok();
        let (numbers, texts): (Vec<&Phrase>, Vec<&Phrase>) =
            left.iter().partition(|phrase| number(phrase));
        let follows = texts.iter().skip(1).all(|phrase| self.follows(phrase));
        let plain = texts.iter().all(|phrase| phrase.kind.is_none() && phrase.placed.is_none());
        let open = self.open_texts();
        if !makes || texts.len() < 2 || texts.len() > open.len() || !follows || !plain {
            return self.only_article(left);
        }
        let mut rest: Vec<&Phrase> = Vec::new();
        for phrase in texts {
            let sort = self.is_sort(phrase);
            let open = self.open_texts();
            let slot = match sort {
                true => open.into_iter().find(is_sort),
                false => {
                    let named = open.iter().find(|slot| is_name(slot)).cloned();
                    named.filter(|_| self.arguments.is_empty() || rest.is_empty())
                }
            };
            match slot {
                Some(slot) => self.set(&slot, phrase.text.clone().into()),
                None => rest.push(phrase),
            }
        }
        for phrase in rest {
            let open = self.open_texts();
            if let Some(slot) = open.first() {
                self.set(&slot.clone(), phrase.text.clone().into());
            }
        }
        numbers
    }

    /// "add a rose called Lily": one value after an article is the sort of the new thing, where a parameter takes one.
    fn only_article(&mut self, left: Vec<&'s Phrase>) -> Vec<&'s Phrase> {
        let makes = matches!(self.offer.family, Some(Family::Create | Family::Add));
        let mut kept = Vec::new();
        for phrase in left {
            let sort = self.open_texts().into_iter().find(is_sort);
            match sort.filter(|_| makes && phrase.placed.is_none() && self.is_sort(phrase)) {
                Some(slot) => self.set(&slot, phrase.text.clone().into()),
                None => kept.push(phrase),
            }
        }
        kept
    }

    /// The required parameters for texts that have none yet.
    fn open_texts(&self) -> Vec<Slot> {
        let open = |slot: &&Slot| {
            let text = matches!(slot.means, Means::Text | Means::AnyName | Means::Search);
            let named = matches!(slot.means, Means::Own(_)) && is_name(slot);
            slot.shape.required && self.is_free(slot) && (text || named)
        };
        self.offer.slots.iter().filter(open).cloned().collect()
    }

    /// Whether a phrase comes after a comma.
    fn follows(&self, phrase: &Phrase) -> bool {
        let small = |part: &&Part| part.role == Role::Filler;
        let before = self.parts[..phrase.at].iter().rev().take_while(small).count();
        let first = &self.parts[phrase.at - before];
        first.gap == Gap::Pause || self.parts[phrase.at].gap == Gap::Pause
    }

    /// Whether a phrase says what sort of thing it is: "a hamster".
    fn is_sort(&self, phrase: &Phrase) -> bool {
        let before = phrase.at.checked_sub(1).map(|at| self.parts[at].lower.as_str());
        let article = before.is_some_and(|word| self.scene.language.is(Class::A, word));
        article && !phrase.text.contains(char::is_uppercase)
    }
}

fn is_sort(slot: &Slot) -> bool {
    slot.words.iter().any(|word| lexicon::english().is(Class::SlotSort, word))
}

fn is_name(slot: &Slot) -> bool {
    matches!(slot.words.last().map(String::as_str), Some("name" | "title"))
}
