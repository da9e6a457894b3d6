//! A value after "in", "of" or "from" that a list takes as a text: the town of a list that can be asked for one.
//!
//! Which parameter that is, the rows tell: those of the list itself, or those of what the list can be narrowed by.
//!
//! Invariant: a value that no row has is given to a parameter only if no row could have it.

use serde_json::Value;

use super::ask::Phrase;
use super::find::{Found, bare, narrowing_kinds, near};
use super::narrow::Narrowed;
use super::offer::{Means, Offer, Slot};
use super::rows;
use super::scene::{Flow, Scene, Table};
use super::schema::{Form, plain};
use crate::lexicon::{self, Class};
use crate::pack::Kind;
use crate::session::dialogue::{Term, What};

impl Scene<'_> {
    /// The parameter under whose name a row of the list has a value, with the value as the row has it.
    pub(super) fn held_in_rows(&self, offer: &Offer, phrase: &Phrase) -> Flow<Option<Term>> {
        let placed = matches!(phrase.placed, Some(Class::In | Class::From | Class::Of));
        let plain_list = offer.is_free && offer.fixed.is_empty();
        let slots: Vec<&Slot> = texts(offer).collect();
        let kind = phrase.kind.is_none() || !phrase.is_sure;
        if !placed || !plain_list || !kind || slots.is_empty() {
            return Ok(None);
        }
        let Ok(table) = self.table(offer, &offer.fixed, false)? else { return Ok(None) };
        let found =
            slots.into_iter().find_map(|slot| Some((slot, held(&table, slot, &phrase.text)?)));
        Ok(found.map(|(slot, value)| term(slot, value, phrase)))
    }

    /// What a place means that is no thing which the list can be narrowed by: a value of the one parameter for places,
    /// a misspelt one, or a word that the rows have.
    pub(super) fn as_place(&self, offer: &Offer, phrase: &Phrase) -> Flow<Option<Narrowed>> {
        let plain_list = offer.is_free && offer.fixed.is_empty();
        if !plain_list || phrase.placed.is_none() {
            return Ok(None);
        }
        let own = self.table(offer, &offer.fixed, false)?.unwrap_or_default();
        let mut places = texts(offer).filter(|slot| is_place(slot));
        let slot = places.next().filter(|_| places.next().is_none());
        if let Some(slot) = slot.filter(|_| matches!(phrase.placed, Some(Class::In | Class::From)))
        {
            let mut tables = vec![own.clone()];
            for kind in narrowing_kinds(offer) {
                let list = self.list_of(&kind).filter(|list| list.is_free && list.fixed.is_empty());
                if let Some(list) = list {
                    tables.extend(self.table(list, &list.fixed, false)?.ok());
                }
            }
            if let Some(value) = tables.iter().find_map(|table| held(table, slot, &phrase.text)) {
                return Ok(Some(Narrowed::Terms(vec![term(slot, value, phrase)])));
            }
            let values: Vec<String> = tables.iter().flat_map(|table| values(table, slot)).collect();
            let kind = Kind::new(slot.name());
            let others = values.iter().map(|value| bare(&kind, value)).collect();
            if let Found::Near(things) = near(&phrase.text, others) {
                return Ok(Some(Narrowed::Near(phrase.text.clone(), things)));
            }
            // No row tells which places there are, or nothing else can be meant.
            let kinds = narrowing_kinds(offer);
            if values.is_empty() || kinds.is_empty() {
                let value = Value::from(phrase.text.as_str());
                return Ok(Some(Narrowed::Terms(vec![term(slot, value, phrase)])));
            }
            let kinds = kinds.into_iter().chain([kind]).collect();
            return Ok(Some(Narrowed::Missing(phrase.text.clone(), kinds)));
        }
        let selects = own.is_whole() && self.selected_by(&own, &phrase.text).is_some();
        Ok(selects.then(|| Narrowed::Terms(vec![self.word(phrase)])))
    }
}

/// The parameters of a list that take any text.
fn texts(offer: &Offer) -> impl Iterator<Item = &Slot> {
    offer.slots.iter().filter(|slot| {
        let shape = &slot.shape;
        let open = shape.form == Form::Text && shape.choices.is_empty() && !shape.many;
        slot.means == Means::Text && open && !shape.required && shape.path.len() == 1
    })
}

fn is_place(slot: &Slot) -> bool {
    slot.words.iter().any(|word| lexicon::english().is(Class::SlotPlace, word))
}

fn term(slot: &Slot, value: Value, phrase: &Phrase) -> Term {
    let what = What::Choice { field: slot.name().to_owned(), value };
    Term { text: phrase.text.clone(), what, negated: phrase.negated }
}

/// The values that rows have under the name of a parameter.
fn values(table: &Table, slot: &Slot) -> Vec<String> {
    let own = table.rows.iter().filter_map(|(_, row)| row.get(slot.name())?.as_str());
    let mut values: Vec<String> = own.map(str::to_owned).collect();
    values.sort();
    values.dedup();
    values
}

/// The value of a row that words are, under the name of a parameter.
fn held(table: &Table, slot: &Slot, said: &str) -> Option<Value> {
    let own = values(table, slot).into_iter().find(|value| plain(value) == plain(said));
    own.filter(|_| !rows::parts(said).is_empty()).map(Value::from)
}
