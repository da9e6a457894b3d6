//! Fills a tool's arguments from the words of a message.
//!
//! Invariant: every value comes from the message or from a thing mentioned before; words that became no value and
//! are not the tool's own are left over.

use serde_json::{Map, Value};

use super::ask::{Ask, Phrase, phrase as phrase_of};
use super::fit::takes_literal;
use super::narrow::{side, thing_value};
use super::offer::{Means, Offer, Slot};
use super::point::Meant;
use super::read::{Literal, Part, Role};
use super::scene::{Flow, Said, Scene};
use super::schema::put;
use crate::entity::Number;
use crate::lexicon::{self, Class, Say};
use crate::pack::{Field, words_of_identifier};
use crate::session::dialogue::{Missing, Query, Term, Thing, Want, What};

/// Arguments, and the words left over.
pub(super) struct Filled {
    pub arguments: Map<String, Value>,
    pub left: Vec<String>,
    /// Whether the user named all its sources.
    pub is_vouched_for: bool,
    /// Whether it says more than which thing is meant.
    pub changes: bool,
}

pub(super) struct Filling<'s, 'a> {
    pub(super) scene: &'s Scene<'a>,
    pub(super) offer: &'s Offer,
    pub(super) ask: &'s Ask,
    pub(super) parts: &'s [Part],
    pub(super) arguments: Map<String, Value>,
    pub(super) filled: Vec<String>,
    pub(super) is_vouched_for: bool,
    /// The parameter for which several things are meant, with the words for them.
    pub(super) pending: Option<(Slot, String, Vec<Thing>)>,
    /// The things that the message names, whose rows may have further values.
    pub(super) named: Vec<Thing>,
}

impl Scene<'_> {
    /// Fills a tool's parameters; asks if words match several things.
    pub(super) fn fill(
        &self,
        offer: &Offer,
        ask: &Ask,
        parts: &[Part],
    ) -> Flow<Result<Filled, Box<Said>>> {
        let mut filling = Filling {
            scene: self,
            offer,
            ask,
            parts,
            arguments: offer.fixed.clone(),
            filled: Vec::new(),
            is_vouched_for: true,
            pending: None,
            named: Vec::new(),
        };
        let mut left: Vec<&Phrase> = Vec::new();
        // "create a task, assign it to Tom": it is what is made.
        let made = |pointer: &super::ask::Pointer| {
            let first = ask.verb.is_some_and(|(_, at)| at < pointer.at);
            let makes = offer.family == Some(lexicon::Family::Create) && first;
            let later = parts[..pointer.at]
                .iter()
                .any(|part| matches!(part.role, Role::Quoted | Role::Content));
            makes && later && pointer.number == Number::One && pointer.kinds.is_none()
        };
        // "give 4107 to Tom and set it to high": what the message itself names.
        let named = |pointer: &super::ask::Pointer| {
            let number = |phrase: &Phrase| phrase.at < pointer.at && phrase.is_code();
            let one = pointer.number == Number::One && pointer.kinds.is_none();
            one && offer.own_slots().next().is_some() && ask.phrases.iter().any(number)
        };
        for pointer in ask.pointers.iter().filter(|pointer| !made(pointer) && !named(pointer)) {
            if let Err(said) = filling.pointer(pointer) {
                return Ok(Err(said));
            }
        }
        for (at, part) in parts.iter().enumerate().filter(|(_, part)| part.role == Role::Command) {
            if offer.decided_by(&part.lower).is_some() {
                filling.choices(&phrase_of(part, &Role::Content, at));
            }
        }
        let mut taken = match filling.pair() {
            Ok(taken) => taken,
            Err(said) => return Ok(Err(said)),
        };
        taken.extend(filling.after_colon());
        taken.extend(filling.rest_after_to());
        taken.extend(filling.bound());
        taken.extend(filling.after_because());
        taken.extend(filling.after_noun());
        taken.extend(filling.after_called());
        // "subtract 3 from 10": what follows "from" comes first.
        let number = |phrase: &&Phrase| phrase.text.parse::<f64>().is_ok();
        let from = |phrase: &&Phrase| number(phrase) && phrase.placed == Some(Class::From);
        let said: Vec<Phrase> = ask.phrases.iter().map(|p| filling.without_lead(p)).collect();
        let mut phrases: Vec<&Phrase> = said.iter().collect();
        if phrases.iter().any(from) {
            phrases.sort_by_key(|phrase| number(phrase) && !from(phrase));
        }
        let within = |phrase: &&Phrase| {
            taken.iter().any(|s| s.start <= phrase.span.start && phrase.span.start < s.end)
        };
        let mut list: Option<(Slot, usize)> = None;
        for phrase in phrases.into_iter().filter(|phrase| !within(phrase)) {
            // "tags hardware and dock"
            let goes_on = list.take().filter(|(_, at)| {
                filling.is_joined(*at, phrase.at) && filling.slot_at(&phrase.text).is_none()
            });
            let placed = match goes_on {
                Some((slot, at)) => {
                    filling.add(&slot, at, phrase);
                    Ok(true)
                }
                None => filling.phrase(phrase)?,
            };
            list = filling.last_list().map(|slot| (slot, phrase.at));
            match placed {
                Ok(true) => {}
                Ok(false) => left.push(phrase),
                Err(said) => return Ok(Err(said)),
            }
        }
        let mut unplaced: Vec<String> = Vec::new();
        for phrase in filling.spread(left) {
            match filling.last_resort(phrase)? {
                Ok(true) => {}
                Ok(false) => unplaced.push(phrase.text.clone()),
                Err(said) => return Ok(Err(said)),
            }
        }
        for thing in std::mem::take(&mut filling.named) {
            filling.fill_from_row(&thing);
        }
        filling.flags();
        filling.focus();
        let mut sorts: Vec<usize> = Vec::new();
        for word in &ask.kinds {
            let other = offer.kind.as_ref() != Some(&word.kind);
            let said = phrase_of(&parts[word.at], &Role::Content, word.at);
            if other && offer.slot_for(&word.kind).is_none() && filling.choices(&said) {
                sorts.push(word.at);
            }
        }
        let kinds = ask.kinds.iter().filter(|word| !sorts.contains(&word.at));
        let kinds = kinds.filter(|word| !self.is_own_word(offer, &parts[word.at].lower));
        let kinds = kinds.filter(|word| {
            offer.kind.as_ref() != Some(&word.kind) && offer.slot_for(&word.kind).is_none()
        });
        unplaced.extend(kinds.map(|word| parts[word.at].text.clone()));
        if let Some((slot, text, things)) = filling.pending.take() {
            let whole = unplaced.is_empty();
            return Ok(Err(Box::new(filling.which(&slot, &text, things, whole))));
        }
        let own = |path: &String| {
            offer
                .slots
                .iter()
                .any(|slot| slot.path() == *path && matches!(slot.means, Means::Own(_)))
        };
        let changes = filling.filled.iter().any(|path| !own(path));
        let Filling { arguments, is_vouched_for, .. } = filling;
        Ok(Ok(Filled { arguments, left: unplaced, is_vouched_for, changes }))
    }
}

impl Filling<'_, '_> {
    pub(super) fn is_free(&self, slot: &Slot) -> bool {
        !self.filled.contains(&slot.path())
    }

    pub(super) fn set(&mut self, slot: &Slot, value: Value) {
        let path = slot.path();
        let value = match (slot.shape.many, super::schema::get(&self.arguments, &slot.shape.path)) {
            (true, Some(Value::Array(before))) => {
                let mut values = before.clone();
                values.push(value);
                Value::Array(values)
            }
            (true, _) => Value::Array(vec![value]),
            (false, _) => value,
        };
        put(&mut self.arguments, &slot.shape.path, value);
        self.filled.push(path);
    }

    /// Assigns a thing to the parameter that takes its kind.
    pub(super) fn thing(&mut self, thing: &Thing) -> bool {
        let slot = self
            .offer
            .slot_for(&thing.kind)
            .filter(|slot| self.is_free(slot) || slot.shape.many)
            .cloned();
        let any = || {
            let mut required =
                self.offer.slots.iter().filter(|slot| slot.shape.required && self.is_free(slot));
            let number = |slot: &&Slot| {
                let last = slot.words.last().map(String::as_str);
                slot.means == Means::Number && matches!(last, Some("number" | "id"))
            };
            let mut numbers = required.clone().filter(number);
            let first = numbers.find(|slot| side(slot, Class::From)).or_else(|| numbers.next());
            // `number` of `adr_update_status`: that of the ADR.
            let kind = words_of_identifier(thing.kind.as_str());
            let called = kind.iter().all(|word| self.offer.words.contains(word));
            let named = required.find(|slot| {
                let own = called && matches!(slot.means, Means::Own(Some(Field::Id)));
                own || matches!(slot.means, Means::AnyName | Means::Own(None))
            });
            named.or(first).cloned()
        };
        let Some(slot) = slot.or_else(any) else { return false };
        let row = || self.scene.row_of(thing)?.get(slot.name()).cloned();
        let value = thing_value(&slot, thing).or_else(row);
        let Some(value) = value.filter(|value| value.is_string() || value.is_number()) else {
            return false;
        };
        self.set(&slot, value);
        true
    }

    /// Fills parameters that a thing's row has under the same name: the project of a countermeasure. Not the only one that
    /// a change still needs: a plant is not moved to the bed that it is in.
    fn fill_from_row(&mut self, thing: &Thing) {
        let row = self.scene.row_of(thing);
        let open = |slot: &&Slot| {
            slot.shape.required && self.is_free(slot) && matches!(slot.means, Means::Thing(..))
        };
        let value = |slot: &Slot| {
            let own = row.as_ref().and_then(|row| row.get(slot.name()));
            let value = own.or_else(|| thing.keys.get(slot.name()));
            value.and_then(|value| slot.shape.value(&super::rows::scalar(value)))
        };
        let slots = self.offer.slots.iter().filter(open);
        let found: Vec<(Slot, Value)> =
            slots.filter_map(|slot| Some((slot.clone(), value(slot)?))).collect();
        let other = |slot: &Slot| {
            let from_row = found.iter().any(|(own, _)| own.path() == slot.path());
            slot.shape.required && !from_row && !matches!(slot.means, Means::Own(_))
        };
        if self.offer.reads || self.offer.slots.iter().any(other) {
            found.into_iter().for_each(|(slot, value)| self.set(&slot, value));
        }
    }

    pub(super) fn pointer(&mut self, pointer: &super::ask::Pointer) -> Result<(), Box<Said>> {
        let text = &self.scene.message[pointer.span.start..pointer.span.end];
        let many = matches!(pointer.number, Number::Many | Number::Both);
        match self.scene.meant(pointer) {
            Meant::Things(things) if !many || things.len() == 1 => {
                for thing in &things {
                    self.is_vouched_for &= self.scene.is_named_by_user(thing);
                    let placed = self.thing(thing);
                    let own = self.offer.own_slots().next().is_some();
                    // "Delete it": not something that the tool takes nothing of.
                    if !placed && own && !self.offer.reads {
                        return Err(self.no_reference(text));
                    }
                }
                Ok(())
            }
            Meant::OneOf(things) | Meant::Things(things) => {
                Err(Box::new(self.scene.several(self.query(text), 0, text, things)))
            }
            Meant::Nothing => {
                let needed = |slot: &Slot| slot.shape.required || !self.offer.reads;
                match self.offer.own_slots().any(needed) {
                    true => Err(self.no_reference(text)),
                    false => Ok(()),
                }
            }
        }
    }

    /// Asks what a reference means.
    fn no_reference(&self, text: &str) -> Box<Said> {
        let said = self.scene.say(Say::NoReference, &[("text", text)]);
        Box::new(self.scene.asked(said, self.query(text), Missing::Words, Vec::new()))
    }

    pub(super) fn query(&self, text: &str) -> Query {
        let term = Term { text: text.into(), what: What::Word, negated: false };
        Query { want: Want::Show, terms: vec![term], ..Query::default() }
    }

    /// Asks later which of several things is meant, as other words may be understood.
    pub(super) fn ask_which(&mut self, slot: &Slot, text: &str, things: Vec<Thing>) {
        self.filled.push(slot.path());
        let asked = (slot.clone(), text.to_owned(), things);
        self.pending.get_or_insert(asked);
    }

    /// Which of several things is meant; if all other words are understood, the choice completes the call.
    fn which(&self, slot: &Slot, text: &str, things: Vec<Thing>, whole: bool) -> Said {
        let mut said = self.scene.several(self.query(text), 0, text, things);
        if let Some(open) = said.dialogue.open.as_mut().filter(|_| whole) {
            open.query.want = Want::Act(self.offer.family.unwrap_or(lexicon::Family::Change));
            open.query.kind.clone_from(&self.offer.kind);
            open.query.call = Some((self.offer.tool.tool.clone(), self.arguments.clone()));
            open.query.terms.clear();
            open.missing = crate::session::dialogue::Missing::Slot(slot.path());
        }
        said
    }

    /// Assigns a phrase with a certain parameter: by its form, an adjacent word, as a choice, as a thing. `false`
    /// if there is none yet.
    pub(super) fn phrase(&mut self, phrase: &Phrase) -> Flow<Result<bool, Box<Said>>> {
        if let Role::Literal(literal) = self.parts[phrase.at].role {
            let free = |slot: &&Slot| {
                takes_literal(self.offer, slot, literal) && (self.is_free(slot) || slot.shape.many)
            };
            let sided = self
                .offer
                .slots
                .iter()
                .filter(free)
                .find(|slot| phrase.placed.is_some_and(|p| side(slot, p)));
            let first = || self.offer.slots.iter().filter(free).find(|slot| slot.shape.required);
            let any = || self.offer.slots.iter().find(free);
            let Some(slot) = sided.or_else(first).or_else(any).cloned() else {
                return Ok(Ok(false));
            };
            if literal == Literal::Path {
                self.is_vouched_for &= self.scene.is_folder_named(&phrase.text);
            }
            let text = self.in_target(phrase).unwrap_or_else(|| phrase.text.clone());
            self.set(&slot, slot.searched(&self.offer.described, &text).into());
            return Ok(Ok(true));
        }
        // "a new member": what is made is new.
        let said = phrase.text.to_lowercase();
        let is_new = lexicon::english().is(Class::Leading, &said)
            && lexicon::english().family(&said) == Some(lexicon::Family::Create);
        if is_new && !self.offer.reads && !phrase.is_quoted {
            return Ok(Ok(true));
        }
        if let Some(slot) = self.named_slot(phrase) {
            match self.give(&slot, phrase)? {
                Ok(false) => {}
                given => return Ok(given),
            }
        }
        // "priority urgent": the parameter and its value.
        if let Some((first, rest)) = phrase.text.split_once(' ')
            && let Some(slot) =
                self.offer.slots.iter().find(|slot| self.offer.is_called(slot, first))
            && self.is_free(slot)
            && !rest.trim().is_empty()
        {
            let inner = Phrase { text: rest.trim().to_owned(), ..phrase.clone() };
            return self.give(&slot.clone(), &inner);
        }
        if self.choices(phrase) || self.single(phrase) {
            return Ok(Ok(true));
        }
        if !phrase.is_quoted && self.scene.is_own_word(self.offer, &phrase.text.to_lowercase()) {
            return Ok(Ok(true));
        }
        if let Some(slot) = self.spelled_slot(phrase).or_else(|| self.sided_slot(phrase)) {
            return self.give(&slot, phrase);
        }
        let kind = phrase.kind.clone().filter(|kind| self.offer.slot_for(kind).is_some());
        match kind {
            Some(kind) => {
                let slot = self.offer.slot_for(&kind).cloned();
                match slot.filter(|slot| self.is_free(slot) || slot.shape.many) {
                    Some(slot) => self.give(&slot, phrase),
                    None => Ok(Ok(false)),
                }
            }
            None => Ok(Ok(false)),
        }
    }

    /// A phrase without the word that says what is done: "tag Ulla Berg", where contacts are tagged.
    fn without_lead(&self, phrase: &Phrase) -> Phrase {
        let lead = self.parts.iter().position(|part| part.role != Role::Filler);
        let split = phrase.text.split_once(' ').filter(|_| lead == Some(phrase.at));
        match split {
            Some((first, rest)) if self.offer.words.first() == Some(&first.to_lowercase()) => {
                Phrase { text: rest.trim().to_owned(), ..phrase.clone() }
            }
            _ => phrase.clone(),
        }
    }
}
