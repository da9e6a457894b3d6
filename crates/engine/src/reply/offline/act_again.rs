//! Repeats a call with another value: "and to Asia/Kolkata", "no, to kelvin", "and 26 kilometers?".
//!
//! Invariant: every content word replaces a value of the call, and it is certain which one.

use serde_json::{Map, Value};

use super::ask::{Ask, Phrase};
use super::find::Found;
use super::fit::takes_literal;
use super::narrow::{side, thing_value};
use super::offer::{Means, Offer, Slot};
use super::read::{Part, Role};
use super::scene::{Flow, Said, Scene};
use super::schema::{get, put};
use crate::lexicon::Class;
use crate::session::dialogue::Want;

impl Scene<'_> {
    /// The reply to a message that only gives other values to the previous call.
    pub(super) fn act_again(
        &self,
        ask: &Ask,
        parts: &[Part],
        corrects: bool,
    ) -> Flow<Option<Said>> {
        let plain = ask.verb.is_none()
            && ask.kinds.is_empty()
            && ask.pointers.is_empty()
            && ask.fields.is_empty()
            && !parts.iter().any(|part| part.role == Role::Command);
        let goes_on = corrects || ask.follows.is_some();
        let Some(spoken) = self.dialogue.spoken.first().filter(|_| plain && goes_on) else {
            return Ok(None);
        };
        let (Want::Act(_), Some((tool, before))) = (spoken.query.want, &spoken.query.call) else {
            return Ok(None);
        };
        let Some(offer) = self.offer(tool).filter(|_| !ask.phrases.is_empty()) else {
            return Ok(None);
        };
        let mut arguments = before.clone();
        let mut given: Vec<String> = Vec::new();
        for (at, phrase) in ask.phrases.iter().enumerate() {
            let numbered = numbers(offer, before, &ask.phrases);
            let in_order =
                numbered.get(at).and_then(|slot| Some((*slot, slot.shape.value(&phrase.text)?)));
            let found = in_order.or_else(|| replaced(offer, before, phrase, parts, &given));
            let found = match found {
                Some(found) => Some(found),
                None => self.other_thing(offer, before, phrase)?,
            };
            let Some((slot, value)) = found else { return Ok(None) };
            given.push(slot.path());
            put(&mut arguments, &slot.shape.path, value);
        }
        let mut query = spoken.query.clone();
        query.call = Some((tool.clone(), arguments));
        self.carry_out(query, true).map(Some)
    }
}

impl Scene<'_> {
    /// The parameter for the thing that the call was about, and another thing for it: "and for Kite Payments?".
    fn other_thing<'o>(
        &self,
        offer: &'o Offer,
        before: &Map<String, Value>,
        phrase: &Phrase,
    ) -> Flow<Option<(&'o Slot, Value)>> {
        let kind = |slot: &Slot| match &slot.means {
            Means::Thing(kind, _) => Some(kind.clone()),
            Means::Own(_) => offer.kind.clone(),
            _ => None,
        };
        let had = |slot: &&Slot| {
            slot.shape.required && !slot.shape.many && get(before, &slot.shape.path).is_some()
        };
        let mut slots = offer.slots.iter().filter(had).filter_map(|s| Some((s, kind(s)?)));
        let (Some((slot, kind)), None, true) = (slots.next(), slots.next(), offer.reads) else {
            return Ok(None);
        };
        Ok(match self.find(&phrase.text, std::slice::from_ref(&kind), phrase.placed)? {
            Found::One(thing) => thing_value(slot, &thing).map(|value| (slot, value)),
            // What cannot be looked for is asked for by its name.
            Found::Unknown => slot.shape.value(&phrase.text).map(|value| (slot, value)),
            _ => None,
        })
    }
}

/// The numeric parameters of the call, if the message has as many numbers and nothing else: "and 7 and 8".
fn numbers<'o>(offer: &'o Offer, before: &Map<String, Value>, phrases: &[Phrase]) -> Vec<&'o Slot> {
    let had = |slot: &&Slot| slot.means == Means::Number && get(before, &slot.shape.path).is_some();
    let slots: Vec<&Slot> = offer.slots.iter().filter(had).collect();
    let given = phrases.iter().all(|phrase| phrase.text.parse::<f64>().is_ok());
    if given && slots.len() == phrases.len() { slots } else { Vec::new() }
}

/// The parameter whose value a phrase replaces, and the new value; `None` if that is uncertain.
fn replaced<'o>(
    offer: &'o Offer,
    before: &Map<String, Value>,
    phrase: &Phrase,
    parts: &[Part],
    given: &[String],
) -> Option<(&'o Slot, Value)> {
    let single = |slot: &Slot| {
        let values = get(before, &slot.shape.path).and_then(Value::as_array);
        !slot.shape.many || values.is_some_and(|values| values.len() == 1)
    };
    let open = |slot: &&Slot| single(slot) && !given.contains(&slot.path());
    let had = |slot: &&Slot| get(before, &slot.shape.path).is_some();
    let sided = |slot: &&Slot| phrase.placed.is_some_and(|placed| side(slot, placed));
    let only = |slots: Vec<&'o Slot>| -> Option<&'o Slot> {
        match slots[..] {
            [one] => Some(one),
            _ => {
                let on_side: Vec<&Slot> = slots.into_iter().filter(sided).collect();
                if let [one] = on_side[..] { Some(one) } else { None }
            }
        }
    };
    let text = phrase.text.as_str();
    if let Some(Role::Literal(literal)) = parts.get(phrase.at).map(|part| &part.role) {
        let takes = |slot: &&Slot| had(slot) && takes_literal(offer, slot, *literal);
        let slot = only(offer.slots.iter().filter(open).filter(takes).collect())?;
        return Some((slot, text.into()));
    }
    let chooses = |slot: &&Slot| had(slot) && slot.shape.choice(text).is_some();
    let choosing: Vec<&Slot> = offer.slots.iter().filter(open).filter(chooses).collect();
    if !choosing.is_empty() {
        // "and 26 kilometers": the old unit, repeated.
        let same = |slot: &&&Slot| get(before, &slot.shape.path) == slot.shape.choice(text);
        let unplaced = phrase.placed.is_none();
        let again = choosing.iter().find(same).copied().filter(|_| unplaced);
        let slot = again.or_else(|| only(choosing))?;
        return Some((slot, slot.shape.choice(text)?.clone()));
    }
    if text.parse::<f64>().is_ok() {
        let number = |slot: &&Slot| had(slot) && slot.means == Means::Number;
        let slot = only(offer.slots.iter().filter(open).filter(number).collect())?;
        return Some((slot, slot.shape.value(text)?));
    }
    let searches = |slot: &&Slot| {
        let named = slot.shape.many && matches!(slot.means, Means::Own(_));
        had(slot) && (named || matches!(slot.means, Means::Search | Means::Text))
    };
    let slot = only(offer.slots.iter().filter(open).filter(searches).collect())?;
    let fits = offer.reads && !matches!(phrase.placed, Some(Class::In | Class::From | Class::To));
    let value = slot.shape.value(text).filter(|_| fits)?;
    Some((slot, if slot.shape.many { Value::Array(vec![value]) } else { value }))
}
