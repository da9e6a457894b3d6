//! What stands in a text that a message gives word for word, and belongs to another parameter: "…, for items 2 and 3" at
//! its end, and the values among the words of a remark.
//!
//! Invariant: the words of the text that remains are those of the message, unchanged.

use serde_json::Value;

use super::fill::Filling;
use super::offer::{Means, Slot};
use crate::entity::Span;
use crate::lexicon::{self, Class};

impl Filling<'_, '_> {
    /// Fills the parameter that the end of a text names. Gives back where the text ends before it.
    pub(super) fn tail(&mut self, start: usize, main: Option<&Slot>) -> usize {
        let message = self.scene.message;
        let whole = message.len();
        let commas: Vec<usize> =
            message[start..].match_indices(", ").map(|(at, _)| start + at).collect();
        for at in &commas {
            if let Some((slot, values)) = self.values_at(&message[at + 2..], main) {
                self.set_all(&slot, &values);
                return *at;
            }
        }
        // "sanded the hull for jobs 2 and 3": the text keeps what it says, and the jobs are those.
        let words = message[start..].match_indices(' ').map(|(at, _)| start + at + 1);
        for at in words.skip(1).collect::<Vec<_>>() {
            let rest = &message[at..];
            let first = rest.split_whitespace().next().unwrap_or_default().to_lowercase();
            let leads = self.scene.language.is(Class::Of, &first);
            if let Some((slot, values)) = self.values_at(rest, main).filter(|_| leads) {
                self.set_all(&slot, &values);
                break;
            }
        }
        whole
    }

    /// The parameter that words begin with, if only values follow: "for items 2, 3 and 5".
    fn values_at(&self, text: &str, main: Option<&Slot>) -> Option<(Slot, Vec<String>)> {
        let language = self.scene.language;
        let english = lexicon::english();
        let trimmed = |word: &str| word.trim_matches([',', '.', '!', ':', '#']).to_owned();
        let words: Vec<String> = text.split_whitespace().map(trimmed).collect();
        let small = |word: &&String| {
            let lower = word.to_lowercase();
            let classes = [Class::Filler, Class::Of, Class::To, Class::With, Class::In, Class::A];
            classes.iter().any(|class| language.is(*class, &lower))
        };
        let lead = words.iter().take_while(small).count();
        let name = words.get(lead)?.to_lowercase();
        let nouns = language.nouns(&name).iter().map(|(noun, _)| noun.clone());
        let names: Vec<String> = nouns.chain([english.singular(&name)]).collect();
        let is_named = |slot: &&Slot| {
            let things = slot.words.strip_suffix(&["id".to_owned()]).unwrap_or(&slot.words);
            let other = main.is_none_or(|main| main.path() != slot.path());
            other && self.is_free(slot) && names.contains(&things.join(" "))
        };
        let slot = self.offer.slots.iter().find(is_named)?;
        let joins = |word: &&String| !language.is(Class::And, &word.to_lowercase());
        let values: Vec<String> = words[lead + 1..].iter().filter(joins).cloned().collect();
        let valued = |word: &String| match slot.shape.choices.is_empty() {
            true => word.contains(|c: char| c.is_ascii_digit()),
            false => slot.shape.choice(word).is_some(),
        };
        let several = slot.shape.many || english.singular(slot.name()) != slot.name();
        let fits =
            !values.is_empty() && values.iter().all(valued) && (several || values.len() == 1);
        fits.then(|| (slot.clone(), values))
    }

    fn set_all(&mut self, slot: &Slot, values: &[String]) {
        if slot.shape.many {
            for value in values.iter().filter_map(|value| slot.shape.value(value)) {
                self.set(slot, value);
            }
        } else if let Some(value) = slot.shape.value(&values.join(",")) {
            self.set(slot, value);
        }
    }

    /// Takes a text for a parameter that may be left out, and the values among its words for those that need one: "flat
    /// tire and bent rim".
    pub(super) fn remark(&mut self, span: Span) -> Option<Span> {
        let text = self.scene.message.get(span.start..span.end)?.trim();
        let remark = |slot: &&Slot| {
            let named = |word: &String| lexicon::english().is(Class::SlotRemark, word);
            let open = slot.means == Means::Text && !slot.shape.many && !slot.shape.required;
            open && slot.words.iter().any(named) && self.is_free(slot)
        };
        let slot = self.offer.slots.iter().find(remark).cloned()?;
        let plain = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        let words: Vec<String> = text.split_whitespace().map(plain).collect();
        if text.is_empty() || words.iter().any(|word| self.scene.language.is(Class::Not, word)) {
            return None;
        }
        let needs = |slot: &&Slot| {
            slot.shape.required && !slot.shape.choices.is_empty() && self.is_free(slot)
        };
        let open: Vec<Slot> = self.offer.slots.iter().filter(needs).cloned().collect();
        for slot in open {
            let mut found: Vec<Value> = Vec::new();
            for value in words.iter().filter_map(|word| slot.shape.choice(word)) {
                if !found.contains(value) {
                    found.push(value.clone());
                }
            }
            if slot.shape.many || found.len() == 1 {
                found.into_iter().for_each(|value| self.set(&slot, value));
            }
        }
        self.set(&slot, text.into());
        Some(span)
    }
}
