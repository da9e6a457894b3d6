//! Repeats a call with another value: "and to Asia/Kolkata", "no, to kelvin", "and 26 kilometers?".
//!
//! Invariant: every content word replaces a value of the call, and it is certain which one.

use serde_json::{Map, Value};

use super::ask::{Ask, Phrase};
use super::find::Found;
use super::fit::takes_literal;
use super::narrow::{side, thing_value};
use super::offer::{Means, Offer, Slot};
use super::pair::{Side, pair, said_side};
use super::read::{Part, Role};
use super::scene::{Flow, Said, Scene};
use super::schema::{get, put};
use crate::lexicon::{Class, Family, Say};
use crate::session::dialogue::{Missing, Query, Want};

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
        // "in meters, please"
        let placed = ask.phrases.iter().all(|phrase| phrase.placed.is_some());
        let placed = placed && !ask.questions && !ask.counts && !ask.of_shown;
        let goes_on = corrects || ask.follows.is_some() || placed;
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
            let found = in_order
                .or_else(|| self.on_side(offer, phrase, parts))
                .or_else(|| replaced(offer, before, phrase, parts, (&given, false)));
            let found = match found {
                Some(found) => Some(found),
                None => self.other_thing(offer, before, phrase)?,
            };
            let Some((slot, value)) = found else { return Ok(None) };
            given.push(slot.path());
            put(&mut arguments, &slot.shape.path, value);
        }
        // "and 4 kilometers?" of what was converted into kilometers: into what is not said.
        let becomes = |slot: &Slot| get(&arguments, &slot.shape.path);
        if pair(offer).is_some_and(|(from, to)| becomes(from) == becomes(to)) {
            return Ok(None);
        }
        let mut query = spoken.query.clone();
        query.call = Some((tool.clone(), arguments));
        self.carry_out(query, true).map(Some)
    }
}

impl Scene<'_> {
    /// The reply to a correction of the last change: that change with another value, or a question. Something that was
    /// made is not made again but changed.
    pub(super) fn change_again(&self, ask: &Ask, parts: &[Part]) -> Flow<Option<Said>> {
        let spoken = self.dialogue.spoken.first().map(|spoken| &spoken.query);
        let Some((query, (tool, before))) = spoken.and_then(|q| Some((q, q.call.as_ref()?))) else {
            return Ok(None);
        };
        let own = ask.verb.is_some() || ask.questions || ask.counts || ask.order.is_some();
        let own = own || parts.iter().any(|part| part.role == Role::Command);
        let Some(offer) = self.offer_of(tool, before).filter(|offer| !offer.reads && !own) else {
            return Ok(None);
        };
        let mut arguments = before.clone();
        let mut given: Vec<String> = Vec::new();
        for phrase in &ask.phrases {
            let named = self.named_again(offer, before, phrase, parts);
            let found = named.or_else(|| replaced(offer, before, phrase, parts, (&given, true)));
            let Some((slot, value)) = found.or_else(|| other_id(offer, before, phrase)) else {
                return Ok(Some(self.not_corrected(offer, query)));
            };
            given.push(slot.path());
            put(&mut arguments, &slot.shape.path, value);
        }
        if given.is_empty() || !ask.pointers.is_empty() {
            return Ok(Some(self.not_corrected(offer, query)));
        }
        // The other values may be ones that only a tool named.
        let mut query = query.clone();
        query.call = Some((tool.clone(), arguments));
        let made = matches!(offer.family, Some(Family::Create | Family::Add)) && !query.refused;
        query.refused = false;
        if !made {
            return self.carry_out(query, false).map(Some);
        }
        match self.as_change(offer, query.clone(), &given) {
            Some(query) => self.carry_out(query, false).map(Some),
            None => Ok(Some(self.not_corrected(offer, &query))),
        }
    }

    /// The parameter that a phrase names, with its value: "priority A".
    fn named_again<'o>(
        &self,
        offer: &'o Offer,
        before: &Map<String, Value>,
        phrase: &Phrase,
        parts: &[Part],
    ) -> Option<(&'o Slot, Value)> {
        let beside = phrase.at.checked_sub(1).map(|at| parts[at].text.as_str());
        let inner = phrase.text.split_once(' ');
        let (name, said) = inner.or_else(|| Some((beside?, phrase.text.as_str())))?;
        let had = |slot: &&Slot| get(before, &slot.shape.path).is_some() && !slot.shape.many;
        let slot = offer.slots.iter().filter(had).find(|slot| offer.is_called(slot, name))?;
        let value = if slot.shape.choices.is_empty() {
            slot.shape.value(said)
        } else {
            slot.shape.choice(said).cloned()
        };
        Some((slot, value?))
    }

    /// The change of what was made, by the tool that changes such things.
    fn as_change(&self, made: &Offer, query: Query, given: &[String]) -> Option<Query> {
        let (_, arguments) = query.call.as_ref()?;
        let thing =
            self.dialogue.focus.first().filter(|thing| Some(&thing.kind) == made.kind.as_ref())?;
        let takes = |offer: &&Offer, path: &String| offer.slots.iter().any(|s| s.path() == *path);
        let changes = |offer: &&Offer| {
            let of_kind = offer.kind == made.kind && offer.family == Some(Family::Change);
            !offer.reads && of_kind && given.iter().all(|path| takes(offer, path))
        };
        let offer = self.offers.iter().find(changes)?;
        let own = offer.own_slots().find(|slot| slot.shape.required)?;
        let mut changed = offer.fixed.clone();
        put(&mut changed, &own.shape.path, thing_value(own, thing)?);
        for path in given {
            let slot = offer.slots.iter().find(|slot| slot.path() == *path)?;
            put(&mut changed, &slot.shape.path, get(arguments, &slot.shape.path)?.clone());
        }
        let call = Some((offer.tool.tool.clone(), changed));
        Some(Query { want: Want::Act(Family::Change), call, ..query })
    }

    /// What a correction changes is not clear.
    fn not_corrected(&self, offer: &Offer, query: &Query) -> Said {
        let (name, left) = (offer.words.join(" "), self.message.trim());
        let text = self.say(Say::NotUnderstood, &[("understood", &name), ("left", left)]);
        self.asked(text, query.clone(), Missing::Words, Vec::new())
    }

    /// Of two parameters that take the same values, the one that a phrase says: "and 26 miles?", "and how many feet?".
    fn on_side<'o>(
        &self,
        offer: &'o Offer,
        phrase: &Phrase,
        parts: &[Part],
    ) -> Option<(&'o Slot, Value)> {
        let (from, to) = pair(offer).filter(|(from, _)| from.means == Means::Choice)?;
        let slot = match said_side(phrase, parts, self.language)? {
            Side::Source => from,
            Side::Target => to,
        };
        Some((slot, slot.shape.choice(&phrase.text)?.clone()))
    }

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

/// The parameter for the thing that was changed, and the id of another one: "no, ticket 4102".
fn other_id<'o>(
    offer: &'o Offer,
    before: &Map<String, Value>,
    phrase: &Phrase,
) -> Option<(&'o Slot, Value)> {
    let had = |slot: &&Slot| slot.shape.required && get(before, &slot.shape.path).is_some();
    let slot = offer.own_slots().find(had)?;
    let text = phrase.id.as_deref().unwrap_or(&phrase.text);
    let value = slot.shape.value(text).filter(|_| phrase.is_code())?;
    Some((slot, value))
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
    (given, corrects): (&[String], bool),
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
    // Another text for what was changed is given only by a correction.
    let text_again = corrects && !slot.shape.many && slot.means == Means::Text;
    let fits = (offer.reads || text_again)
        && !matches!(phrase.placed, Some(Class::In | Class::From | Class::To));
    let value = slot.shape.value(text).filter(|_| fits)?;
    Some((slot, if slot.shape.many { Value::Array(vec![value]) } else { value }))
}
