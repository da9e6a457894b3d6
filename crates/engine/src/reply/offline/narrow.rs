//! Turns the phrases of a message into terms that narrow a list, and terms into a tool's arguments.
//!
//! A phrase is a value of a field, a thing, or a word that rows must contain. Any other phrase is not dropped but
//! asked about.

use serde_json::{Map, Value};

use super::ask::Phrase;
use super::find::{Found, bare, is_named, narrowing_kinds};
use super::offer::{Means, Offer, Slot, is_literal};
use super::run::word::begins_alike;
use super::scene::{Flow, Scene};
use super::schema::{Form, put};
use crate::lexicon::{self, Class, Family};
use crate::pack::{Field, Kind};
use crate::session::dialogue::{Term, Thing, What};

/// Minimum letters of a word for matching a misspelt one.
const MISSPELT_LETTERS_MIN: usize = 6;

pub(super) enum Narrowed {
    Terms(Vec<Term>),
    Several(String, Vec<Thing>),
    /// No match, but similar names.
    Near(String, Vec<Thing>),
    Missing(String, Vec<Kind>),
    /// Not the name of anything that is asked for.
    Unclear(String),
    /// The field is known, but the value is not one of its choices.
    NoChoice(Slot, String),
    /// The look-up failed.
    Failed(String),
}

impl Scene<'_> {
    pub(super) fn narrow(&self, offer: &Offer, phrase: &Phrase) -> Flow<Narrowed> {
        let text = phrase.text.as_str();
        let thing_term = |thing: Thing| Term {
            text: text.into(),
            what: What::Thing(thing),
            negated: phrase.negated,
        };
        let own = offer.kind.as_ref();
        if let Some(terms) = self.day_terms(offer, phrase) {
            return Ok(Narrowed::Terms(terms));
        }
        if phrase.placed.is_none()
            && let Some(named) = self.named_itself(offer, phrase)
        {
            return Ok(Narrowed::Terms(vec![named]));
        }
        if let Some(kind) = phrase.kind.as_ref().filter(|kind| phrase.is_sure || self.literal(kind))
        {
            match self.identified(phrase)? {
                Some(Found::One(thing)) => return Ok(Narrowed::Terms(vec![thing_term(thing)])),
                Some(Found::Several(things)) => {
                    return Ok(Narrowed::Several(text.to_owned(), things));
                }
                _ => {}
            }
            return self.named(offer, phrase, std::slice::from_ref(kind));
        }
        // "in progress" is one value.
        if let Some(whole) = self.with_preposition(phrase)
            && let Some(Ok(Narrowed::Terms(terms))) = self.values(offer, &whole)
        {
            return Ok(Narrowed::Terms(terms));
        }
        if !phrase.is_quoted
            && let Some(narrowed) = self.values(offer, phrase)
        {
            return narrowed;
        }
        // "with 2 power supplies": a number is the name of something only where its kind is said.
        let number = text.bytes().all(|byte| byte.is_ascii_digit());
        if number && phrase.kind.is_none() && !phrase.is_quoted {
            return Ok(Narrowed::Unclear(text.to_owned()));
        }
        // "except fra1-sw-02": one of the things that are listed is left out.
        if let (true, Some(own)) = (phrase.negated, own)
            && let Found::One(thing) = self.find(text, std::slice::from_ref(own), None)?
        {
            return Ok(Narrowed::Terms(vec![thing_term(thing)]));
        }
        let mut kinds = narrowing_kinds(offer);
        if let Some(kind) = &phrase.kind {
            kinds.retain(|other| other != kind);
            kinds.insert(0, kind.clone());
        }
        if kinds.is_empty() && offer.slots.iter().any(|slot| slot.means == Means::AnyName) {
            return Ok(Narrowed::Terms(vec![thing_term(bare(&Kind::new("*"), text))]));
        }
        if phrase.placed.is_none() && !phrase.is_quoted && phrase.kind.is_none() {
            // "how many vms does bluefin seafood have": a name may be anywhere.
            let kinds: Vec<Kind> = kinds.into_iter().filter(|kind| Some(kind) != own).collect();
            let several = phrase.text.contains(' ')
                || phrase.text.contains(|c: char| c.is_uppercase() || c.is_ascii_digit());
            let found = if several { self.find(text, &kinds, None)? } else { Found::None };
            return Ok(Narrowed::Terms(vec![match found {
                Found::One(thing) if is_named(&thing, text) => thing_term(thing),
                _ => self.word(phrase),
            }]));
        }
        if let Some(term) = self.held_in_rows(offer, phrase)? {
            return Ok(Narrowed::Terms(vec![term]));
        }
        // "list devices in lyon": the kind itself is not a place, unless there are such things in one: regions.
        kinds.retain(|kind| Some(kind) != own || offer.nests());
        self.named(offer, phrase, &kinds)
    }

    /// A thing of the list itself, where another parameter takes what such things are in: a prefix, by its name.
    fn named_itself(&self, offer: &Offer, phrase: &Phrase) -> Option<Term> {
        let is_own = phrase.kind.is_some() && phrase.kind == offer.kind && offer.nests();
        let slot = offer.own_slots().next().filter(|_| is_own && phrase.id.is_none())?;
        let value = Value::from(phrase.text.as_str());
        let what = What::Choice { field: slot.name().to_owned(), value };
        Some(Term { text: phrase.text.clone(), what, negated: phrase.negated })
    }

    fn literal(&self, kind: &Kind) -> bool {
        self.known(kind).is_some_and(is_literal)
    }

    /// A phrase as the name of a thing of one of these kinds.
    fn named(&self, offer: &Offer, phrase: &Phrase, kinds: &[Kind]) -> Flow<Narrowed> {
        let text = phrase.text.clone();
        let term = |thing: Thing| {
            let (text, negated) = (text.clone(), phrase.negated);
            Narrowed::Terms(vec![Term { text, what: What::Thing(thing), negated }])
        };
        let found = self.find(&phrase.text, kinds, phrase.placed)?;
        // "with power": a part of a word names nothing, but a place may be shortened.
        let cut = |thing: &Thing| {
            phrase.kind.is_none()
                && phrase.placed == Some(Class::With)
                && !is_named(thing, &phrase.text)
        };
        Ok(match found {
            Found::One(thing) if cut(&thing) => Narrowed::Unclear(text),
            Found::One(thing) => term(thing),
            Found::Several(things) => Narrowed::Several(text, things),
            Found::Near(things) => Narrowed::Near(text, things),
            Found::Failed(reason) => Narrowed::Failed(reason),
            // Whether such a thing exists is unknown, so the tool gets the word as is. If several parameters
            // could take it, it is also unknown which one is meant.
            Found::Unknown => match kinds.iter().find(|kind| offer.slot_for(kind).is_some()) {
                Some(kind) if phrase.kind.is_some() || !offer.takes_text() => {
                    term(bare(kind, &phrase.text))
                }
                _ => match self.as_place(offer, phrase)? {
                    Some(narrowed) => narrowed,
                    None => Narrowed::Terms(vec![self.word(phrase)]),
                },
            },
            Found::None => match self.as_place(offer, phrase)? {
                Some(narrowed) => narrowed,
                None => Narrowed::Missing(text, kinds.to_vec()),
            },
        })
    }

    /// A phrase as a word that rows must contain.
    pub(super) fn word(&self, phrase: &Phrase) -> Term {
        Term { text: phrase.text.clone(), what: What::Word, negated: phrase.negated }
    }

    /// A phrase with the small word before it.
    pub(super) fn with_preposition(&self, phrase: &Phrase) -> Option<Phrase> {
        phrase.placed?;
        let before = self.message.get(..phrase.span.start)?.split_whitespace().next_back()?;
        Some(Phrase { text: format!("{before} {}", phrase.text), ..phrase.clone() })
    }

    /// A phrase as values of fields: "offline leafs", "status offline", "not connected".
    fn values(&self, offer: &Offer, phrase: &Phrase) -> Option<Flow<Narrowed>> {
        let words: Vec<&str> = phrase.text.split_whitespace().collect();
        let mut terms: Vec<Term> = Vec::new();
        let mut at = 0;
        let mut field: Option<&Slot> = None;
        while at < words.len() {
            let longest = (at + 1..=words.len()).rev().find_map(|end| {
                let said = words[at..end].join(" ");
                Some((end, self.value(offer, &said, field)?))
            });
            if let Some((end, (name, value, is_flag))) = longest {
                let negated = phrase.negated && !is_flag;
                let value = match value {
                    Value::Bool(is) if is_flag => Value::Bool(is != phrase.negated),
                    value => value,
                };
                // "high priority"
                let called = |slot: &&Slot| slot.name() == name;
                let after = words.get(end).map(|word| word.to_lowercase());
                let slot = offer.slots.iter().find(called).filter(|_| !is_flag);
                let names = slot.zip(after).is_some_and(|(slot, word)| slot.words.contains(&word));
                let what = What::Choice { field: name, value };
                terms.push(Term { text: words[at..end].join(" "), what, negated });
                (at, field) = (end + usize::from(names), None);
                continue;
            }
            let said = words[at].to_lowercase();
            let slot = offer.slots.iter().find(|slot| {
                slot.means == Means::Choice && slot.words.contains(&said)
                    || slot.means == Means::Text && offer.is_called(slot, words[at])
            });
            // "tagged finance"
            let formed = |slot: &&Slot| {
                let without = |word: &String| lexicon::english().is(Class::SlotWithout, word);
                let alike = |word: &String| *word == said || begins_alike(word, words[at]);
                slot.means == Means::Text
                    && slot.words.iter().any(alike)
                    && !slot.words.iter().any(without)
            };
            let slot = slot.or_else(|| offer.slots.iter().find(formed));
            match slot {
                Some(slot) if at + 1 < words.len() => (field, at) = (Some(slot), at + 1),
                _ => match field {
                    // "with author Mira Oduya": any text.
                    Some(slot) if slot.shape.choices.is_empty() => {
                        let said = words[at..].join(" ");
                        let (field, value) = (slot.name().to_owned(), Value::from(said.as_str()));
                        let (what, negated) = (What::Choice { field, value }, phrase.negated);
                        terms.push(Term { text: said, what, negated });
                        break;
                    }
                    Some(slot) => {
                        let said = words[at..].join(" ");
                        return Some(Ok(Narrowed::NoChoice(slot.clone(), said)));
                    }
                    None => return None,
                },
            }
        }
        (!terms.is_empty()).then_some(Ok(Narrowed::Terms(terms)))
    }

    /// The field and value that words mean, and whether it is boolean.
    fn value(
        &self,
        offer: &Offer,
        said: &str,
        field: Option<&Slot>,
    ) -> Option<(String, Value, bool)> {
        let lower = said.to_lowercase();
        let known = offer.kind.as_ref().and_then(|kind| self.known(kind));
        if let Some(meant) = known.and_then(|known| known.objects.means.get(&lower)) {
            let (field, value) = meant.iter().next()?;
            return Some((field.clone(), Value::from(value.as_str()), false));
        }
        let slots =
            || offer.slots.iter().filter(|slot| field.is_none_or(|f| f.path() == slot.path()));
        let meant = self.language.value(&lower);
        let choice = |slot: &Slot| {
            let own = slot.shape.choice(&lower);
            own.or_else(|| meant.and_then(|meant| slot.shape.choice(meant))).cloned()
        };
        if let Some((slot, value)) = slots().find_map(|slot| Some((slot, choice(slot)?))) {
            return Some((slot.name().to_owned(), value, false));
        }
        let flag =
            |said: &str| slots().find(|slot| slot.means == Means::Flag && slot.is_flag_for(said));
        if let Some(slot) = flag(&lower) {
            return Some((slot.name().to_owned(), Value::Bool(true), true));
        }
        // "unavailable"
        let mut negative = lexicon::english().words(Class::NegativePrefix);
        if let Some(slot) = negative.find_map(|begin| flag(lower.strip_prefix(begin)?)) {
            return Some((slot.name().to_owned(), Value::Bool(false), true));
        }
        let long = lower.chars().count() >= MISSPELT_LETTERS_MIN;
        let near = |choice: &&Value| {
            let choice = choice.as_str().unwrap_or_default();
            long && choice.len() >= MISSPELT_LETTERS_MIN
                && strsim::osa_distance(choice, &lower) <= 2
        };
        slots().find_map(|slot| {
            let value = slot.shape.choices.iter().find(near)?;
            Some((slot.name().to_owned(), value.clone(), false))
        })
    }

    /// The arguments of a list for terms, and the terms without a parameter.
    pub(super) fn arguments(
        &self,
        offer: &Offer,
        terms: &[Term],
    ) -> (Map<String, Value>, Vec<Term>) {
        let mut arguments = offer.fixed.clone();
        let mut left: Vec<Term> = Vec::new();
        let mut given: Vec<(String, Vec<Value>, Vec<Term>)> = Vec::new();
        for term in terms {
            let filled = if term.negated { None } else { self.slot_value(offer, term) };
            match filled {
                Some((slot, value)) => {
                    match given.iter_mut().find(|(path, ..)| *path == slot.path()) {
                        Some((_, values, terms)) => {
                            values.push(value);
                            terms.push(term.clone());
                        }
                        None => given.push((slot.path(), vec![value], vec![term.clone()])),
                    }
                }
                None => left.push(term.clone()),
            }
        }
        for (path, mut values, terms) in given {
            let slot = offer.slots.iter().find(|slot| slot.path() == path);
            let takes_many =
                slot.is_some_and(|slot| slot.shape.many || self.is_filter(offer, slot));
            let path: Vec<String> = path.split('.').map(str::to_owned).collect();
            match (values.len(), takes_many) {
                (1, _) if !slot.is_some_and(|slot| slot.shape.many) => {
                    put(&mut arguments, &path, values.remove(0));
                }
                (_, true) => put(&mut arguments, &path, Value::Array(values)),
                // One call each; see `Scene::runs`.
                _ => left.extend(terms),
            }
        }
        (arguments, left)
    }

    /// Whether a slot is a filter of a generic server, which takes lists as values.
    fn is_filter(&self, offer: &Offer, slot: &Slot) -> bool {
        slot.shape.path.len() > 1
            && self
                .packs
                .generic()
                .any(|(g, _)| g.list == offer.tool.tool.name && g.filters == slot.shape.path[0])
    }

    /// The slot that takes a term, and the value for it.
    pub(super) fn slot_value<'o>(
        &self,
        offer: &'o Offer,
        term: &Term,
    ) -> Option<(&'o Slot, Value)> {
        match &term.what {
            What::Thing(thing) => {
                let any = || offer.slots.iter().find(|slot| slot.means == Means::AnyName);
                // A town that was chosen, for a list that takes towns by name.
                let named =
                    |slot: &&Slot| slot.means == Means::Text && slot.name() == thing.kind.as_str();
                let text = || offer.slots.iter().find(named);
                let slot = offer.slot_for(&thing.kind).or_else(any).or_else(text)?;
                Some((slot, thing_value(slot, thing)?))
            }
            What::Choice { field, value } => {
                let slot = offer.slots.iter().find(|slot| slot.name() == field)?;
                let fits = slot.shape.choices.is_empty() || slot.shape.choices.contains(value);
                fits.then(|| (slot, value.clone()))
            }
            What::Bound { .. } | What::Days { .. } | What::Word => None,
        }
    }

    /// Whether a list can be narrowed by a term.
    pub(super) fn takes(&self, offer: &Offer, term: &Term) -> bool {
        matches!(term.what, What::Word) || self.slot_value(offer, term).is_some()
    }
}

/// The value by which a tool identifies a thing.
pub(super) fn thing_value(slot: &Slot, thing: &Thing) -> Option<Value> {
    let field = match &slot.means {
        Means::Thing(_, field) | Means::Own(field) => *field,
        _ => Some(Field::Name),
    };
    // A key of the row with the parameter's name is what the tool wants.
    if let Some(value) = thing.keys.get(slot.name()) {
        return slot.shape.value(&super::rows::scalar(value));
    }
    let numeric = matches!(slot.shape.form, Form::Integer | Form::Number);
    let code = thing.id.as_ref().filter(|id| id.bytes().any(|byte| !byte.is_ascii_digit()));
    let text = match field {
        Some(Field::Id) => thing.id.clone().or_else(|| (!numeric).then(|| thing.label.clone()))?,
        Some(Field::Slug) => super::rows::scalar(thing.keys.get("slug")?),
        Some(Field::Name) => thing.label.clone(),
        None if numeric => thing.id.clone()?,
        None if slot.is_by_name() => thing.label.clone(),
        None => code.cloned().unwrap_or_else(|| thing.label.clone()),
    };
    slot.shape.value(&text)
}

/// Whether a preposition matches a parameter's name: "from" the source, "to" the target.
pub(super) fn side(slot: &Slot, placed: Class) -> bool {
    let english = crate::lexicon::english();
    let class = match placed {
        Class::From => Class::SlotFrom,
        Class::To => Class::SlotTo,
        _ => return false,
    };
    slot.words.iter().any(|word| english.is(class, word))
}

/// Whether an offer can carry out a verb.
pub(super) fn can(offer: &Offer, family: Family) -> bool {
    match family {
        Family::List | Family::Show | Family::Find => offer.reads,
        Family::Create => offer.family == Some(Family::Create),
        Family::Add => matches!(offer.family, Some(Family::Add | Family::Change | Family::Create)),
        Family::Remove => offer.family == Some(Family::Remove),
        Family::Change => matches!(offer.family, Some(Family::Change)),
    }
}
