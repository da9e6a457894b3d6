//! What can be done: the answer to "can you delete patients?", and what a tool needs that was not understood.
//!
//! Invariant: nothing is called, and no question stays open.

use super::ask::Ask;
use super::offer::{Offer, Slot};
use super::read::{Part, Role};
use super::rows;
use super::scene::{Said, Scene};
use super::serve::{Meaning, looks_named};
use crate::lexicon::{Class, Family, Say};

/// Maximum tools named that do something of the sort that was asked for.
const ALIKE_MAX: usize = 4;

impl Scene<'_> {
    /// The reply to a question whether things of a kind can be changed, without saying which ones.
    pub(super) fn ability(&self, ask: &Ask, parts: &[Part]) -> Option<Said> {
        let words: Vec<String> = self.message.split_whitespace().map(str::to_lowercase).collect();
        let begins = self.language.starts(Class::CanYou, words.iter().map(String::as_str));
        let [word] = ask.kinds.as_slice() else { return None };
        let plain = ask.phrases.is_empty() && ask.pointers.is_empty() && ask.fields.is_empty();
        let asks = begins.is_some() && self.message.trim_end().ends_with('?');
        let all =
            word.after.is_some() || parts.iter().any(|p| self.language.is(Class::Every, &p.lower));
        let definite = parts.iter().any(|part| self.language.is(Class::The, &part.lower));
        let (family, lead) = self.lead(ask, parts)?;
        if !asks || !plain || !word.many || all || definite || family.is_some_and(Family::reads) {
            return None;
        }
        let does = |offer: &&Offer| {
            let of_kind = offer.kind.as_ref() == Some(&word.kind)
                || offer.nouns().any(|noun| noun == word.kind.as_str());
            let own = family.is_some() && offer.family == family;
            of_kind && !offer.reads && (own || offer.is_done_by(lead))
        };
        let mut said = self.lost();
        let what = self.message.trim().trim_end_matches('?').to_owned();
        said.text = match self.offers.iter().find(does) {
            Some(offer) => self.say(Say::Able, &[("what", &self.needed(offer))]),
            None => {
                let what = what.split_whitespace().skip(begins.unwrap_or(0));
                let what = what.collect::<Vec<_>>().join(" ");
                self.say(Say::Cannot, &[("what", &what)])
            }
        };
        said.unanswered = None;
        Some(said)
    }

    /// The verb of a message, with its family if the lexicon has it.
    fn lead<'p>(&self, ask: &Ask, parts: &'p [Part]) -> Option<(Option<Family>, &'p str)> {
        if let Some((family, at)) = ask.verb {
            return Some((Some(family), parts[at].lower.as_str()));
        }
        let command = parts.iter().find(|part| part.role == Role::Command)?;
        Some((None, command.lower.as_str()))
    }

    /// Whether a command is only one of tools that change something.
    pub(super) fn only_changes(&self, command: &str) -> bool {
        let own = |offer: &&Offer| {
            offer.command().as_deref() == Some(command) || offer.decided_by(command).is_some()
        };
        self.offers.iter().filter(own).all(|offer| !offer.reads)
    }

    /// What a tool does, and the parameters that it needs: "delete patient (patient id)".
    pub(super) fn needed(&self, offer: &Offer) -> String {
        let name = offer.words.join(" ");
        let needs = offer.slots.iter().filter(|slot| slot.shape.required).map(Slot::shown);
        let needs: Vec<String> = needs.collect();
        if needs.is_empty() { name } else { format!("{name} ({})", needs.join(", ")) }
    }

    /// The reply to a question that no tool answers, as far as it was understood.
    pub(super) fn no_answer(&self, left: &[&str]) -> Said {
        let (left, what) = (left.join("\", \""), self.abilities());
        let mut said = self.lost();
        said.text = self.say(Say::NoAnswer, &[("left", &left), ("what", &what)]);
        said
    }

    /// The reply if no tool can carry out a verb as it is said.
    pub(super) fn cannot(&self, ask: &Ask, family: Family, parts: &[Part]) -> Said {
        let end = parts.last().map_or(0, |part| part.span.end);
        let start = parts.first().map_or(0, |part| part.span.start);
        let what = self.message.get(start..end).unwrap_or(self.message);
        let mut said = self.lost();
        let named = |offer: &&Offer| {
            let kind = offer.kind.as_ref();
            !offer.reads && ask.kinds.iter().any(|word| Some(&word.kind) == kind)
        };
        let alike = |offer: &&Offer| offer.family == Some(family) && !family.reads();
        let mut found: Vec<&Offer> = self.offers.iter().filter(alike).collect();
        // Of the kind that is spoken of, whatever its verb.
        found.sort_by_key(|offer| !named(offer));
        let others = self.offers.iter().filter(|offer| named(offer) && !alike(offer));
        found.extend(others.collect::<Vec<_>>());
        let can: Vec<String> = found.into_iter().take(ALIKE_MAX).map(|o| self.needed(o)).collect();
        said.text = match can.is_empty() {
            true => self.say(Say::Cannot, &[("what", what)]),
            false => self.say(Say::CannotSo, &[("what", what), ("can", &can.join("; "))]),
        };
        said.unanswered = Some(if family.reads() { "no_tool" } else { "cannot" });
        said
    }

    /// "Decommission it": a word that is neither a verb nor something that the thing has is an act that no tool does.
    pub(super) fn unknown_act(&self, ask: &Ask, meaning: &Meaning<'_>) -> Option<Said> {
        let ([phrase], [pointer]) = (meaning.phrases.as_slice(), ask.pointers.as_slice()) else {
            return None;
        };
        let commands = phrase.at + 1 == pointer.at
            && !pointer.is_possessive
            && !looks_named(phrase)
            && !ask.questions
            && !ask.counts
            && ask.follows.is_none()
            && ask.fields.is_empty();
        let row = meaning.things.first().and_then(|thing| self.row_of(thing));
        let field = row.as_ref().is_some_and(|row| rows::field(row, &phrase.text).is_some());
        let what = self.message.get(phrase.span.start..pointer.span.end)?;
        (commands && !field).then(|| {
            let mut said = self.lost();
            said.text = self.say(Say::Cannot, &[("what", what)]);
            said.unanswered = Some("cannot");
            said
        })
    }
}
