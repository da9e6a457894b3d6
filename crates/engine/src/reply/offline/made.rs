//! The thing that a call was about, so that "it" means it afterwards: what was made, changed or shown.
//!
//! Invariant: its name and its id are in the call or in the result.

use serde_json::{Map, Value};

use super::offer::{Means, Offer, Slot};
use super::rows;
use super::scene::Scene;
use crate::lexicon::{self, Class, Family};
use crate::reply::wording;
use crate::session::dialogue::{Dialogue, RowAt, Thing};

impl Scene<'_> {
    /// The thing that a call was about; `None` where the call removed it or nothing tells.
    pub(super) fn thing_of(
        &self,
        offer: &Offer,
        arguments: &Map<String, Value>,
        result: (Option<&Value>, &str),
        at: RowAt,
    ) -> Option<Thing> {
        let kind = offer.kind.as_ref().filter(|_| offer.family != Some(Family::Remove))?;
        let known = self.known(kind);
        let (json, text) = result;
        let row = json.map(|json| inner(json, kind.as_str()));
        let told = row.filter(|row| row.is_object());
        let told = told.and_then(|row| rows::thing(row, kind, known));
        // What was changed is what the call names, whatever else the result tells.
        let makes = matches!(offer.family, Some(Family::Create | Family::Add));
        let meant = offer.own_slots().find_map(|slot| arguments.get(slot.name())).map(rows::scalar);
        let meant = meant.filter(|_| !makes && !offer.reads);
        let same = |thing: &Thing| {
            let named = |id: &String| thing.id.as_ref() == Some(id) || thing.label == *id;
            meant.as_ref().is_none_or(named)
        };
        let whole = |thing: &Thing| {
            same(thing) && (thing.id.is_some() || thing.label.parse::<f64>().is_err())
        };
        if let Some(thing) = told.filter(whole) {
            // The row in the log is the result itself, not a part of it.
            let is_row = row.is_some_and(|row| json.map(wording::unframed) == Some(row));
            return Some(Thing { row: is_row.then_some(at), ..thing });
        }
        let given = |slot: &&Slot| arguments.get(slot.name()).is_some();
        let own = offer.own_slots().find(given);
        let is_name = |slot: &&Slot| {
            let last = slot.words.last().map(String::as_str);
            matches!(last, Some("name" | "title")) || slot.means == Means::Text
        };
        let named = offer.slots.iter().filter(given).find(is_name);
        let value = |slot: &Slot| arguments.get(slot.name()).map(rows::scalar);
        let label = named.and_then(value);
        let id = own.filter(|_| offer.family != Some(Family::Create)).and_then(value);
        let id = id.or_else(|| printed_id(text, kind.as_str()));
        let label = label.or_else(|| id.clone())?;
        Some(Thing { kind: kind.clone(), label, id, keys: Map::new(), row: None })
    }
}

impl Scene<'_> {
    /// The first thing in the lists of this turn whose name or id is meant.
    pub(super) fn found_by_calls(&self, is: &dyn Fn(&str) -> bool) -> Option<Thing> {
        self.made.iter().enumerate().find_map(|(call, record)| {
            let kind = self.offer(&record.tool)?.kind.as_ref()?;
            let json = rows::json_of(record.output.as_ref()?)?;
            let (rows, _) = rows::rows(&json)?;
            rows.iter().enumerate().find_map(|(row, value)| {
                let thing = rows::thing(value, kind, self.known(kind))?;
                let own = is(&thing.label) || thing.id.as_deref().is_some_and(is);
                own.then(|| Thing { row: Some(RowAt { turn: 0, call, row }), ..thing })
            })
        })
    }

    /// The thing that a reading call was about, if it needed the id of one: the item of which the history was shown.
    pub(super) fn asked_about(
        &self,
        offer: &Offer,
        arguments: &Map<String, Value>,
    ) -> Option<Thing> {
        let mut needed = offer.slots.iter().filter(|slot| slot.shape.required);
        let slot = needed.next().filter(|_| offer.reads && needed.next().is_none())?;
        let Means::Thing(kind, _) = &slot.means else { return None };
        let id = arguments.get(slot.name()).map(rows::scalar)?;
        let named = |thing: &Thing| thing.id.as_ref() == Some(&id) || thing.label == id;
        let seen = self.shown().find(|thing| thing.kind == *kind && named(thing)).cloned();
        seen.or_else(|| self.found_by_calls(&|name: &str| name == id))
    }
}

impl Scene<'_> {
    /// Takes a thing that a call removed out of focus.
    pub(super) fn forget(
        &self,
        dialogue: &mut Dialogue,
        offer: &Offer,
        arguments: &Map<String, Value>,
    ) {
        let Some(kind) = &offer.kind else { return };
        let given: Vec<String> = arguments.values().map(rows::scalar).collect();
        dialogue.focus.retain(|thing| {
            let named = |value: &String| thing.id.as_ref() == Some(value) || thing.label == *value;
            thing.kind != *kind || !given.iter().any(named)
        });
    }
}

/// The thing inside a result: without its frame, or what is under a key for what was made.
fn inner<'j>(json: &'j Value, kind: &str) -> &'j Value {
    let english = lexicon::english();
    let unframed = wording::unframed(json);
    let held = unframed.as_object().into_iter().flatten().find(|(key, value)| {
        value.is_object() && (key.as_str() == kind || english.is(Class::ResultMade, key))
    });
    held.map_or(unframed, |(_, held)| held)
}

/// The id that a text tells: "Created ticket 7", "added with id P-12", "#42".
fn printed_id(text: &str, kind: &str) -> Option<String> {
    let english = lexicon::english();
    let words: Vec<&str> = text.split_whitespace().collect();
    let plain =
        |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric() && c != '-').to_owned();
    let coded = |word: &str| {
        let word = plain(word);
        word.contains(|c: char| c.is_ascii_digit()) && !word.is_empty()
    };
    let announced = words.windows(2).find_map(|pair| {
        let before = plain(pair[0]).to_lowercase();
        let named = english.is(Class::Id, &before) || english.is(Class::Named, &before);
        let of_kind = before == kind;
        ((named || of_kind) && coded(pair[1])).then(|| plain(pair[1]))
    });
    let marked = || words.iter().find(|word| word.starts_with('#')).map(|word| plain(word));
    announced.or_else(marked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_where_it_is_announced() {
        let id = |text: &str| printed_id(text, "ticket");
        assert_eq!(id("Created ticket 7 for Ann").as_deref(), Some("7"));
        assert_eq!(id("Booked with id: AP-12.").as_deref(), Some("AP-12"));
        assert_eq!(id("Done: #42").as_deref(), Some("42"));
        assert_eq!(id("Saved 3 items"), None);
    }
}
