//! What a tool is called after: its verb, its nouns, and the person or folder it deals with.

use super::offer::{Means, Offer, Slot};
use crate::lexicon::{self, Class};
use crate::pack::words_of_identifier;
use crate::search::words::stems;

impl Offer {
    /// The word that says what it does, where it is no verb of the lexicon: all of its name, or what its description
    /// begins with, too.
    pub(super) fn command(&self) -> Option<String> {
        let words = words_of_identifier(&self.tool.tool.name);
        let mut own = words.into_iter().filter(|word| Some(word) != self.shared.as_ref());
        let first = own.next()?;
        let says = self.tool.description.split(|c: char| !c.is_alphanumeric());
        let says = says.map(str::to_lowercase).find(|word| !word.is_empty()).unwrap_or_default();
        let known = lexicon::english().family(&first).is_some();
        let alone = own.next().is_none() && self.acts.is_none();
        (!known && (alone || stems(&first) == stems(&says))).then_some(first)
    }

    /// The parameter of which a word is a value that says what is done: "approve", where requests are decided.
    pub(super) fn decided_by(&self, word: &str) -> Option<&Slot> {
        let choice = |slot: &&Slot| slot.is_mode() && slot.shape.choice(word).is_some();
        self.slots.iter().find(choice).filter(|_| !self.reads)
    }

    /// The values of such parameters.
    pub(super) fn decisions(&self) -> impl Iterator<Item = String> {
        let slots = self.slots.iter().filter(|slot| slot.is_mode() && !self.reads);
        let values = slots.flat_map(|slot| &slot.shape.choices).filter_map(|value| value.as_str());
        let verb = |value: &&str| {
            value.chars().all(char::is_lowercase) && lexicon::english().family(value).is_none()
        };
        values.filter(verb).map(str::to_owned)
    }

    /// Whether a verb is the one in its name, or the one that its description gives instead.
    pub(super) fn is_done_by(&self, verb: &str) -> bool {
        let described = [&self.acts, &self.also].into_iter().flatten();
        self.words.iter().chain(described).any(|word| word == verb)
    }

    /// The words of its name that say what it is about.
    pub(super) fn nouns(&self) -> impl Iterator<Item = &String> {
        let english = lexicon::english();
        let verb = self.words.iter().position(|word| english.family(word).is_some());
        // `checkout`, which "switches branches": where the description has another word for it, it is a verb, too.
        let alone =
            self.words.iter().filter(|word| Some(*word) != self.shared.as_ref()).count() == 1;
        let is_verb = move |word: &String| {
            let described = |stem: &String| self.described.iter().any(|own| own.starts_with(stem));
            alone && self.acts.is_some() && !stems(word).iter().all(described)
        };
        let words = self.words.iter().enumerate().filter(move |(at, word)| {
            let small = [Class::Who, Class::What, Class::Auxiliary];
            let small = small.iter().any(|class| english.is(*class, word));
            Some(*at) != verb && Some(*word) != self.shared.as_ref() && !is_verb(word) && !small
        });
        words.map(|(_, word)| word)
    }

    /// The parameter for a person, where a text looks like somebody's handle: "@amal".
    pub(super) fn person_slot(&self, text: &str) -> Option<&Slot> {
        let mut slots = self.slots.iter().filter(|slot| slot.means == Means::Text);
        slots.find(|slot| slot.is_person()).filter(|_| text.starts_with('@'))
    }

    /// Whether a word names a parameter: "type" the entity type of an entity.
    pub(super) fn is_called(&self, slot: &Slot, word: &str) -> bool {
        let kind = self.kind.as_ref().map(|kind| words_of_identifier(kind.as_str()));
        let own = |part: &String| kind.as_ref().is_some_and(|kind| kind.contains(part));
        let word = lexicon::english().singular(&word.to_lowercase());
        slot.words.split_last().is_some_and(|(last, rest)| *last == word && rest.iter().all(own))
    }

    /// Whether it is about folders.
    pub(super) fn is_about_folders(&self) -> bool {
        self.words.iter().any(|word| lexicon::english().is(Class::Folder, word))
    }
}
