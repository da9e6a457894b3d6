//! Shows one thing and its fields, from earlier results or from the server.

use serde_json::{Map, Value};

use super::narrow::thing_value;
use super::offer::{Means, Offer, Slot};
use super::rows;
use super::run::{as_thing, is_empty};
use super::scene::{Flow, Said, Scene, Table};
use super::schema::put;
use crate::lexicon::{self, Class, Family, Say};
use crate::pack::Kind;
use crate::reply::wording;
use crate::session::dialogue::{Query, RowAt, Spoken, Term, Thing, Want, What};
use crate::session::record::CallRecord;

/// Minimum letters of a field's name for matching a misspelt one.
const MISSPELT_LETTERS_MIN: usize = 5;

impl Scene<'_> {
    pub(super) fn run_show(&self, mut query: Query) -> Flow<Said> {
        let Some(thing) = query.terms.iter().find_map(as_thing).cloned() else {
            return Ok(self.lost());
        };
        let (row, thing) = match self.whole(&thing)? {
            Ok(found) => found,
            Err(Unseen::Failed(record)) => {
                let mut said = self.failed(&record);
                // It stays in focus, though the server returned nothing about it.
                match lexicon::says_none(&record.result_text()) {
                    true => said.absent.push(thing.label.clone()),
                    false => said.dialogue.focus_on(thing.clone()),
                }
                said.dialogue.speak(Spoken { turn: 0, query, shown: Vec::new(), count: None });
                return Ok(said);
            }
            Err(Unseen::Several(things)) => {
                return Ok(self.several(query, 0, &thing.label, things));
            }
            Err(Unseen::None) => {
                return Ok(self.nothing_called(
                    query,
                    0,
                    &thing.label,
                    std::slice::from_ref(&thing.kind),
                ));
            }
        };
        if rows::rows(&row).is_some_and(|(rows, _)| rows.is_empty()) {
            let kinds = std::slice::from_ref(&thing.kind);
            return Ok(self.nothing_called(query, 0, &thing.label, kinds));
        }
        if let Some((rows, count)) = rows::rows(&row).filter(|(rows, _)| rows.len() > 1) {
            let own = |row: &&Value| {
                rows::thing(row, &thing.kind, self.known(&thing.kind))
                    .is_some_and(|t| t.id.is_some())
            };
            // Of a table its columns: they are no tables.
            if !rows.iter().all(own) {
                let head = format!("{} {}:", self.noun(&thing.kind, false), thing.label);
                let text = wording::list(&head, &rows, count);
                return Ok(self.told_thing(query, thing, text));
            }
            let at = thing.row.unwrap_or(RowAt { turn: 0, call: 0, row: 0 });
            let rows = rows
                .into_iter()
                .enumerate()
                .map(|(row, value)| (RowAt { row, ..at }, value.clone()));
            let table = Table { rows: rows.collect(), count, ..Table::default() };
            let kind = thing.kind.clone();
            return Ok(self.told_list(query, &kind, &table));
        }
        let named = row.as_object().is_some_and(|object| object.len() == 1);
        let hollow = named || row.as_str() == Some(thing.label.as_str());
        if let Some(query) = self.opened(&thing).filter(|_| hollow) {
            return self.carry_out(query, true);
        }
        for term in &mut query.terms {
            if let What::Thing(known) = &mut term.what
                && known.is(&thing)
            {
                *known = thing.clone();
            }
        }
        let text = wording::thing_shown(&row);
        Ok(self.told_thing(query, thing, text))
    }

    /// The list of what is in a thing, where a tool gives that page by page: the records of a table.
    fn opened(&self, thing: &Thing) -> Option<Query> {
        let fits = |offer: &&Offer| {
            let mut needs = offer.slots.iter().filter(|slot| slot.shape.required);
            let only = needs.next().filter(|_| needs.next().is_none());
            let takes = |slot: &Slot| matches!(&slot.means, Means::Thing(k, _) if *k == thing.kind);
            let pages = offer.slots.iter().any(|slot| slot.means == Means::Limit);
            offer.reads && pages && only.is_some_and(takes)
        };
        let offer = self.offers.iter().find(fits)?;
        let slot = offer.slots.iter().find(|slot| slot.shape.required)?;
        let mut arguments = offer.fixed.clone();
        put(&mut arguments, &slot.shape.path, thing_value(slot, thing)?);
        let call = Some((offer.tool.tool.clone(), arguments));
        let (want, kind) = (Want::Act(lexicon::Family::List), offer.kind.clone());
        Some(Query { want, kind, call, ..Query::default() })
    }

    pub(super) fn told_thing(&self, query: Query, thing: Thing, text: String) -> Said {
        let mut said = Said { text, dialogue: self.dialogue.clone(), ..Said::default() };
        said.dialogue.open = None;
        said.dialogue.focus_on(thing.clone());
        said.dialogue.speak(Spoken { turn: 0, query, shown: Vec::new(), count: None });
        said
    }

    /// Everything the server returns about a thing.
    pub(super) fn whole(&self, thing: &Thing) -> Flow<Result<(Value, Thing), Unseen>> {
        let known = self.known(&thing.kind);
        if let Some(offer) = self.view_of(&thing.kind)
            && let Some(arguments) = self.own_arguments(offer, thing)
        {
            let (at, record) = self.call(&offer.tool, arguments, true)?;
            if super::back::has_failed(record) {
                return Ok(Err(Unseen::Failed(Box::new(record.clone()))));
            }
            let output = record.output.as_ref();
            let json = output.and_then(rows::json_of);
            let row = json.map(|json| wording::unframed(&json).clone());
            let row = row.unwrap_or_else(|| output.map_or(Value::Null, |o| o.text.clone().into()));
            let found = rows::thing(&row, &thing.kind, known).filter(|_| row.is_object());
            let mut found = found.unwrap_or_else(|| thing.clone());
            found.row = Some(RowAt { turn: 0, call: at, row: 0 });
            return Ok(Ok((row, found)));
        }
        if let Some(offer) = self.list_of(&thing.kind)
            && let Some(arguments) = self.own_arguments(offer, thing)
        {
            let table = match self.table(offer, &arguments, false)? {
                Ok(table) => table,
                Err(record) => return Ok(Err(Unseen::Failed(Box::new(record)))),
            };
            let mut found: Vec<(Value, Thing)> = Vec::new();
            for (at, row) in table.rows {
                if let Some(one) = rows::thing(&row, &thing.kind, known) {
                    found.push((row, Thing { row: Some(at), ..one }));
                }
            }
            return Ok(match found.len() {
                0 => Err(Unseen::None),
                1 => Ok(found.remove(0)),
                _ => Err(Unseen::Several(found.into_iter().map(|(_, thing)| thing).collect())),
            });
        }
        Ok(match self.row_of(thing) {
            Some(row) => Ok((row, thing.clone())),
            None => Err(Unseen::None),
        })
    }

    /// The arguments that identify a thing to a tool about its kind.
    pub(super) fn own_arguments(&self, offer: &Offer, thing: &Thing) -> Option<Map<String, Value>> {
        let mut arguments = offer.fixed.clone();
        let slot = offer.own_slots().find(|slot| thing_value(slot, thing).is_some())?;
        let value = thing_value(slot, thing)?;
        let value = if slot.shape.many { Value::Array(vec![value]) } else { value };
        // A list that is asked for one thing wants all its fields.
        for (generic, _) in self.packs.generic() {
            if generic.list == offer.tool.tool.name {
                arguments.shift_remove(&generic.fields);
            }
        }
        put(&mut arguments, &slot.shape.path, value);
        Some(arguments)
    }

    /// Fields of things, from what is known, else from the server.
    pub(super) fn run_fields(&self, query: Query) -> Flow<Said> {
        let things: Vec<Thing> = query.terms.iter().filter_map(as_thing).cloned().collect();
        let whole = |thing: &Thing| {
            query.fields.iter().any(|field| self.attribute(&thing.kind, field) == "*")
        };
        if things.first().is_some_and(whole) {
            return self.run_show(Query { want: Want::Show, fields: Vec::new(), ..query });
        }
        let mut lines = Vec::new();
        let mut told: Vec<Thing> = Vec::new();
        for thing in &things {
            let mut seen = self.row_of(thing).map(|row| (row, thing.clone()));
            for field in &query.fields {
                let name = self.attribute(&thing.kind, field);
                let holds = |row: &Value| {
                    let told = rows::told(row);
                    let row = told.as_ref().unwrap_or(row);
                    rows::field(row, &name).or_else(|| rows::time_field(row, &name)).is_some()
                };
                if !seen.as_ref().is_some_and(|(row, _)| holds(row)) {
                    seen = match self.whole(thing)? {
                        Ok(found) => Some(found),
                        Err(Unseen::Failed(record)) => return Ok(self.failed(&record)),
                        Err(Unseen::Several(things)) => {
                            return Ok(self.several(query, 0, &thing.label, things));
                        }
                        Err(Unseen::None) => {
                            return Ok(self.nothing_called(
                                query,
                                0,
                                &thing.label,
                                std::slice::from_ref(&thing.kind),
                            ));
                        }
                    };
                }
                let Some((row, found)) = &seen else { continue };
                let told = rows::told(row);
                let whole = told.as_ref().unwrap_or(row);
                let value = rows::field(whole, &name).or_else(|| rows::time_field(whole, &name));
                let value = value.or_else(|| misspelt(whole, &name));
                // "how much water": no day is an amount.
                match value.filter(|(_, value)| !self.asks_amount() || !is_day(value)) {
                    Some((key, value)) if is_empty(value) => {
                        let with = [("thing", found.label.as_str()), ("field", &rows::spoken(key))];
                        lines.push(self.say(Say::EmptyField, &with));
                    }
                    Some((key, value)) => {
                        lines.push(format!(
                            "{}: {} {}",
                            found.label,
                            rows::spoken(key),
                            rows::shown(value)
                        ));
                    }
                    None => return self.related(&query, found, row, field),
                }
            }
            told.extend(seen.map(|(_, thing)| thing));
        }
        let Some(first) = told.first().cloned() else { return Ok(self.lost()) };
        Ok(self.told_thing(query, first, lines.join("\n")))
    }

    /// Whether the message asks for a number.
    fn asks_amount(&self) -> bool {
        self.parts.iter().any(|part| part.is(Class::Count))
    }

    /// A field that is a kind: the things in the row, or those that belong to the thing.
    pub(super) fn related(
        &self,
        query: &Query,
        thing: &Thing,
        row: &Value,
        field: &str,
    ) -> Flow<Said> {
        let kind = query.kind.clone().filter(|kind| rows::spoken(kind.as_str()) == field);
        let known = kind.as_ref().and_then(|kind| self.known(kind));
        let inner = known.map(|known| rows::inner_things(row, known)).unwrap_or_default();
        if !inner.is_empty() {
            let names: Vec<&str> = inner.iter().map(|thing| thing.label.as_str()).collect();
            let text = format!("{}: {field} {}", thing.label, names.join(", "));
            let mut said = self.told_thing(query.clone(), thing.clone(), text);
            if let [only] = inner.as_slice() {
                said.dialogue.focus_on(only.clone());
            }
            return Ok(said);
        }
        let term =
            Term { text: thing.label.clone(), what: What::Thing(thing.clone()), negated: false };
        let listable = kind.as_ref().filter(|kind| {
            let kind = self.kind_for(kind, std::slice::from_ref(&term));
            self.list_of(&kind).is_some_and(|offer| self.takes(offer, &term))
        });
        if let Some(kind) = listable {
            let want = Want::List;
            let query =
                Query { want, kind: Some(kind.clone()), terms: vec![term], ..Query::default() };
            return self.run_list(query);
        }
        if let Some(query) = self.marked(&term, field) {
            return self.run_list(query);
        }
        if let Some(query) = self.told_by_tool(thing, field) {
            return self.carry_out(query, true);
        }
        let text = self.say(Say::NoField, &[("field", field), ("thing", &thing.label)]);
        let mut said = self.told_thing(query.clone(), thing.clone(), text);
        said.unanswered = Some("not_understood");
        Ok(said)
    }

    /// The call of the only reading tool that is named after a field and needs nothing but the thing: its status history.
    fn told_by_tool(&self, thing: &Thing, field: &str) -> Option<Query> {
        let english = lexicon::english();
        let words: Vec<String> =
            field.split_whitespace().map(|word| english.singular(word)).collect();
        let tells = |offer: &&Offer| {
            let own = |slot: &Slot| match &slot.means {
                Means::Thing(kind, _) => *kind == thing.kind,
                Means::Own(_) => offer.kind.as_ref() == Some(&thing.kind),
                _ => false,
            };
            let mut needed = offer.slots.iter().filter(|slot| slot.shape.required);
            let alone = needed.next().is_some_and(own) && needed.next().is_none();
            let named = words.iter().all(|word| offer.nouns().any(|noun| noun == word));
            offer.reads && offer.is_free && alone && named && !words.is_empty()
        };
        let mut offers = self.offers.iter().filter(tells);
        let offer = offers.next().filter(|_| offers.next().is_none())?;
        let slot = offer.slots.iter().find(|slot| slot.shape.required)?;
        let mut arguments = offer.fixed.clone();
        put(&mut arguments, &slot.shape.path, thing_value(slot, thing)?);
        let want = Want::Act(Family::Show);
        let call = Some((offer.tool.tool.clone(), arguments));
        Some(Query { want, kind: offer.kind.clone(), call, ..Query::default() })
    }

    /// The list of what belongs to a thing and has a property: its interfaces that are connected.
    fn marked(&self, term: &Term, mark: &str) -> Option<Query> {
        let flag = |offer: &Offer| {
            let is = |slot: &&Slot| slot.means == Means::Flag && slot.words == [mark];
            offer.slots.iter().find(is).map(|slot| slot.name().to_owned())
        };
        let mut lists = self.offers.iter().filter(|offer| offer.lists() && self.takes(offer, term));
        let (offer, field) = lists.find_map(|offer| Some((offer, flag(offer)?)))?;
        let what = What::Choice { field, value: true.into() };
        let marked = Term { text: mark.to_owned(), what, negated: false };
        let (want, kind) = (Want::List, offer.kind.clone());
        Some(Query { want, kind, terms: vec![term.clone(), marked], ..Query::default() })
    }

    /// The field that a word means, according to the pack.
    pub(super) fn attribute(&self, kind: &Kind, field: &str) -> String {
        let known = self.known(kind);
        known
            .and_then(|known| known.attributes.get(field).cloned())
            .unwrap_or_else(|| field.to_owned())
    }
}

pub(super) enum Unseen {
    Failed(Box<CallRecord>),
    Several(Vec<Thing>),
    None,
}

/// The only field of a row whose name is a letter away from a word: the status, for "statsu".
fn misspelt<'a>(row: &'a Value, word: &str) -> Option<(&'a str, &'a Value)> {
    let near = |key: &str| {
        let long = word.chars().count() >= MISSPELT_LETTERS_MIN;
        long && strsim::osa_distance(&rows::spoken(key), &word.to_lowercase()) == 1
    };
    let mut fields = row.as_object()?.iter().filter(|(key, _)| near(key));
    let (key, value) = fields.next().filter(|_| fields.next().is_none())?;
    Some((key.as_str(), value))
}

/// Whether a value begins with a date.
fn is_day(value: &Value) -> bool {
    let day = value.as_str().and_then(|text| text.get(..10));
    day.is_some_and(|day| day.parse::<jiff::civil::Date>().is_ok())
}
