//! Things that a message names without their kind.

use serde_json::Value;

use super::ask::{Ask, KindWord, Phrase};
use super::find::Found;
use super::offer::{Means, Offer, Slot};
use super::run::word::begins_alike;
use super::scene::{Flow, Said, Scene};
use super::serve::{Meaning, looks_named, same_kind};
use crate::lexicon::{self, Class, Family};
use crate::pack::{Kind, words_of_identifier};
use crate::session::dialogue::{Query, Term, Thing, Want, What};

impl Scene<'_> {
    /// A field of a named thing.
    pub(super) fn field_of_named(
        &self,
        ask: &Ask,
        phrase: &Phrase,
        subject: Option<&KindWord>,
    ) -> Flow<Said> {
        let mut query = self.provisional_query(ask, &phrase.text);
        query.want = Want::Field;
        if subject.is_none() {
            let others = ask.phrases.iter().filter(|other| other.at != phrase.at);
            query.fields.extend(others.map(|other| other.text.clone()));
        }
        match self.thing_named(phrase)? {
            Found::One(thing) => {
                query.terms[0].what = What::Thing(thing);
                self.run(query)
            }
            Found::Unknown if phrase.kind.as_ref().is_some_and(|k| self.view_of(k).is_some()) => {
                let kind = phrase.kind.clone().unwrap_or_else(|| Kind::new("thing"));
                query.terms[0].what = What::Thing(super::find::bare(&kind, &phrase.text));
                self.run(query)
            }
            found => Ok(self.not_one(query, phrase, found)),
        }
    }

    pub(super) fn show_named(&self, ask: &Ask, phrase: &Phrase) -> Flow<Option<Said>> {
        let mut query = self.provisional_query(ask, &phrase.text);
        query.kind.clone_from(&phrase.kind);
        if !looks_named(phrase) && ask.verb.is_none() && !ask.details {
            return Ok(None);
        }
        let lists = matches!(ask.verb, Some((Family::List, _)));
        match self.thing_named(phrase)? {
            Found::One(thing) => {
                query.terms[0].what = What::Thing(thing);
                self.run(query).map(Some)
            }
            Found::Several(things)
                if things.iter().all(|thing| thing.row.is_some()) && same_kind(&things) =>
            {
                Ok(Some(self.several(query, 0, &phrase.text, things)))
            }
            // "list widgets" asks for a kind of things, and an unknown kind is not searched for.
            Found::Unknown | Found::None
                if phrase.kind.is_none()
                    && (!lists || looks_named(phrase))
                    && self.searching().is_some() =>
            {
                self.searched(phrase)
            }
            Found::Unknown if phrase.kind.is_none() => Ok(None),
            Found::Unknown => {
                let kind = phrase.kind.clone().unwrap_or_else(|| Kind::new("thing"));
                query.terms[0].what = What::Thing(super::find::bare(&kind, &phrase.text));
                self.run(query).map(Some)
            }
            Found::None if phrase.kind.is_none() && ask.verb.is_none() => Ok(None),
            found => Ok(Some(self.not_one(query, phrase, found))),
        }
    }

    /// "what's assigned to Sunita": the things of the only list that can be narrowed by that field.
    pub(super) fn given_to(&self, ask: &Ask, meaning: &Meaning<'_>) -> Flow<Option<Said>> {
        let ([field], [name]) = (ask.fields.as_slice(), meaning.phrases.as_slice()) else {
            return Ok(None);
        };
        let asks = ask.questions || ask.counts || ask.verb.is_some();
        let takes = |slot: &Slot| slot.name() == field && slot.means == Means::Text;
        let lists = |offer: &&Offer| offer.lists() && offer.slots.iter().any(takes);
        let mut offers = self.offers.iter().filter(lists);
        let (Some(offer), None) = (offers.next(), offers.next()) else { return Ok(None) };
        if !asks || ask.follows.is_some() || ask.of_shown || name.placed != Some(Class::To) {
            return Ok(None);
        }
        let what = What::Choice { field: field.clone(), value: name.text.as_str().into() };
        let terms = vec![Term { text: name.text.clone(), what, negated: name.negated }];
        let want = if ask.counts { Want::Count } else { Want::List };
        self.run(Query { want, kind: offer.kind.clone(), terms, ..Query::default() }).map(Some)
    }

    /// A question for what mentions something, asked of the tool that searches: "which decisions mention Redis?".
    pub(super) fn mentioned(&self, ask: &Ask) -> Flow<Option<Said>> {
        let [phrase] = ask.phrases.as_slice() else { return Ok(None) };
        let of_kind = |word: &KindWord| {
            let kind = words_of_identifier(word.kind.as_str());
            self.searching().is_some_and(|offer| {
                offer.kind.as_ref() == Some(&word.kind)
                    || kind.iter().all(|word| offer.words.contains(word))
            })
        };
        let lists = ask.verb.is_none_or(|(family, _)| family.reads());
        if !(ask.questions || ask.verb.is_some()) || !lists || !ask.kinds.iter().all(of_kind) {
            return Ok(None);
        }
        let words: Vec<&str> = phrase.text.split_whitespace().collect();
        let says = |word: &&str| self.language.is(Class::Mentions, &word.to_lowercase());
        let at = words.iter().position(says);
        let Some(at) = at.filter(|at| at + 1 < words.len()) else { return Ok(None) };
        self.searched(&Phrase { text: words[at + 1..].join(" "), ..phrase.clone() })
    }

    /// The only tool that searches for words and needs nothing else.
    pub(super) fn searching(&self) -> Option<&Offer> {
        let searches = |offer: &&Offer| {
            let mut required = offer.slots.iter().filter(|slot| slot.shape.required);
            let first = required.next();
            offer.is_free
                && offer.family == Some(Family::Find)
                && first.is_some_and(|slot| slot.means == Means::Search)
                && required.next().is_none()
        };
        let mut found: Vec<&Offer> = self.offers.iter().filter(searches).collect();
        if found.len() > 1 {
            let english = lexicon::english();
            let named = |word: &String| english.family(word) == Some(Family::Find);
            found.retain(|offer| offer.words.iter().any(named));
        }
        if let [only] = found[..] { Some(only) } else { None }
    }

    pub(super) fn searched(&self, phrase: &Phrase) -> Flow<Option<Said>> {
        let Some(offer) = self.searching() else { return Ok(None) };
        let Some(slot) = offer.slots.iter().find(|slot| slot.shape.required) else {
            return Ok(None);
        };
        let mut arguments = offer.fixed.clone();
        let sought = slot.searched(&offer.described, &phrase.text);
        super::schema::put(&mut arguments, &slot.shape.path, sought.into());
        let call = Some((offer.tool.tool.clone(), arguments));
        let kind = offer.kind.clone();
        self.carry_out(
            Query { want: Want::Act(Family::Find), kind, call, ..Query::default() },
            true,
        )
        .map(Some)
    }

    /// Who has a thing: the person that its row names, or that what it holds does.
    pub(super) fn held(&self, things: Vec<Thing>) -> Flow<Said> {
        let kind = things.first().map(|thing| thing.kind.clone());
        let field = self.actor(kind.as_ref());
        if let ([thing], None) = (things.as_slice(), &field)
            && let Ok((row, _)) = self.whole(thing)?
            && let Some(key) = self.related_key(&row)
        {
            return self.fields_query(vec![super::rows::spoken(&key)], things, None);
        }
        if let ([thing], None) = (things.as_slice(), &field)
            && let Ok((row, thing)) = self.whole(thing)?
        {
            let inner = row.as_object().into_iter().flatten().map(|(_, value)| value);
            if let Some((key, person)) = [&row].into_iter().chain(inner).find_map(holder) {
                let text = format!("{}: {} {person}", thing.label, super::rows::spoken(key));
                let term = Term {
                    text: thing.label.clone(),
                    what: What::Thing(thing.clone()),
                    negated: false,
                };
                let (want, fields) = (Want::Field, vec![key.to_owned()]);
                let query = Query { want, kind, fields, terms: vec![term], ..Query::default() };
                return Ok(self.told_thing(query, thing, text));
            }
        }
        self.fields_query(vec![field.unwrap_or_else(|| "owner".into())], things, None)
    }

    /// Fields of a named thing that the other phrases of a message name: "when was Tiny Tim last watered?".
    pub(super) fn told_field(&self, name: &Phrase, meaning: &Meaning<'_>) -> Flow<Option<Said>> {
        let others = meaning.phrases.iter().filter(|phrase| phrase.at != name.at);
        let fields: Vec<String> = others.map(|phrase| phrase.text.clone()).collect();
        if fields.is_empty() || name.is_literal {
            return Ok(None);
        }
        let Found::One(thing) = self.thing_named(name)? else { return Ok(None) };
        let Ok((row, _)) = self.whole(&thing)? else { return Ok(None) };
        match fields.iter().all(|field| super::rows::field(&row, field).is_some()) {
            true => self.fields_query(fields, vec![thing], None).map(Some),
            false => Ok(None),
        }
    }

    /// The field of a row that a verb of the message names: `assigned_to` for "who is it assigned to".
    fn related_key(&self, row: &Value) -> Option<String> {
        let verbs = self.parts.iter().filter(|part| part.is(Class::Relates));
        let mut verbs = verbs.map(|part| part.lower.as_str()).filter(|verb| verb.len() > 3);
        let keys = || row.as_object().into_iter().flatten().map(|(key, _)| key);
        verbs.find_map(|verb| {
            let named = |key: &&String| {
                let words = words_of_identifier(key);
                let synonym = |own: &String| lexicon::english().is_synonym(own, verb);
                words.first().is_some_and(|own| begins_alike(own, verb) || synonym(own))
            };
            keys().find(named).cloned()
        })
    }

    /// The contents of a named thing.
    pub(super) fn contents_named(&self, ask: &Ask, phrase: &Phrase) -> Flow<Option<Said>> {
        let mut query = self.provisional_query(ask, &phrase.text);
        let found = self.thing_named(phrase)?;
        // Which one is meant is asked for what is in it.
        if let Found::Several(things) | Found::Near(things) = &found
            && same_kind(things)
            && let Some(kind) = things.first().and_then(|thing| self.kind_inside(thing))
        {
            let want = if ask.counts { Want::Count } else { Want::List };
            query = Query { want, kind: Some(kind), terms: query.terms, ..Query::default() };
        }
        match found {
            Found::One(thing) => self.contents(ask, &thing),
            Found::Unknown | Found::None if phrase.kind.is_none() && !looks_named(phrase) => {
                Ok(None)
            }
            found => Ok(Some(self.not_one(query, phrase, found))),
        }
    }

    /// The kind of what is in such a thing, most of all.
    fn kind_inside(&self, thing: &Thing) -> Option<Kind> {
        let mut inside: Vec<&Kind> = self
            .offers
            .iter()
            .filter(|offer| offer.lists() && offer.slot_for(&thing.kind).is_some())
            .filter_map(|offer| offer.kind.as_ref())
            .filter(|kind| **kind != thing.kind)
            .collect();
        let bonus = |kind: &&Kind| self.known(kind).map_or(0.0, |known| known.bonus);
        inside.sort_by(|one, two| bonus(two).total_cmp(&bonus(one)));
        inside.first().map(|kind| (*kind).clone())
    }

    /// The things located in a thing.
    pub(super) fn contents(&self, ask: &Ask, thing: &Thing) -> Flow<Option<Said>> {
        let Some(kind) = self.kind_inside(thing) else { return Ok(None) };
        let want = if ask.counts { Want::Count } else { Want::List };
        let term =
            Term { text: thing.label.clone(), what: What::Thing(thing.clone()), negated: false };
        self.run(Query { want, kind: Some(kind), terms: vec![term], ..Query::default() }).map(Some)
    }

    /// The thing with the id that is known for a name. Others may have that name too, unless it was shown or has to
    /// be unique.
    pub(super) fn identified(&self, phrase: &Phrase) -> Flow<Option<Found>> {
        let (Some(kind), Some(id)) = (&phrase.kind, &phrase.id) else { return Ok(None) };
        let thing = Thing { id: Some(id.clone()), ..super::find::bare(kind, &phrase.text) };
        let seen = self.shown().any(|one| one.is(&thing));
        let number = phrase.text.bytes().all(|byte| byte.is_ascii_digit());
        let shared = self.known(kind).is_some_and(|known| known.within.is_some());
        let list = self.list_of(kind).map(|offer| &offer.tool.tool.name);
        let shared = shared && self.packs.generic().any(|(generic, _)| Some(&generic.list) == list);
        if seen || number || phrase.text == *id || !shared {
            return Ok(Some(Found::One(thing)));
        }
        let found = self.find(&phrase.text, std::slice::from_ref(kind), phrase.placed)?;
        Ok(Some(match found {
            Found::Several(things) => Found::Several(things),
            _ => Found::One(thing),
        }))
    }

    /// The thing that a phrase names, of any kind.
    pub(super) fn thing_named(&self, phrase: &Phrase) -> Flow<Found> {
        if let Some(found) = self.identified(phrase)? {
            return Ok(found);
        }
        let all = self.all_kinds();
        let own: Vec<Kind> = phrase.kind.iter().cloned().collect();
        if !own.is_empty() {
            let found = self.find(&phrase.text, &own, phrase.placed)?;
            if phrase.is_sure
                || matches!(found, Found::One(_) | Found::Several(_) | Found::Failed(_))
            {
                return Ok(found);
            }
            let others: Vec<Kind> = all.into_iter().filter(|kind| !own.contains(kind)).collect();
            return Ok(match self.find(&phrase.text, &others, phrase.placed)? {
                Found::None | Found::Unknown => found,
                other => other,
            });
        }
        self.find(&phrase.text, &all, phrase.placed)
    }
}

/// The field of a row that says who has it, and the person.
fn holder(row: &Value) -> Option<(&str, String)> {
    let english = lexicon::english();
    let is_person = |key: &str| {
        let words = words_of_identifier(key);
        let last = words.last().map(String::as_str).unwrap_or_default();
        english.is(Class::PersonKind, last) || english.is(Class::Holder, last)
    };
    let object = row.as_object()?;
    let holds = |key: &str| {
        let words = words_of_identifier(key);
        words.last().is_some_and(|word| english.is(Class::Holder, word))
    };
    let found = |fits: &dyn Fn(&str) -> bool| {
        object.iter().find_map(|(key, value)| {
            let person = super::rows::shown(value);
            let named = fits(key) && !value.is_null() && !person.trim().is_empty();
            named.then_some((key.as_str(), person))
        })
    };
    found(&holds).or_else(|| found(&is_person))
}
