//! A list that is empty although there may be something: a text that is spelt otherwise, a name where an id was given,
//! and a word that no row has which is left.
//!
//! Invariant: nothing is found that the words do not say.

use serde_json::{Map, Value};

use super::super::offer::{Means, Offer, Slot};
use super::super::rows;
use super::super::scene::{Flow, Scene, Table};
use super::super::schema::{Form, put};
use super::as_thing;
use crate::lexicon;
use crate::pack::words_of_identifier;
use crate::session::dialogue::{Query, Term, What};
use crate::session::record::CallRecord;

impl Scene<'_> {
    /// The arguments with "@amal" for "amal", where the list has none of the one but some of the other.
    pub(super) fn as_handle(
        &self,
        offer: &Offer,
        arguments: &Map<String, Value>,
    ) -> Flow<Option<Map<String, Value>>> {
        let text = |slot: &&Slot| arguments.get(slot.name()).is_some_and(Value::is_string);
        let Some(slot) = offer.slots.iter().filter(text).find(|slot| slot.is_person()) else {
            return Ok(None);
        };
        let given = arguments.get(slot.name()).and_then(Value::as_str).unwrap_or_default();
        let none = |table: &Result<Table, CallRecord>| {
            table.as_ref().is_ok_and(|table| {
                let says = table.text.as_ref().is_none_or(|text| lexicon::says_none(text));
                table.rows.is_empty() && says
            })
        };
        if given.starts_with('@') || !none(&self.table(offer, arguments, false)?) {
            return Ok(None);
        }
        let mut handle = arguments.clone();
        put(&mut handle, &slot.shape.path, format!("@{given}").into());
        let found = !none(&self.table(offer, &handle, false)?);
        Ok(found.then_some(handle))
    }

    /// An empty list may only mean that a text is spelt differently: compares the whole list ignoring case. A text in the
    /// plural is the one that rows have in the singular.
    pub(super) fn looser(&self, offer: &Offer, terms: &[Term]) -> Flow<Option<Table>> {
        let is_text = |term: &&Term| match &term.what {
            What::Choice { field, .. } => {
                let slot = offer.slots.iter().find(|slot| slot.name() == field);
                slot.is_some_and(|slot| slot.means == Means::Text)
            }
            _ => false,
        };
        let loose: Vec<Term> = terms.iter().filter(is_text).cloned().collect();
        if loose.is_empty() {
            return Ok(None);
        }
        let one = terms.iter().map(|term| in_singular(term, is_text(&term))).collect::<Vec<_>>();
        if one != terms {
            let (arguments, _) = self.arguments(offer, &one);
            let table = self.table(offer, &arguments, false)?;
            if let Some(table) = table.ok().filter(|table| !table.rows.is_empty()) {
                return Ok(Some(table));
            }
        }
        let strict: Vec<Term> = terms.iter().filter(|term| !is_text(term)).cloned().collect();
        let (arguments, _) = self.arguments(offer, &strict);
        let Ok(mut table) = self.table(offer, &arguments, false)? else { return Ok(None) };
        if !table.is_whole() {
            return Ok(None);
        }
        table.rows.retain(|(_, row)| {
            loose.iter().all(|term| match &term.what {
                What::Choice { field, value } => rows::field(row, field).is_some_and(|(_, own)| {
                    rows::parts(&rows::shown(own)) == rows::parts(&rows::scalar(value))
                }),
                _ => true,
            })
        });
        table.count = table.rows.len();
        Ok(Some(table))
    }

    /// What a list has by the name of a thing instead of its id, or by its id, where nothing says which of them it takes.
    pub(super) fn by_other_name(&self, offer: &Offer, terms: &[Term]) -> Flow<Option<Table>> {
        let mut other: Vec<Term> = terms.to_vec();
        for term in &mut other {
            let Some(value) = self.other_name(offer, term) else { continue };
            term.what = value;
        }
        if other == terms {
            return Ok(None);
        }
        let (arguments, _) = self.arguments(offer, &other);
        let table = self.table(offer, &arguments, false)?;
        Ok(table.ok().filter(|table| !table.rows.is_empty()))
    }

    fn other_name(&self, offer: &Offer, term: &Term) -> Option<What> {
        let thing = as_thing(term).filter(|_| !term.negated)?;
        let (slot, given) = self.slot_value(offer, term)?;
        let either = matches!(slot.means, Means::Thing(_, None) | Means::Own(None));
        let text = matches!(slot.shape.form, Form::Text | Form::Any);
        let given = given.as_str().map(str::to_owned).filter(|_| either && text)?;
        let names = [Some(thing.label.clone()), thing.id.clone()];
        let value = names.into_iter().flatten().find(|name| *name != given)?;
        let field = slot.name().to_owned();
        Some(What::Choice { field, value: value.into() })
    }

    /// The rows that a word selects, as all things of the list tell: none of the features is done, though another item is.
    pub(super) fn as_known(
        &self,
        offer: &Offer,
        term: &Term,
        mut table: Table,
    ) -> Flow<Option<Table>> {
        let plain_list = offer.is_free && offer.fixed.is_empty();
        if term.what != What::Word || !plain_list {
            return Ok(None);
        }
        let Ok(all) = self.table(offer, &offer.fixed, false)? else { return Ok(None) };
        let fits = self.selected_by(&all, &term.text).filter(|_| all.is_whole());
        let Some(fits) = fits else { return Ok(None) };
        table.rows.retain(|(_, row)| fits(row) != term.negated);
        table.count = table.rows.len();
        Ok(Some(table))
    }

    /// Drops the words of earlier messages in whose place the message has a value for a parameter: "and in progress?" after
    /// "the done items".
    pub(super) fn drop_chosen(&self, offer: &Offer, query: &mut Query) -> Flow<()> {
        let message = self.message.to_lowercase();
        let is_new = |term: &Term| message.contains(&term.text.to_lowercase());
        let chosen = query.terms.iter().filter(|term| is_new(term) && !term.negated);
        let fields: Vec<Vec<String>> = chosen
            .filter_map(|term| match &term.what {
                What::Choice { field, .. } => Some(words_of_identifier(field)),
                _ => None,
            })
            .collect();
        let old = |term: &Term| term.what == What::Word && !term.negated && !is_new(term);
        let plain_list = offer.is_free && offer.fixed.is_empty();
        if fields.is_empty() || !plain_list || !query.terms.iter().any(old) {
            return Ok(());
        }
        let Ok(all) = self.table(offer, &offer.fixed, false)? else { return Ok(()) };
        let replaced = |term: &Term| {
            let mut rows = all.rows.iter();
            let key = rows.find_map(|(_, row)| rows::field_with_value(row, &term.text));
            let words = key.map(words_of_identifier).unwrap_or_default();
            old(term) && fields.iter().any(|field| field.iter().all(|word| words.contains(word)))
        };
        query.terms.retain(|term| !replaced(term));
        Ok(())
    }
}

/// A term with its text in the singular.
fn in_singular(term: &Term, is_text: bool) -> Term {
    let What::Choice { field, value: Value::String(text) } = &term.what else {
        return term.clone();
    };
    let one = lexicon::english().singular(&text.to_lowercase());
    if !is_text || text.contains(char::is_uppercase) || one == *text {
        return term.clone();
    }
    Term { what: What::Choice { field: field.clone(), value: one.into() }, ..term.clone() }
}
