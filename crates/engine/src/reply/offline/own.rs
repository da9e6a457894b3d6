//! Words that are a tool's own, and things that are the user's own words.

use super::offer::Offer;
use super::scene::Scene;
use crate::lexicon::{self, Class};
use crate::pack::words_of_identifier;
use crate::search::words::stems;
use crate::session::dialogue::Thing;

impl Scene<'_> {
    /// Whether words are the tool's own: in its name, its parameters' names, or its description.
    pub(super) fn is_own_word(&self, offer: &Offer, text: &str) -> bool {
        let english = lexicon::english();
        let slots = || offer.slots.iter().flat_map(|slot| &slot.words);
        let mut words =
            text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).peekable();
        words.peek().is_some()
            && words.all(|word| {
                let singular = english.singular(word);
                let known = |own: &String| *own == word || *own == singular;
                let described = stems(word).iter().all(|stem| offer.described.contains(stem));
                // "which folders may you look into": looking is what a tool that reads does.
                let looks = offer.reads && english.family(word) == Some(lexicon::Family::Find);
                let folder =
                    looks || english.is(Class::Folder, &singular) && offer.is_about_folders();
                offer.words.iter().any(known)
                    || slots().any(known)
                    || folder
                    || described && offer.reads
                    || words_of_identifier(&offer.tool.tool.server).iter().any(known)
            })
    }

    /// Whether the user's own words name a thing.
    pub(super) fn is_named_by_user(&self, thing: &Thing) -> bool {
        let label = thing.label.to_lowercase();
        let id = thing.id.as_deref().unwrap_or("\u{0}");
        let says = |text: &str| {
            let text = text.to_lowercase();
            text.contains(&label)
                || text.split(|c: char| !c.is_alphanumeric()).any(|word| word == id)
        };
        says(self.message) || self.recent.iter().any(|turn| says(&turn.message))
    }
}
