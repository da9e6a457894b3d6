//! What a tool is called after: the verb and the nouns of its name, and what its description adds to them.
//!
//! Invariant: a verb of a description counts only where the name has none.

use super::offer::{Means, Offer, Slot};
use crate::lexicon::{self, Class, Family};
use crate::pack::words_of_identifier;
use crate::search::words::stems;
use crate::tool::ToolDefinition;

/// Tools of one server from which on a word that all their names begin with is no part of what they do.
const SHARING_MIN: usize = 3;

/// The word with which the names of all tools of a server begin, where most say something else besides: `git_log`.
pub(super) fn shared_word(tool: &ToolDefinition, tools: &[ToolDefinition]) -> Option<String> {
    let first = words_of_identifier(&tool.tool.name).into_iter().next()?;
    let own = tools.iter().filter(|other| other.tool.server == tool.tool.server);
    let names: Vec<Vec<String>> = own.map(|other| words_of_identifier(&other.tool.name)).collect();
    let english = lexicon::english();
    let says = |name: &&Vec<String>| name.iter().skip(1).any(|w| english.family(w).is_none());
    // "Convert between units": what it begins with is its verb.
    let verb = stems(tool.description.split(|c: char| !c.is_alphanumeric()).next().unwrap_or(""));
    let shared = names.len() >= SHARING_MIN
        && verb != stems(&first)
        && names.iter().all(|name| name.first() == Some(&first) && name.len() > 1)
        && names.iter().filter(says).count() * 2 > names.len();
    shared.then_some(first)
}

/// The words of a tool's name without the one that all names of its server have.
pub(super) fn own_words(tool: &ToolDefinition, tools: &[ToolDefinition]) -> Vec<String> {
    let mut words = words_of_identifier(&tool.tool.name);
    if shared_word(tool, tools).is_some() {
        words.remove(0);
    }
    words
}

/// The verb with which a description begins: "Switches branches".
pub(super) fn described_verb(tool: &ToolDefinition) -> Option<(String, Family)> {
    let first = tool.description.split(|c: char| !c.is_alphanumeric()).find(|w| !w.is_empty())?;
    let (first, english) = (first.to_lowercase(), lexicon::english());
    let verb = [first.clone(), english.singular(&first)];
    verb.into_iter().find_map(|verb| Some((verb.clone(), english.family(&verb)?)))
}

impl Offer {
    /// The word that says what it does, where it is no verb of the lexicon: all of its name, or what its description
    /// begins with, too.
    pub fn command(&self) -> Option<String> {
        let words = words_of_identifier(&self.tool.tool.name);
        let mut own = words.into_iter().filter(|word| Some(word) != self.shared.as_ref());
        let first = own.next()?;
        let says = self.tool.description.split(|c: char| !c.is_alphanumeric());
        let says = says.map(str::to_lowercase).find(|word| !word.is_empty()).unwrap_or_default();
        let known = lexicon::english().family(&first).is_some();
        let alone = own.next().is_none() && self.acts.is_none();
        (!known && (alone || stems(&first) == stems(&says))).then_some(first)
    }

    /// Whether a verb is the one in its name, or the one that its description gives instead.
    pub fn is_done_by(&self, verb: &str) -> bool {
        self.words.iter().any(|word| word == verb) || self.acts.as_deref() == Some(verb)
    }

    /// The words of its name that say what it is about.
    pub fn nouns(&self) -> impl Iterator<Item = &String> {
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
            Some(*at) != verb && Some(*word) != self.shared.as_ref() && !is_verb(word)
        });
        words.map(|(_, word)| word)
    }

    /// The parameter for a person, where a text looks like somebody's handle: "@amal".
    pub fn person_slot(&self, text: &str) -> Option<&Slot> {
        let mut slots = self.slots.iter().filter(|slot| slot.means == Means::Text);
        slots.find(|slot| slot.is_person()).filter(|_| text.starts_with('@'))
    }

    /// Whether it is about folders.
    pub fn is_about_folders(&self) -> bool {
        self.words.iter().any(|word| lexicon::english().is(Class::Folder, word))
    }
}
