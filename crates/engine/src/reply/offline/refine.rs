//! The previous query again: about another thing, narrowed further, or corrected.

use super::ask::{Ask, Follow, KindWord, Phrase};
use super::find::Found;
use super::narrow::Narrowed;
use super::offer::{Means, Offer, Slot};
use super::rows;
use super::scene::{Flow, Said, Scene, Table};
use super::serve::{Meaning, replace, same_place};
use crate::lexicon::{self, Class, Say};
use crate::pack::Kind;
use crate::session::dialogue::{Missing, Query, Term, Thing, Want, What};

impl Scene<'_> {
    /// The same query about another thing.
    pub(super) fn again(&self, mut base: Query, ask: &Ask, meaning: &Meaning<'_>) -> Flow<Said> {
        let Some(phrase) = meaning.phrases.first() else { return self.run(base) };
        if phrase.placed.is_none()
            && phrase.kind.is_none()
            && let Some(focus) = self.dialogue.focus.first()
            && self.row_of(focus).is_some_and(|row| rows::field(&row, &phrase.text).is_some())
        {
            return self.fields_query(vec![phrase.text.clone()], vec![focus.clone()], None);
        }
        let kinds: Vec<Kind> =
            base.terms.iter().filter_map(super::run::as_thing).map(|t| t.kind.clone()).collect();
        let own = phrase.kind.clone().filter(|_| phrase.is_sure);
        let kinds = own.map_or(kinds, |kind| vec![kind]);
        let found = match self.find(&phrase.text, &kinds, phrase.placed)? {
            Found::None | Found::Unknown => self.thing_named(phrase)?,
            found => found,
        };
        if !ask.fields.is_empty() {
            base.fields.clone_from(&ask.fields);
        }
        let term = Term { text: phrase.text.clone(), what: What::Word, negated: false };
        base.terms = vec![term];
        // What cannot be looked for is asked for by its name.
        let found = match (found, kinds.as_slice()) {
            (Found::Unknown, [kind]) if self.view_of(kind).is_some() => {
                Found::One(super::find::bare(kind, &phrase.text))
            }
            (found, _) => found,
        };
        match found {
            Found::One(thing) => {
                base.terms[0].what = What::Thing(thing);
                self.run(base)
            }
            found => Ok(self.not_one(base, phrase, found)),
        }
    }

    /// A list narrowed by the phrases of a message.
    pub(super) fn narrowed(&self, query: Query, ask: &Ask) -> Flow<Said> {
        let ask = Ask {
            counts: query.want == Want::Count,
            phrases: ask.phrases.clone(),
            ..Ask::default()
        };
        let meaning = Meaning { things: Vec::new(), phrases: ask.phrases.iter().collect() };
        self.refine(query, &ask, &meaning, None)
    }

    /// A query narrowed further, or by another value of the same kind.
    pub(super) fn refine(
        &self,
        mut query: Query,
        ask: &Ask,
        meaning: &Meaning<'_>,
        subject: Option<&KindWord>,
    ) -> Flow<Said> {
        let Some(kind) = query.kind.clone() else { return Ok(self.lost()) };
        // "how many devices are in Tallinn?", "and in Porto?": a number again.
        let goes_on = (ask.follows.is_some() || ask.corrects) && ask.verb.is_none();
        let counted = query.want == Want::Count && goes_on && !ask.questions;
        let was_list = query.want == Want::List;
        query.want = if ask.counts || counted { Want::Count } else { Want::List };
        query.fields.clear();
        // "how many is that?": what was shown stays what is spoken of.
        let of_list = ask.of_shown && was_list && query.want == Want::Count;
        let own = |word: &&KindWord| word.kind == kind && !word.negated && word.narrower.is_some();
        let narrower = ask.kinds.iter().find(own).or(subject);
        if narrower.is_some_and(|word| word.narrower.is_some()) {
            query.narrower = narrower.and_then(|word| word.narrower.clone());
        }
        query.newest = ask.newest.or(query.newest);
        query.order.clone_from(&ask.order);
        let Some(offer) = self.list_of(&kind) else { return Ok(self.lost()) };
        let mut added: Vec<Term> = match self.left_out(ask, &query)? {
            Ok(terms) => terms,
            Err(said) => return Ok(*said),
        };
        added.extend(self.others(ask, &kind));
        for thing in &meaning.things {
            added.push(Term {
                text: thing.label.clone(),
                what: What::Thing(thing.clone()),
                negated: false,
            });
        }
        let mut fields = ask.fields.iter();
        for phrase in &meaning.phrases {
            // "owned by Maarja": the field says what the name is compared with.
            let slot = offer.slots.iter().find(|slot| {
                slot.means == super::offer::Means::Text
                    && fields.clone().next().is_some_and(|f| f == slot.name())
            });
            // "only the bugs" narrows further.
            let another = matches!(ask.follows, Some(Follow::Continues | Follow::Same));
            let goes_on_with_another = another && !super::fit::is_choice(offer, &phrase.text);
            let continued = || match query.terms.as_slice() {
                // "and jonas?": another value of what the list was narrowed by.
                [Term { what: What::Choice { field, .. }, .. }] if goes_on_with_another => {
                    offer.slots.iter().find(|slot| slot.name() == field)
                }
                _ => None,
            };
            let plain = phrase.kind.is_none() && phrase.placed.is_none();
            let continued = continued().filter(|slot| plain && slot.means == Means::Text);
            let person = offer.person_slot(&phrase.text).or_else(|| self.owner_slot(offer, phrase));
            if let Some(slot) = slot.or(person).or(continued) {
                fields.next();
                let value = serde_json::Value::from(phrase.text.as_str());
                let what = What::Choice { field: slot.name().to_owned(), value };
                added.push(Term { text: phrase.text.clone(), what, negated: phrase.negated });
                continue;
            }
            let open = |text: &str, terms: &[Term]| {
                let mut query = query.clone();
                for term in terms {
                    replace(&mut query.terms, term.clone());
                }
                query.terms.push(Term {
                    text: text.to_owned(),
                    what: What::Word,
                    negated: phrase.negated,
                });
                let at = query.terms.len() - 1;
                (query, at)
            };
            match self.narrow(offer, phrase)? {
                Narrowed::Terms(terms) => added.extend(terms),
                Narrowed::Several(text, things) => {
                    let (query, at) = open(&text, &added);
                    return Ok(self.several(query, at, &text, things));
                }
                Narrowed::Near(text, things) => {
                    let (query, at) = open(&text, &added);
                    return Ok(self.did_you_mean(query, at, &text, things));
                }
                Narrowed::Missing(text, kinds) => {
                    let (query, at) = open(&text, &added);
                    return Ok(self.nothing_called(query, at, &text, &kinds));
                }
                Narrowed::NoChoice(slot, text) => {
                    let (query, at) = open(&text, &added);
                    let (field, choices) = (slot.shown(), slot.shape.choices_shown());
                    let with = [("text", text.as_str()), ("field", &field), ("choices", &choices)];
                    return Ok(self.asked(
                        self.say(Say::NoChoice, &with),
                        query,
                        Missing::Term(at),
                        Vec::new(),
                    ));
                }
                Narrowed::Unclear(text) => {
                    let (query, at) = open(&text, &added);
                    let said = self.unknown_word(&kind, offer, &text, &Table::default());
                    return Ok(self.asked(said.text, query, Missing::Term(at), Vec::new()));
                }
                Narrowed::Failed(reason) => {
                    let dialogue = self.dialogue.clone();
                    return Ok(Said {
                        text: reason,
                        unanswered: Some("tool_failed"),
                        dialogue,
                        ..Said::default()
                    });
                }
            }
        }
        let several: Vec<Term> = added.clone();
        for term in added {
            let siblings = several.iter().filter(|other| same_place(other, &term)).count() > 1;
            if !siblings {
                replace(&mut query.terms, term);
            } else if !query.terms.contains(&term) {
                query.terms.retain(|old| !same_place(old, &term) || several.contains(old));
                query.terms.push(term);
            }
        }
        let mut said = self.run_list(query)?;
        let newest = said.dialogue.spoken.first_mut().filter(|spoken| spoken.turn == 0);
        if let Some(spoken) = newest.filter(|_| of_list) {
            spoken.query.want = Want::List;
        }
        Ok(said)
    }

    /// "nina's tasks": the parameter for the person who has them, where nothing else takes names.
    fn owner_slot<'o>(&self, offer: &'o Offer, phrase: &Phrase) -> Option<&'o Slot> {
        let after = self.message[phrase.span.end..].trim_start_matches(['\'', '’']);
        let owns = after.len() < self.message.len() - phrase.span.end && after.starts_with("s ");
        let kinds = super::find::narrowing_kinds(offer);
        let text = |slot: &&Slot| slot.means == Means::Text && slot.is_person();
        let mut slots = offer.slots.iter().filter(text);
        let person = |kind: &Kind| lexicon::english().is(Class::PersonKind, kind.as_str());
        let others = kinds.iter().any(person) || phrase.kind.is_some();
        let slot = slots.next().filter(|_| owns && !others)?;
        slots.next().is_none().then_some(slot)
    }

    /// The reply if a name does not mean exactly one thing.
    pub(super) fn not_one(&self, query: Query, phrase: &Phrase, found: Found) -> Said {
        let text = phrase.text.as_str();
        match found {
            Found::Several(things) => self.several(query, 0, text, things),
            Found::Near(things) => self.did_you_mean(query, 0, text, things),
            Found::Failed(reason) => {
                let dialogue = self.dialogue.clone();
                Said { text: reason, unanswered: Some("tool_failed"), dialogue, ..Said::default() }
            }
            Found::One(_) | Found::None => {
                let kinds: Vec<Kind> = phrase.kind.iter().cloned().collect();
                self.nothing_called(query, 0, text, &kinds)
            }
            Found::Unknown => self.cannot_look(text, phrase.kind.as_slice()),
        }
    }

    pub(super) fn did_you_mean(
        &self,
        query: Query,
        term: usize,
        text: &str,
        things: Vec<Thing>,
    ) -> Said {
        let names: Vec<&str> = things.iter().map(|thing| thing.label.as_str()).collect();
        let said = self.say(Say::DidYouMean, &[("text", text), ("name", &names.join(" / "))]);
        let asked = self.asked(said, query, Missing::Term(term), things);
        Said { absent: vec![text.to_owned()], ..asked }
    }

    /// "No, the other one": the last query with its mistake corrected.
    pub(super) fn corrected(&self, ask: &Ask, meaning: &Meaning<'_>) -> Flow<Option<Said>> {
        let Some(mut base) = self.dialogue.spoken.first().map(|spoken| spoken.query.clone()) else {
            return Ok(None);
        };
        if !ask.fields.is_empty() {
            base.fields.clone_from(&ask.fields);
            base.want = Want::Field;
        }
        let thing = match (meaning.things.as_slice(), meaning.phrases.as_slice()) {
            ([thing, ..], _) => thing.clone(),
            ([], [phrase, ..]) => {
                let kinds = self.kinds_in(&base);
                let own = phrase.kind.clone().filter(|_| phrase.is_sure);
                let kinds = own.map_or(kinds, |kind| vec![kind]);
                let number = phrase.text.bytes().all(|byte| byte.is_ascii_digit());
                let id = phrase.id.clone().or_else(|| number.then(|| phrase.text.clone()));
                let found = match kinds.first().filter(|_| id.is_some()) {
                    Some(kind) => {
                        let thing = super::find::bare(kind, &phrase.text);
                        Found::One(Thing { id, ..thing })
                    }
                    None => self.find(&phrase.text, &kinds, phrase.placed)?,
                };
                match found {
                    Found::One(thing) => thing,
                    Found::None | Found::Unknown if !phrase.is_sure => {
                        match self.thing_named(phrase)? {
                            Found::One(thing) => thing,
                            found => return Ok(Some(self.not_one(base, phrase, found))),
                        }
                    }
                    found => {
                        let query = Query { terms: vec![self.word(phrase)], ..base };
                        return Ok(Some(self.not_one(query, phrase, found)));
                    }
                }
            }
            ([], []) => return Ok(None),
        };
        let term =
            Term { text: thing.label.clone(), what: What::Thing(thing.clone()), negated: false };
        let held = base.terms.iter().any(|old| same_place(old, &term));
        match base.want {
            Want::Show | Want::Field if ask.kinds.is_empty() => base.terms = vec![term],
            Want::List | Want::Count if held => replace(&mut base.terms, term),
            _ => return Ok(None),
        }
        if base.want == Want::Show {
            base.kind = Some(thing.kind);
        }
        self.run(base).map(Some)
    }

    pub(super) fn kinds_in(&self, query: &Query) -> Vec<Kind> {
        let mut kinds: Vec<Kind> =
            query.terms.iter().filter_map(super::run::as_thing).map(|t| t.kind.clone()).collect();
        kinds.extend(query.kind.clone().filter(|_| matches!(query.want, Want::Show)));
        kinds.dedup();
        kinds
    }
}
