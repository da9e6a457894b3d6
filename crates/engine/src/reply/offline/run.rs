//! Runs a reading query (lists, counts, one thing, its fields) and words the result.
//!
//! Invariant: an answer covers everything that was asked. What a tool cannot filter by is filtered here, on
//! complete lists only, and what cannot be filtered at all is asked about.

mod filter;
mod loose;
mod newest;
mod ordered;
pub(super) mod word;

use serde_json::Value;

use super::find::Found;
use super::narrow::thing_value;
use super::offer::Offer;
use super::rows;
use super::scene::{Flow, Said, Scene, Table};
use super::schema::put;
use crate::lexicon::{self, Family, Say};
use crate::pack::{Kind, words_of_identifier};
use crate::reply::wording;
use crate::session::dialogue::{Missing, Query, SHOWN_MAX, Spoken, Term, Thing, Want, What};
use crate::session::record::CallRecord;

/// Bytes of a text that only says that there is nothing.
const NONE_BYTES_MAX: usize = 200;
/// Maximum lists combined if a tool takes one value at a time.
const RUNS_MAX: usize = 6;

impl Scene<'_> {
    /// Answers a reading query.
    pub(super) fn run(&self, query: Query) -> Flow<Said> {
        match query.want {
            Want::Show => self.run_show(query),
            Want::Field => self.run_fields(query),
            _ => self.run_list(query),
        }
    }

    /// A list, or its length.
    pub(super) fn run_list(&self, mut query: Query) -> Flow<Said> {
        let Some(kind) = query.kind.clone() else { return Ok(self.lost()) };
        let kind = self.kind_for(&kind, &query.terms);
        query.kind = Some(kind.clone());
        if let Some(query) = self.of_one_thing(&kind, &query) {
            return self.carry_out(query, true);
        }
        let Some(offer) = self.list_of(&kind) else { return Ok(self.lost()) };
        self.drop_chosen(offer, &mut query)?;
        let mut terms = query.terms.clone();
        match self.narrower_term(&query, offer)? {
            Ok(more) => terms.extend(more),
            Err(record) => return Ok(self.failed(&record)),
        }
        let mut table = Table::default();
        let mut local = Vec::new();
        for run in self.runs(offer, &terms) {
            let (mut arguments, left) = self.arguments(offer, &run);
            if let Some(handle) = self.as_handle(offer, &arguments)? {
                arguments = handle;
            }
            let plain = query.newest.is_none() && query.order.is_none();
            let only_count = query.want == Want::Count && left.is_empty() && plain;
            match self.table(offer, &arguments, only_count)? {
                Ok(found) => {
                    table.count += found.count;
                    table.is_cut |= found.is_cut;
                    table.rows.extend(found.rows);
                    table.text = found.text.or(table.text);
                }
                Err(record) => match self.by_other_name(offer, &run)? {
                    Some(found) => table = found,
                    None => return Ok(self.failed(&record)),
                },
            }
            local = left;
        }
        if let Some(text) = table.text.clone().filter(|_| table.rows.is_empty()) {
            return Ok(self.told_text(query, text, &local));
        }
        if table.rows.is_empty() && local.is_empty() {
            let looser = self.looser(offer, &terms)?.filter(|found| !found.rows.is_empty());
            let other = if looser.is_none() { self.by_other_name(offer, &terms)? } else { None };
            table = looser.or(other).unwrap_or(table);
        }
        for term in self.said_of_rows(&table, &query) {
            query.terms.push(term.clone());
            local.push(term);
        }
        let row = table.rows.first().and_then(|(_, row)| row.as_object());
        let keys: Vec<String> = row.map(|row| row.keys().cloned().collect()).unwrap_or_default();
        let whole = table.clone();
        self.drop_replaced(&mut query, &mut local, &whole);
        for term in &local {
            let before = table.clone();
            table = match self.filter(table, term, query.narrower.as_deref(), (offer, &whole)) {
                Ok(table) => table,
                Err(said) => {
                    if let Some(known) = self.as_known(offer, term, before)? {
                        table = known;
                        continue;
                    }
                    let named = self.as_named(offer, term, &keys)?;
                    let at = query.terms.iter().position(|own| own == term);
                    if let (None, Some(at), true) = (&named, at, self.says_nothing(offer, term)) {
                        query.terms.remove(at);
                        return self.run_list(query);
                    }
                    if let (Some(named), Some(at)) = (named, at) {
                        query.terms.remove(at);
                        // "and porto": in the place of what an earlier message named.
                        let message = self.message.to_lowercase();
                        let now = |old: &Term| message.contains(&old.text.to_lowercase());
                        query
                            .terms
                            .retain(|old| now(old) || !super::serve::same_place(old, &named));
                        query.terms.push(named);
                        return self.run_list(query);
                    }
                    return Ok(self.with_question(*said, query, term));
                }
            };
        }
        if let Some(most) = query.newest {
            return Ok(self.told_newest(query, &kind, table, most));
        }
        if let Some(order) = query.order.clone() {
            return Ok(self.told_ordered(query, &kind, table, &order));
        }
        Ok(self.told_list(query, &kind, &table))
    }

    /// A word that no row has as a value, as the thing that it names: "devices made by juniper".
    fn as_named(&self, offer: &Offer, term: &Term, keys: &[String]) -> Flow<Option<Term>> {
        if term.what != What::Word {
            return Ok(None);
        }
        let mut kinds = super::find::narrowing_kinds(offer);
        // The rows say by its id what they belong to.
        let held = keys.iter().filter_map(|key| Some(Kind::new(key.strip_suffix("_id")?)));
        let listed = held.filter(|kind| self.list_of(kind).is_some_and(|list| list.is_free));
        kinds.extend(listed.filter(|kind| !kinds.contains(kind)).collect::<Vec<_>>());
        kinds.retain(|kind| Some(kind) != offer.kind.as_ref());
        Ok(match self.find(&term.text, &kinds, None)? {
            Found::One(thing) if super::find::is_named(&thing, &term.text) => {
                Some(Term { what: What::Thing(thing), ..term.clone() })
            }
            _ => None,
        })
    }

    /// The call for what belongs to one thing, if the list of its kind cannot be narrowed by it and another tool
    /// does that: `get_item_tags`.
    fn of_one_thing(&self, kind: &Kind, query: &Query) -> Option<Query> {
        let [term] = query.terms.as_slice() else { return None };
        let thing = as_thing(term).filter(|_| !term.negated && query.want == Want::List)?;
        if self.list_of(kind).is_some_and(|list| self.takes(list, term)) {
            return None;
        }
        let words = words_of_identifier(kind.as_str());
        let fits = |offer: &&Offer| {
            let needs = offer.slots.iter().filter(|slot| slot.shape.required);
            offer.reads
                && words.iter().all(|word| offer.words.contains(word))
                && offer
                    .slot_for(&thing.kind)
                    .is_some_and(|own| needs.clone().count() == 1 && own.shape.required)
        };
        let offer = self.offers.iter().find(fits)?;
        let slot = offer.slot_for(&thing.kind)?;
        let mut arguments = offer.fixed.clone();
        put(&mut arguments, &slot.shape.path, thing_value(slot, thing)?);
        let want = Want::Act(Family::List);
        let call = Some((offer.tool.tool.clone(), arguments));
        Some(Query { want, kind: Some(kind.clone()), call, ..Query::default() })
    }

    /// A list returned as plain text: shown as is, or asked about if it had to be filtered.
    pub(super) fn told_text(&self, query: Query, text: String, left: &[Term]) -> Said {
        if let Some(said) = self.told_lines(&query, &text, left) {
            return said;
        }
        if let Some(term) = left.first() {
            let kinds = query.kind.as_ref().map(|kind| self.noun(kind, true)).unwrap_or_default();
            let with = [("kinds", kinds.as_str()), ("text", term.text.as_str()), ("hint", "")];
            return self.asked(
                self.say(Say::UnknownWord, &with),
                query,
                Missing::Words,
                Vec::new(),
            );
        }
        let kinds = query.kind.as_ref().map(|kind| self.noun(kind, true)).unwrap_or_default();
        let filters = self.filters(&query.terms);
        let none = text.len() <= NONE_BYTES_MAX && lexicon::says_none(&text);
        let text = match query.want {
            _ if none => self.say(Say::NoneMatch, &[("kinds", &kinds), ("filters", &filters)]),
            Want::Count => match super::among::under_headings(&text).len() {
                // A text without headings cannot be counted.
                0 => {
                    let with = [("understood", kinds.as_str()), ("left", self.message)];
                    let text = self.say(Say::NotUnderstood, &with);
                    return self.asked(text, query, Missing::Words, Vec::new());
                }
                count => {
                    let count = count.to_string();
                    let with =
                        [("count", count.as_str()), ("kinds", &kinds), ("filters", &filters)];
                    self.say(Say::Counted, &with)
                }
            },
            _ => text,
        };
        let mut said = Said { text, dialogue: self.dialogue.clone(), ..Said::default() };
        said.dialogue.open = None;
        said.dialogue.speak(Spoken { turn: 0, query, shown: Vec::new(), count: None });
        said
    }

    /// The kind that is meant if another one belongs to the thing: interfaces of a virtual machine.
    pub(super) fn kind_for(&self, kind: &Kind, terms: &[Term]) -> Kind {
        let known = self.known(kind);
        let instead = terms.iter().find_map(|term| match &term.what {
            What::Thing(thing) => known?.instead.get(&thing.kind),
            _ => None,
        });
        instead.unwrap_or(kind).clone()
    }

    /// The term of a more specific word: the roles of firewalls.
    pub(super) fn narrower_term(
        &self,
        query: &Query,
        offer: &Offer,
    ) -> Flow<Result<Vec<Term>, CallRecord>> {
        let Some(word) = &query.narrower else { return Ok(Ok(Vec::new())) };
        let known = query.kind.as_ref().and_then(|kind| self.known(kind));
        let Some(meant) = known.and_then(|known| known.narrows.get(word)) else {
            return Ok(Ok(vec![]));
        };
        let text = word.clone();
        let choice = offer.slots.iter().find_map(|slot| Some((slot, slot.shape.choice(word)?)));
        if let Some((slot, value)) = choice {
            let what = What::Choice { field: slot.name().to_owned(), value: value.clone() };
            return Ok(Ok(vec![Term { text, what, negated: false }]));
        }
        let by = known.and_then(|known| known.narrowed_by.as_ref());
        let roles = by.filter(|by| offer.slot_for(by).is_some()).and_then(|by| self.list_of(by));
        let Some(roles) = roles.filter(|_| !meant.is_empty()) else { return Ok(Ok(Vec::new())) };
        let table = match self.table(roles, &roles.fixed, false)? {
            Ok(table) => table,
            Err(record) => return Ok(Err(record)),
        };
        let kind = by.cloned().unwrap_or_else(|| Kind::new("role"));
        let english = crate::lexicon::english();
        let mut terms = Vec::new();
        for (at, row) in table.rows {
            let Some(mut thing) = rows::thing(&row, &kind, self.known(&kind)) else { continue };
            let own: Vec<String> =
                rows::parts(&thing.label).iter().map(|part| english.singular(part)).collect();
            let has = |phrase: &String| rows::parts(phrase).iter().all(|part| own.contains(part));
            if meant.iter().any(has) {
                thing.row = Some(at);
                terms.push(Term { text: text.clone(), what: What::Thing(thing), negated: false });
            }
        }
        Ok(Ok(terms))
    }

    /// One set of terms per value if a slot takes one at a time.
    pub(super) fn runs(&self, offer: &Offer, terms: &[Term]) -> Vec<Vec<Term>> {
        let (_, left) = self.arguments(offer, terms);
        let single: Vec<&Term> = left
            .iter()
            .filter(|term| !term.negated && self.slot_value(offer, term).is_some())
            .collect();
        let paths: Vec<String> =
            single.iter().filter_map(|term| Some(self.slot_value(offer, term)?.0.path())).collect();
        let Some(path) = paths.first().filter(|first| paths.iter().all(|path| path == *first))
        else {
            return vec![terms.to_vec()];
        };
        let of_path = |term: &Term| {
            self.slot_value(offer, term).is_some_and(|(slot, _)| slot.path() == *path)
        };
        let runs = single.iter().take(RUNS_MAX).map(|own| {
            terms.iter().filter(|term| !of_path(term) || *term == *own).cloned().collect()
        });
        runs.collect()
    }

    pub(super) fn told_list(&self, query: Query, kind: &Kind, table: &Table) -> Said {
        let nouns = self.nouns(&query, kind);
        let filters = self.filters(&query.terms);
        let known = self.known(kind);
        let shown: Vec<Thing> = table
            .rows
            .iter()
            .take(SHOWN_MAX)
            .filter_map(|(at, row)| {
                Some(Thing { row: Some(*at), ..rows::thing(row, kind, known)? })
            })
            .collect();
        if let Some(text) = self.quantity(&query, table, &shown) {
            let [only] = shown.as_slice() else { return self.lost() };
            return self.told_thing(query, only.clone(), text);
        }
        let count = table.total();
        let text = match (table.count, query.want) {
            (0, _) => self.say(Say::NoneMatch, &[("kinds", &nouns), ("filters", &filters)]),
            (_, Want::Count) => {
                let noun = if table.count == 1 { self.noun(kind, false) } else { nouns };
                self.say(
                    Say::Counted,
                    &[("count", &count), ("kinds", &noun), ("filters", &filters)],
                )
            }
            (1, _) => {
                let head = format!("1 {}{filters}:", self.noun(kind, false));
                wording::list(&head, &values(table), table.count)
            }
            _ => wording::list(&format!("{count} {nouns}{filters}:"), &values(table), table.count),
        };
        let mut said = Said { text, dialogue: self.dialogue.clone(), ..Said::default() };
        for term in query.terms.iter().rev() {
            if let What::Thing(thing) = &term.what {
                said.dialogue.focus_on(thing.clone());
            }
        }
        if let ([only], 1) = (shown.as_slice(), table.count) {
            said.dialogue.focus_on(only.clone());
        }
        said.dialogue.open = None;
        said.dialogue.speak(Spoken { turn: 0, query, shown, count: Some(table.count) });
        said
    }

    /// The word for what a query lists, in the plural.
    pub(super) fn nouns(&self, query: &Query, kind: &Kind) -> String {
        match &query.narrower {
            Some(word) => lexicon::plural(word),
            None => self.noun(kind, true),
        }
    }

    /// What a list was narrowed by, in words.
    pub(super) fn filters(&self, terms: &[Term]) -> String {
        let shown = |term: &Term| {
            let text = match &term.what {
                What::Thing(thing) if thing.kind.as_str() == "*" => thing.label.clone(),
                What::Thing(thing) => format!("{} {}", self.noun(&thing.kind, false), thing.label),
                What::Choice { field, value } => {
                    format!("{} {}", rows::spoken(field), rows::scalar(value))
                }
                What::Bound { field, less, or_equal, number } => {
                    let sign = match (less, or_equal) {
                        (true, true) => "≤",
                        (true, false) => "<",
                        (false, true) => "≥",
                        (false, false) => ">",
                    };
                    format!("{} {sign} {number}", rows::spoken(field))
                }
                What::Days { .. } | What::Word => format!("\"{}\"", term.text),
            };
            if term.negated { format!("not {text}") } else { text }
        };
        match terms {
            [] => String::new(),
            terms => format!(" ({})", terms.iter().map(shown).collect::<Vec<_>>().join(", ")),
        }
    }
}

pub(super) fn as_thing(term: &Term) -> Option<&Thing> {
    match &term.what {
        What::Thing(thing) => Some(thing),
        _ => None,
    }
}

pub(super) fn values(table: &Table) -> Vec<&Value> {
    table.rows.iter().map(|(_, row)| row).collect()
}

pub(super) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(values) => values.is_empty(),
        _ => false,
    }
}
