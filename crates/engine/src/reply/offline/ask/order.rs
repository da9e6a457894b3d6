//! The order that a message asks for: "the cheapest room", "the 3 highest scores", "sorted by price".
//!
//! Invariant: the words of an order are no longer phrases that narrow a list.

use super::{Ask, KindWord, Phrase};
use crate::lexicon::Class;
use crate::reply::offline::read::{Part, Role};
use crate::reply::offline::scene::Scene;
use crate::session::dialogue::Order;

impl Scene<'_> {
    /// Takes the words that order a list out of the phrases.
    pub(super) fn take_order(&self, ask: &mut Ask, parts: &[Part]) {
        if ask.newest.is_some() {
            return;
        }
        if self.sorts(ask, parts) {
            return;
        }
        let found = ask.phrases.iter().enumerate().find_map(|(index, phrase)| {
            let (words, order) = self.superlative(phrase)?;
            Some((index, words, order))
        });
        let Some((index, words, mut order)) = found else { return };
        let at = ask.phrases[index].at;
        let beside = |word: &&KindWord| word.at > at;
        let many = ask.kinds.iter().find(beside).or(ask.kinds.first()).is_some_and(|k| k.many);
        order.most = usize::from(!many);
        let before = at.checked_sub(1).filter(|at| parts[*at].role == Role::Number);
        if let Some(number) = before.and_then(|at| parts[at].lower.parse().ok()) {
            order.most = number;
            ask.phrases.retain(|phrase| Some(phrase.at) != before);
        }
        shorten(ask, at, words);
        ask.order = Some(order);
    }

    /// The order that a phrase begins with, and its number of words.
    fn superlative(&self, phrase: &Phrase) -> Option<(usize, Order)> {
        if phrase.is_literal || phrase.is_quoted || phrase.negated {
            return None;
        }
        let lower = phrase.text.to_lowercase();
        let words: Vec<&str> = lower.split_whitespace().collect();
        let order = |count: usize, fields: Vec<(String, bool)>| {
            let text = words[..count].join(" ");
            (count, Order { text, fields, most: 0 })
        };
        if let Some((count, fields)) = self.language.superlative(words.iter().copied()) {
            let fields = fields.into_iter().map(|(field, most)| (field.to_owned(), most));
            return Some(order(count, fields.collect()));
        }
        // "highest rating": the field is said.
        [(Class::Highest, true), (Class::Lowest, false)].into_iter().find_map(|(class, most)| {
            let count = self.language.starts(class, words.iter().copied())?;
            let field = words[count..].join(" ");
            (!field.is_empty()).then(|| order(words.len(), vec![(field, most)]))
        })
    }

    /// "Sort the rooms by price": the phrase after "by" is the field.
    fn sorts(&self, ask: &mut Ask, parts: &[Part]) -> bool {
        let words = |at: usize| parts[at..].iter().flat_map(|part| part.lower.split_whitespace());
        let asks = (0..parts.len()).any(|at| {
            let mut own = parts[at].lower.split_whitespace();
            own.any(|word| self.language.is(Class::Sorts, word))
        });
        if !asks {
            return false;
        }
        let by = (0..parts.len()).rev().find(|at| {
            let led = self.language.starts(Class::Sorted, words(*at)).is_some();
            led || self.language.is(Class::By, &parts[*at].lower)
        });
        let Some(by) = by else { return false };
        let Some(phrase) = ask.phrases.iter().find(|phrase| phrase.at > by) else { return false };
        let lower = phrase.text.to_lowercase();
        let said: Vec<&str> = lower.split_whitespace().collect();
        let ends = |class: Class| {
            let start = |at: &usize| {
                let rest = said[*at..].iter().copied();
                self.language.starts(class, rest) == Some(said.len() - at)
            };
            (0..said.len()).find(start)
        };
        let (falling, rising) = (ends(Class::Falling), ends(Class::Rising));
        let end = falling.or(rising).unwrap_or(said.len());
        let (text, field, at) = (phrase.text.clone(), said[..end].join(" "), phrase.at);
        if field.is_empty() {
            return false;
        }
        ask.order = Some(Order { text, fields: vec![(field, falling.is_some())], most: 0 });
        let is_sort = |phrase: &Phrase| {
            let mut words = phrase.text.split_whitespace();
            words.all(|word| self.language.is(Class::Sorts, &word.to_lowercase()))
        };
        ask.phrases.retain(|phrase| phrase.at != at && !is_sort(phrase));
        ask.fields.clear();
        true
    }
}

/// Removes the first words of the phrase at `at`.
fn shorten(ask: &mut Ask, at: usize, words: usize) {
    for phrase in ask.phrases.iter_mut().filter(|phrase| phrase.at == at) {
        let rest: Vec<&str> = phrase.text.split_whitespace().skip(words).collect();
        phrase.text = rest.join(" ");
        phrase.picks = false;
    }
    ask.phrases.retain(|phrase| !phrase.text.is_empty());
}
