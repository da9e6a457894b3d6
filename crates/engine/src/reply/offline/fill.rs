//! Arguments for a tool from the words of a message.
//!
//! Invariant: every value comes from the message or from a thing that was spoken of; words that became no value
//! and are not in the tool's own name or description are left over.

use serde_json::{Map, Value};

use super::act::takes_literal;
use super::ask::{Ask, Phrase};
use super::find::{Found, bare};
use super::narrow::{side, thing_value};
use super::offer::{Means, Offer, Slot};
use super::point::Meant;
use super::read::{Part, Role};
use super::scene::{Flow, Said, Scene};
use super::schema::put;
use crate::entity::Number;
use crate::lexicon::{self, Class, Say};
use crate::pack::words_of_identifier;
use crate::search::words::stems;
use crate::session::dialogue::{Query, Term, Thing, Want, What};

/// Arguments, and what is left over.
pub(super) struct Filled {
    pub arguments: Map<String, Value>,
    pub left: Vec<String>,
    /// Whether the user named everything that it rests on.
    pub is_vouched_for: bool,
    /// Whether it says more than which thing is meant.
    pub changes: bool,
}

struct Filling<'s, 'a> {
    scene: &'s Scene<'a>,
    offer: &'s Offer,
    ask: &'s Ask,
    parts: &'s [Part],
    arguments: Map<String, Value>,
    filled: Vec<String>,
    is_vouched_for: bool,
}

impl Scene<'_> {
    /// Fills a tool's parameters; a question where words fit several things.
    pub fn fill(
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
        };
        let mut left: Vec<&Phrase> = Vec::new();
        for pointer in &ask.pointers {
            if let Err(said) = filling.pointer(pointer) {
                return Ok(Err(said));
            }
        }
        filling.after_colon();
        let tail = filling.colon().unwrap_or(usize::MAX);
        for phrase in ask.phrases.iter().filter(|phrase| phrase.span.start < tail) {
            match filling.phrase(phrase)? {
                Ok(true) => {}
                Ok(false) => left.push(phrase),
                Err(said) => return Ok(Err(said)),
            }
        }
        let mut unplaced: Vec<String> = Vec::new();
        for phrase in left {
            match filling.last_resort(phrase)? {
                Ok(true) => {}
                Ok(false) => unplaced.push(phrase.text.clone()),
                Err(said) => return Ok(Err(said)),
            }
        }
        filling.flags();
        filling.focus();
        let kinds = ask.kinds.iter().filter(|word| !self.is_own_word(offer, &parts[word.at].lower));
        let kinds = kinds.filter(|word| {
            offer.kind.as_ref() != Some(&word.kind) && offer.slot_for(&word.kind).is_none()
        });
        unplaced.extend(kinds.map(|word| parts[word.at].text.clone()));
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
    fn is_free(&self, slot: &Slot) -> bool {
        !self.filled.contains(&slot.path())
    }

    fn set(&mut self, slot: &Slot, value: Value) {
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

    /// A thing, for the parameter that takes its kind.
    fn thing(&mut self, thing: &Thing) -> bool {
        let slot = self
            .offer
            .slot_for(&thing.kind)
            .filter(|slot| self.is_free(slot) || slot.shape.many)
            .cloned();
        let any = || {
            let mut required =
                self.offer.slots.iter().filter(|slot| slot.shape.required && self.is_free(slot));
            required.find(|slot| matches!(slot.means, Means::AnyName | Means::Own(None))).cloned()
        };
        let Some(slot) = slot.or_else(any) else { return false };
        let Some(value) = thing_value(&slot, thing) else { return false };
        self.set(&slot, value);
        true
    }

    fn pointer(&mut self, pointer: &super::ask::Pointer) -> Result<(), Box<Said>> {
        let text = &self.scene.message[pointer.span.start..pointer.span.end];
        let many = matches!(pointer.number, Number::Many | Number::Both);
        match self.scene.meant(pointer) {
            Meant::Things(things) if !many || things.len() == 1 => {
                for thing in &things {
                    self.is_vouched_for &= self.scene.is_named_by_user(thing);
                    self.thing(thing);
                }
                Ok(())
            }
            Meant::OneOf(things) | Meant::Things(things) => {
                Err(Box::new(self.scene.several(self.query(text), 0, text, things)))
            }
            Meant::Nothing => match self
                .offer
                .slots
                .iter()
                .any(|slot| slot.shape.required && matches!(slot.means, Means::Own(_)))
            {
                true => {
                    let said = self.scene.say(Say::NoReference, &[("text", text)]);
                    let missing = crate::session::dialogue::Missing::Words;
                    Err(Box::new(self.scene.asked(said, self.query(text), missing, Vec::new())))
                }
                false => Ok(()),
            },
        }
    }

    fn query(&self, text: &str) -> Query {
        let term = Term { text: text.into(), what: What::Word, negated: false };
        Query { want: Want::Show, terms: vec![term], ..Query::default() }
    }

    /// Where the text behind a colon begins: "append insight: berth 4 is full".
    fn colon(&self) -> Option<usize> {
        let at = self.scene.message.find(": ")?;
        let text = |slot: &&Slot| slot.means == Means::Text && slot.shape.required;
        (!self.offer.reads && self.offer.slots.iter().any(|slot| text(&slot))).then_some(at)
    }

    fn after_colon(&mut self) {
        let Some(at) = self.colon() else { return };
        let text = self.scene.message[at + 1..].trim();
        let slots = self.offer.slots.iter().rev();
        let slot = slots
            .filter(|slot| slot.means == Means::Text && slot.shape.required)
            .find(|slot| self.is_free(slot));
        if let (Some(slot), false) = (slot.cloned(), text.is_empty()) {
            self.set(&slot, text.into());
        }
    }

    /// A phrase with a sure place: by its look, by the word beside it, as a choice, as a thing. `false` where it
    /// has none yet.
    fn phrase(&mut self, phrase: &Phrase) -> Flow<Result<bool, Box<Said>>> {
        if let Role::Literal(literal) = self.parts[phrase.at].role {
            let free = |slot: &&Slot| {
                takes_literal(slot, literal) && (self.is_free(slot) || slot.shape.many)
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
            self.set(&slot, phrase.text.clone().into());
            return Ok(Ok(true));
        }
        if let Some(slot) = self.named_slot(phrase) {
            return self.give(&slot, phrase);
        }
        // "priority urgent": the parameter and its value.
        if let Some((first, rest)) = phrase.text.split_once(' ')
            && let Some(slot) =
                self.offer.slots.iter().find(|slot| slot.words == [first.to_lowercase()])
            && self.is_free(slot)
            && !rest.trim().is_empty()
        {
            let inner = Phrase { text: rest.trim().to_owned(), ..phrase.clone() };
            return self.give(&slot.clone(), &inner);
        }
        if self.choices(phrase) {
            return Ok(Ok(true));
        }
        if !phrase.is_quoted && self.scene.is_own_word(self.offer, &phrase.text.to_lowercase()) {
            return Ok(Ok(true));
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

    /// The parameter that a word beside the phrase names: "status to offline", "called Dry Dock".
    fn named_slot(&self, phrase: &Phrase) -> Option<Slot> {
        let free = |slot: &&Slot| self.is_free(slot) || slot.shape.many;
        let before: Vec<&Part> = self.parts[..phrase.at].iter().rev().take(3).collect();
        if before.first().is_some_and(|part| part.is(Class::Called)) {
            let named = |slot: &&Slot| {
                matches!(slot.words.last().map(String::as_str), Some("name" | "title"))
            };
            return self.offer.slots.iter().filter(free).find(named).cloned();
        }
        let renames = self.ask.verb.is_some_and(|(_, at)| self.parts[at].lower == "rename");
        if renames && phrase.placed == Some(Class::To) {
            let named = |slot: &&Slot| slot.words == ["name"] || slot.words == ["title"];
            return self.offer.slots.iter().filter(free).find(named).cloned();
        }
        // "select Liquid cooling": the verb is a parameter.
        if let Some((_, at)) = self.ask.verb {
            let verb = &self.parts[at].lower;
            let named = |slot: &&Slot| slot.words.iter().any(|word| word == verb);
            if let Some(slot) = self.offer.slots.iter().filter(free).find(named) {
                return Some(slot.clone());
            }
        }
        let english = lexicon::english();
        // "the status of the second one to offline"
        if phrase.placed == Some(Class::To) {
            let said = |slot: &&Slot| {
                self.parts[..phrase.at].iter().any(|part| slot.words == [part.lower.clone()])
            };
            if let Some(slot) = self.offer.slots.iter().filter(free).find(said) {
                return Some(slot.clone());
            }
        }
        let skipped = |part: &&&Part| {
            matches!(part.role, Role::Filler)
                || matches!(part.role, Role::Word(Class::To | Class::Of | Class::With | Class::And))
        };
        let word = before.iter().find(|part| !skipped(part))?;
        let said = english.singular(&word.lower);
        let fields = self.ask.fields.iter().any(|field| {
            english.field([said.as_str()].into_iter()).is_some_and(|(f, _)| f == field)
        });
        let named = |slot: &&Slot| {
            slot.words.join(" ") == said
                || slot.name() == said
                || fields
                    && english
                        .field([said.as_str()].into_iter())
                        .is_some_and(|(field, _)| field == slot.name())
        };
        self.offer.slots.iter().filter(free).find(named).cloned()
    }

    /// Values of parameters with choices: "high priority", "leaf".
    fn choices(&mut self, phrase: &Phrase) -> bool {
        let words: Vec<&str> = phrase.text.split_whitespace().collect();
        let english = lexicon::english();
        let own = |word: &str| {
            let word = english.singular(&word.to_lowercase());
            let slots = self.offer.slots.iter().flat_map(|slot| &slot.words);
            slots.chain(&self.offer.words).any(|own| *own == word)
        };
        let values: Vec<&str> = words.iter().copied().filter(|word| !own(word)).collect();
        let text = values.join(" ");
        let slot = self
            .offer
            .slots
            .iter()
            .find(|slot| self.is_free(slot) && slot.shape.choice(&text).is_some());
        let Some(slot) = slot.filter(|_| !text.is_empty()).cloned() else { return false };
        let Some(value) = slot.shape.choice(&text).cloned() else { return false };
        self.set(&slot, value);
        true
    }

    /// Gives a phrase to a parameter: as the thing it names, as a choice, as it is written.
    fn give(&mut self, slot: &Slot, phrase: &Phrase) -> Flow<Result<bool, Box<Said>>> {
        let text = phrase.text.as_str();
        let kind = match &slot.means {
            Means::Thing(kind, _) => Some(kind.clone()),
            Means::Own(_) => self.offer.kind.clone(),
            _ => None,
        };
        if let (Some(kind), Some(id)) = (&kind, &phrase.id) {
            let mut thing = bare(kind, id);
            thing.id = Some(id.clone());
            if let Some(value) = thing_value(slot, &thing) {
                self.set(slot, value);
                return Ok(Ok(true));
            }
        }
        if let Some(kind) = kind {
            let number = text.bytes().all(|byte| byte.is_ascii_digit());
            let found = match slot.shape.value(text).filter(|_| number) {
                Some(value) => {
                    self.set(slot, value);
                    return Ok(Ok(true));
                }
                None => self.scene.find(text, std::slice::from_ref(&kind), phrase.placed)?,
            };
            match found {
                Found::One(thing) => {
                    let value = thing_value(slot, &thing).or_else(|| slot.shape.value(text));
                    if let Some(value) = value {
                        self.set(slot, value);
                        return Ok(Ok(true));
                    }
                }
                Found::Several(things) => {
                    return Ok(Err(Box::new(self.scene.several(
                        self.query(text),
                        0,
                        text,
                        things,
                    ))));
                }
                Found::Near(things) => {
                    return Ok(Err(Box::new(self.scene.did_you_mean(
                        self.query(text),
                        0,
                        text,
                        things,
                    ))));
                }
                Found::None | Found::Unknown | Found::Failed(_) => {}
            }
        }
        if !slot.shape.choices.is_empty() && slot.shape.choice(text).is_none() {
            let (field, choices) = (slot.shown(), slot.shape.choices_shown());
            let with = [("text", text), ("field", field.as_str()), ("choices", choices.as_str())];
            let mut query = self.query(text);
            query.want = Want::Act(self.offer.family.unwrap_or(lexicon::Family::Change));
            query.kind.clone_from(&self.offer.kind);
            query.call = Some((self.offer.tool.tool.clone(), self.arguments.clone()));
            let missing = crate::session::dialogue::Missing::Slot(slot.path());
            let said =
                self.scene.asked(self.scene.say(Say::NoChoice, &with), query, missing, Vec::new());
            return Ok(Err(Box::new(said)));
        }
        match slot.shape.value(text) {
            Some(value) => {
                self.set(slot, value);
                Ok(Ok(true))
            }
            None => Ok(Ok(false)),
        }
    }

    /// The one parameter that still needs a value of this sort.
    fn last_resort(&mut self, phrase: &Phrase) -> Flow<Result<bool, Box<Said>>> {
        let number = phrase.text.bytes().all(|byte| byte.is_ascii_digit());
        if number && let Some(slot) = self.counted_slot(phrase) {
            return self.give(&slot, phrase);
        }
        // What is made gets no name that does not look like one.
        let makes = self.offer.family == Some(lexicon::Family::Create);
        let marked = phrase.text.contains(|c: char| c.is_uppercase() || c.is_ascii_digit());
        let named = phrase.is_quoted || marked && phrase.placed.is_none();
        let takes = |slot: &&Slot| {
            (self.is_free(slot) || slot.shape.many)
                && match slot.means {
                    Means::Own(_) | Means::Thing(..) => slot.shape.required,
                    Means::Text | Means::Search | Means::AnyName => {
                        slot.shape.required && !number && (!makes || named)
                    }
                    Means::Number => slot.shape.required && number,
                    _ => false,
                }
        };
        let mut open = self.offer.slots.iter().filter(takes);
        match open.next().cloned() {
            Some(slot) => self.give(&slot, phrase),
            None => Ok(Ok(false)),
        }
    }

    /// The parameter that a number beside a word of its description belongs to: "last 3 lines".
    fn counted_slot(&self, phrase: &Phrase) -> Option<Slot> {
        let beside =
            |at: Option<usize>| at.and_then(|at| self.parts.get(at)).map(|part| part.lower.clone());
        let (before, after) = (beside(phrase.at.checked_sub(1)), beside(Some(phrase.at + 1)));
        let numeric =
            |slot: &&Slot| matches!(slot.means, Means::Limit | Means::Number) && self.is_free(slot);
        let describes = |slot: &Slot, word: &Option<String>| {
            word.as_ref().is_some_and(|word| {
                let own = stems(&slot.shape.description);
                stems(word).iter().all(|stem| own.contains(stem)) && !stems(word).is_empty()
            })
        };
        let slots = || self.offer.slots.iter().filter(numeric);
        let exact = slots().find(|slot| describes(slot, &before));
        let limit = || slots().find(|slot| slot.means == Means::Limit && describes(slot, &after));
        let latest = || {
            let latest =
                before.as_ref().is_some_and(|word| self.scene.language.is(Class::Latest, word));
            slots().find(|slot| slot.means == Means::Limit && latest)
        };
        exact.or_else(limit).or_else(latest).cloned()
    }

    /// Parameters that are yes or no, named by the message.
    fn flags(&mut self) {
        let lower = self.scene.message.to_lowercase();
        let flags: Vec<Slot> =
            self.offer.slots.iter().filter(|slot| slot.means == Means::Flag).cloned().collect();
        for slot in flags {
            let Some(at) = lower.find(&slot.words.join(" ")) else { continue };
            let before: Vec<&str> = lower[..at].split_whitespace().rev().take(2).collect();
            let denied = before
                .iter()
                .any(|word| self.scene.language.is(Class::Not, word) || word.ends_with("n't"));
            if self.is_free(&slot) {
                self.set(&slot, Value::Bool(!denied));
            }
        }
    }

    /// What is spoken of fills the parameter for the tool's own kind, where the message names no other.
    fn focus(&mut self) {
        let own = |slot: &&Slot| slot.shape.required && matches!(slot.means, Means::Own(_));
        let Some(slot) =
            self.offer.slots.iter().find(own).filter(|slot| self.is_free(slot)).cloned()
        else {
            return;
        };
        let Some(thing) = self.scene.dialogue.focus.first() else { return };
        let says = !self.filled.is_empty();
        if says
            && Some(&thing.kind) == self.offer.kind.as_ref()
            && let Some(value) = thing_value(&slot, thing)
        {
            self.is_vouched_for &= self.scene.is_named_by_user(thing);
            self.set(&slot, value);
        }
    }
}

impl Scene<'_> {
    /// Whether words are the tool's own: in its name, in those of its parameters, or in what is said of it.
    pub fn is_own_word(&self, offer: &Offer, text: &str) -> bool {
        let english = lexicon::english();
        let slots = || offer.slots.iter().flat_map(|slot| &slot.words);
        let mut words =
            text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).peekable();
        words.peek().is_some()
            && words.all(|word| {
                let singular = english.singular(word);
                let known = |own: &String| *own == word || *own == singular;
                let described = stems(word).iter().all(|stem| offer.described.contains(stem));
                offer.words.iter().any(known)
                    || slots().any(known)
                    || described && offer.reads
                    || words_of_identifier(&offer.tool.tool.server).iter().any(known)
            })
    }

    /// Whether the user's own words name a thing.
    fn is_named_by_user(&self, thing: &Thing) -> bool {
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
